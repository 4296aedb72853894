"""How the cluster puts rows into cells of neighbouring values: by functions, or by expressions alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from uqcli.counts import Bools, Floats
from uqcli.engines.spark.check import Span
from uqcli.engines.spark.pooling import bin_column
from uqcli.engines.spark.read import Column, Frame


class Counter(Protocol):
    """Counts rows with columns v, y, w, and u where uncertainty divides them, in ``bins * size`` cells.

    A cell's number grows with the value inside a bin; those of later bins are ``size`` further up.
    """

    @property
    def size(self) -> int:
        """Cells of a bin."""

    def counted(self, rows: Frame) -> Frame:
        """Cell, n, p (rows and positive rows, by weight), low and high (its least and largest value)."""

    def opened(self, rows: Frame, flagged: Bools) -> Frame:
        """Bin, value, y and w of the rows in flagged cells; bool of shape (bins * size,)."""


@dataclass(frozen=True)
class FunctionCounter:
    """Cells of equally many keys, counted by functions that the cluster's workers run."""

    low: int
    shift: int
    size: int
    edges: Floats

    @classmethod
    def over(cls, span: Span, size: int, edges: Floats) -> FunctionCounter:
        """Cells that are narrow where most values are."""
        low, high = _keys(np.array([span.low, span.high])).tolist()
        shift = 0
        while ((high - low) >> shift) + 2 > size:
            shift += 1
        return cls(low, shift, ((high - low) >> shift) + 2, edges)

    def counted(self, rows: Frame) -> Frame:
        """See Counter."""
        from pyspark.sql import functions as F  # noqa: N812

        from uqcli.engines.spark import worker

        work = worker.cells_counted(self.low, self.shift, self.size, self.edges)
        parts = rows.mapInArrow(work, worker.CELLS_SCHEMA)
        return parts.groupBy("cell").agg(
            F.sum("n").alias("n"),
            F.sum("p").alias("p"),
            F.min("low").alias("low"),
            F.max("high").alias("high"),
        )

    def opened(self, rows: Frame, flagged: Bools) -> Frame:
        """See Counter."""
        from uqcli.engines.spark import worker

        flags = np.packbits(flagged)
        work = worker.cells_opened(self.low, self.shift, self.size, self.edges, flags)
        return rows.mapInArrow(work, worker.ROWS_SCHEMA)


@dataclass(frozen=True)
class ExpressionCounter:
    """Cells of equal width, counted by expressions: for workers without numpy or pyarrow."""

    low: float
    high: float
    size: int
    edges: Floats

    @classmethod
    def over(cls, span: Span, size: int, edges: Floats) -> ExpressionCounter:
        """Cells that are narrow where most values are."""
        return cls(span.low, span.high, size, edges)

    def counted(self, rows: Frame) -> Frame:
        """See Counter."""
        from pyspark.sql import functions as F  # noqa: N812

        return (
            rows.withColumn("cell", self._cell())
            .groupBy("cell")
            .agg(
                F.sum("w").alias("n"),
                F.sum(F.col("w") * F.col("y")).alias("p"),
                F.min("v").alias("low"),
                F.max("v").alias("high"),
            )
        )

    def opened(self, rows: Frame, flagged: Bools) -> Frame:
        """See Counter."""
        from pyspark.sql import functions as F  # noqa: N812

        return (
            rows.withColumn("cell", self._cell())
            .filter(F.col("cell").isin(np.flatnonzero(flagged).tolist()))
            .select(bin_column(self.edges).alias("bin"), F.col("v").alias("value"), "y", "w")
        )

    def _cell(self) -> Column:
        """Monotone in v: each step is, rounded or not; halves, so that no difference is infinite."""
        from pyspark.sql import functions as F  # noqa: N812

        width = self.high / 2 - self.low / 2
        scale = (self.size - 3) / width if width > 0 else 0.0
        inner = F.lit(1).cast("long")
        if scale and math.isfinite(scale):
            offset = (F.col("v") / F.lit(2.0) - F.lit(self.low / 2)) * F.lit(scale)
            inner = F.least(F.floor(offset).cast("long"), F.lit(self.size - 3)) + F.lit(1)
        cell = (
            F.when(F.col("v") < F.lit(self.low), F.lit(0))
            .when(F.col("v") > F.lit(self.high), F.lit(self.size - 1))
            .otherwise(inner)
        )
        return cell.cast("long") + bin_column(self.edges) * F.lit(self.size)


def _keys(value: Floats) -> NDArray[np.int64]:
    """Integers in the order of the numbers."""
    bits = value.view(np.int64)
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)

"""How the cluster puts rows into cells of neighbouring values: by functions, or by expressions alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from uqcli.counts import Bools, Floats
from uqcli.engines.spark.check import Span
from uqcli.engines.spark.pooling import totals
from uqcli.engines.spark.read import Column, Frame


class Counter(Protocol):
    """Counts rows of a counting frame (see pooling) in ``parts * size`` cells.

    A cell's number grows with the value inside a part; those of later parts are ``size`` further up.
    """

    @property
    def size(self) -> int:
        """Cells of a part."""

    @property
    def amounts(self) -> list[str]:
        """Columns that are summed beside counts."""

    def counted(self, rows: Frame) -> Frame:
        """Cell, n, p (rows and positive rows, by weight), low and high (its least and largest value).

        With amounts also s0, ...: the sum of each over all rows, then over the positive ones.
        """

    def opened(self, rows: Frame, flagged: Bools) -> Frame:
        """Part, value, y, w and amounts of the rows in flagged cells; bool of shape (parts * size,)."""


@dataclass(frozen=True)
class FunctionCounter:
    """Cells of equally many keys, counted by functions that the cluster's workers run."""

    low: int
    shift: int
    size: int
    parts: int
    amounts: list[str]

    @classmethod
    def over(cls, span: Span, size: int, parts: int, amounts: list[str]) -> FunctionCounter:
        """Cells that are narrow where most values are."""
        low, high = _keys(np.array([span.low, span.high])).tolist()
        shift = 0
        while ((high - low) >> shift) + 2 > size:
            shift += 1
        return cls(low, shift, ((high - low) >> shift) + 2, parts, amounts)

    def counted(self, rows: Frame) -> Frame:
        """See Counter."""
        from pyspark.sql import functions as F  # noqa: N812

        from uqcli.engines.spark import worker

        work = worker.cells_counted(self.low, self.shift, self.size, self.parts, self.amounts)
        sums = [f"s{at}" for at in range(2 * len(self.amounts))]
        schema = ", ".join([worker.CELLS_SCHEMA, *(f"{name} long" for name in sums)])
        parts = rows.mapInArrow(work, schema)
        return parts.groupBy("cell").agg(
            *(F.sum(name).alias(name) for name in ("n", "p", *sums)),
            F.min("low").alias("low"),
            F.max("high").alias("high"),
        )

    def opened(self, rows: Frame, flagged: Bools) -> Frame:
        """See Counter."""
        from uqcli.engines.spark import worker

        flags = np.packbits(flagged)
        work = worker.cells_opened(self.low, self.shift, self.size, self.amounts, flags)
        schema = ", ".join([worker.ROWS_SCHEMA, *(f"{name} long" for name in self.amounts)])
        return rows.mapInArrow(work, schema)


@dataclass(frozen=True)
class ExpressionCounter:
    """Cells of equal width, counted by expressions: for workers without numpy or pyarrow."""

    low: float
    high: float
    size: int
    amounts: list[str]

    @classmethod
    def over(cls, span: Span, size: int, parts: int, amounts: list[str]) -> ExpressionCounter:
        """Cells that are narrow where most values are."""
        del parts
        return cls(span.low, span.high, size, amounts)

    def counted(self, rows: Frame) -> Frame:
        """See Counter."""
        from pyspark.sql import functions as F  # noqa: N812

        return (
            rows.withColumn("cell", self._cell())
            .groupBy("cell")
            .agg(*totals(self.amounts), F.min("v").alias("low"), F.max("v").alias("high"))
        )

    def opened(self, rows: Frame, flagged: Bools) -> Frame:
        """See Counter."""
        from pyspark.sql import functions as F  # noqa: N812

        return (
            rows.withColumn("cell", self._cell())
            .filter(F.col("cell").isin(np.flatnonzero(flagged).tolist()))
            .select("part", F.col("v").alias("value"), "y", "w", *self.amounts)
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
        return cell.cast("long") + F.col("part") * F.lit(self.size)


def _keys(value: Floats) -> NDArray[np.int64]:
    """Integers in the order of the numbers."""
    bits = value.view(np.int64)
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)

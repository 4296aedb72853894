"""Bin values into cells on the cluster, by Python functions or by SQL expressions."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from uqcli.base.counts import Bools
from uqcli.base.records import dataclass
from uqcli.engines.local.count.keys import keys_of
from uqcli.engines.spark import worker
from uqcli.engines.spark.check import Span
from uqcli.engines.spark.expressions import F
from uqcli.engines.spark.pooling import totals
from uqcli.engines.spark.read import Column, Frame


@dataclass(frozen=True)
class FunctionCounter:
    """Cells of equal key width, counted by Python functions on the workers.

    Rows of a counting frame (see pooling) are counted in ``parts * size`` cells. The cell index increases
    with the value within a part; each part is offset by ``size``.
    """

    low: int
    shift: int
    size: int
    parts: int
    amounts: list[str]

    @classmethod
    def over(cls, span: Span, size: int, parts: int, amounts: list[str]) -> FunctionCounter:
        """Return the cells that are narrow where most values are."""
        low, high = keys_of(np.array([span.low, span.high])).tolist()
        shift = 0
        while ((high - low) >> shift) + 2 > size:
            shift += 1
        return cls(low, shift, ((high - low) >> shift) + 2, parts, amounts)

    def cell_counts(self, rows: Frame) -> Frame:
        """Count by cell: n, p (rows and positive rows, by weight), low and high (smallest and largest value).

        With amounts also s0, ...: the sum of each over all rows, then over positive rows.
        """
        work = worker.cells_counted(self.low, self.shift, self.size, self.parts, self.amounts)
        sums = [f"s{index}" for index in range(2 * len(self.amounts))]
        schema = ", ".join([worker.CELLS_SCHEMA, *(f"{name} long" for name in sums)])
        parts = rows.mapInArrow(work, schema)
        return parts.groupBy("cell").agg(
            *(F.sum(name).alias(name) for name in ("n", "p", *sums)),
            F.min("low").alias("low"),
            F.max("high").alias("high"),
        )

    def opened(self, rows: Frame, flagged: Bools) -> Frame:
        """Return part, value, y, w and amounts of the rows in flagged cells; bool, shape (parts * size,)."""
        flags = np.packbits(flagged)
        work = worker.cells_opened(self.low, self.shift, self.size, self.amounts, flags)
        schema = ", ".join([worker.ROWS_SCHEMA, *(f"{name} long" for name in self.amounts)])
        return rows.mapInArrow(work, schema)


@dataclass(frozen=True)
class ExpressionCounter:
    """Cells of equal value width, counted by SQL expressions, for workers without numpy or pyarrow."""

    low: float
    high: float
    size: int
    amounts: list[str]

    @classmethod
    def over(cls, span: Span, size: int, parts: int, amounts: list[str]) -> ExpressionCounter:
        """Return the cells that are narrow where most values are."""
        del parts
        return cls(span.low, span.high, size, amounts)

    def cell_counts(self, rows: Frame) -> Frame:
        """See FunctionCounter."""
        return (
            rows.withColumn("cell", self._cell())
            .groupBy("cell")
            .agg(*totals(self.amounts), F.min("v").alias("low"), F.max("v").alias("high"))
        )

    def opened(self, rows: Frame, flagged: Bools) -> Frame:
        """See FunctionCounter."""
        return (
            rows.withColumn("cell", self._cell())
            .filter(F.col("cell").isin(np.flatnonzero(flagged).tolist()))
            .select("part", F.col("v").alias("value"), "y", "w", *self.amounts)
        )

    def _cell(self) -> Column:
        """Return the cell index, monotone in v despite rounding; halves avoid infinite differences."""
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


Counter: TypeAlias = FunctionCounter | ExpressionCounter
"""Counts rows by cell, and opens cells."""

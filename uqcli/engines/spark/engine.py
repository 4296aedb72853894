"""Spark engine, through Spark Connect; its tables answer queries from counts of value ranges.

The cluster counts all rows in many cells; only the counts are collected. A query names the cells that may
contain its answer, and only their values are collected. The resulting counts answer the query as if every
distinct value had been pooled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from uqcli.base.counts import (
    Bools,
    Floats,
    Ints,
    RangeCounts,
    Sums,
    ValueCounts,
    distinct_numbers,
    joined_sums,
    merge,
    selected_sums,
)
from uqcli.base.defaults import ROWS_PER_PART
from uqcli.base.draws import text_keys
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.engines.protocol import (
    FIRST_ROWS,
    Columns,
    CountTable,
    GroupSize,
    Keys,
    Partition,
    RangeQuery,
    ReadRows,
    SourceSummary,
    StreamRequest,
    StreamSummary,
)
from uqcli.engines.request import DataRequest
from uqcli.engines.spark import worker
from uqcli.engines.spark.check import CheckedFrame, checked
from uqcli.engines.spark.pooling import (
    MAX_VALUES,
    DistinctBatches,
    counting_frame,
    distinct_rows,
    groups_of,
    no_counts,
    parts_of,
    pooled,
    pooled_by,
    require_same,
    sums_of,
    totals,
)
from uqcli.engines.spark.read import Column, F, Frame, columns_of
from uqcli.engines.spark.session import runs_functions, session_of, spark_errors
from uqcli.engines.spark.write import stream_through
from uqcli.kernels.keys import keys_of
from uqcli.kernels.pava import isotonic_sums
from uqcli.kernels.units import dense_ranks


class FunctionCounter:
    """Cells of equal key width, narrow where most values are, counted by Python functions on the workers.

    Rows of a counting frame (see pooling) are counted in ``parts * size`` cells. The cell index increases
    with the value within a part; each part is offset by ``size``.
    """

    def __init__(self, span: tuple[float, float, int], size: int, parts: int, amounts: list[str]) -> None:
        low, high = keys_of(np.array(span[:2])).tolist()
        shift = 0
        while ((high - low) >> shift) + 2 > size:
            shift += 1
        self.low, self.shift, self.size = low, shift, ((high - low) >> shift) + 2
        self.parts, self.amounts = parts, amounts

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


class ExpressionCounter:
    """Cells of equal value width, narrow where most values are, counted by SQL expressions.

    They are for workers without numpy or pyarrow.
    """

    def __init__(self, span: tuple[float, float, int], size: int, parts: int, amounts: list[str]) -> None:
        del parts
        self.low, self.high, _ = span
        self.size, self.amounts = size, amounts

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


CELLS = 1 << 17
"""Total number of cells of all parts, each a collected row of five numbers."""

MIN_CELLS = 64
"""Minimum number of cells per part."""

_SAFETY_FACTOR = 1.25
"""Safety factor on Spark's approximate distinct count, whose error is about 5 %."""


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """Counts of one part by cell, and by value in opened cells.

    Non-empty cells ascend; each has its smallest and largest value, rows and positive rows, shape (m,), and
    ``sums`` as in ``ValueCounts``. ``opened`` marks the cells of which ``inside`` has the counts of the
    values.
    """

    cell: Ints
    count: Ints
    positives: Ints
    low: Floats
    high: Floats
    opened: Bools
    inside: ValueCounts
    sums: Sums

    @cached_property
    def _closed(self) -> Ints:
        return np.flatnonzero(~self.opened)

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(np.concatenate([self.low[self._closed], self.inside.value]), kind="stable")

    def counts(self) -> RangeCounts:
        """Return the counts in the form that queries use."""
        closed, inside, order = self._closed, self.inside, self._order
        single = self.low[closed] == self.high[closed]
        sums = joined_sums([selected_sums(self.sums, closed), inside.sums])
        return RangeCounts(
            value=np.concatenate([self.low[closed], inside.value])[order],
            last=np.concatenate([self.high[closed], inside.value])[order],
            count=np.concatenate([self.count[closed], inside.count])[order],
            positives=np.concatenate([self.positives[closed], inside.positives])[order],
            exact=np.concatenate([single, np.ones(len(inside.value), dtype=np.bool_)])[order],
            sums=selected_sums(sums, order),
        )

    def selected_cells(self, mask: Bools) -> Ints:
        """Return the indices of closed cells with several values, selected by a mask over ``counts``."""
        index = np.concatenate([self._closed, np.full(len(self.inside.value), -1)])[self._order]
        positions = index[mask]
        positions = positions[positions >= 0]
        return np.sort(positions[self.low[positions] < self.high[positions]])

    def with_open(self, cells: Ints, inside: ValueCounts) -> _Counts:
        """Open further cells, given their values."""
        opened = self.opened | np.isin(self.cell, cells)
        return replace(self, opened=opened, inside=merge([self.inside, inside]))


def count_ranges(
    checked: CheckedFrame, role: str, by: Partition, query: RangeQuery, *, expressions: bool
) -> tuple[RangeCounts, ...]:
    """Return the counts of a column in each part, then of all rows, exact wherever a query needs it.

    Workers that cannot run Python functions count by expressions.
    """
    n_parts = parts_of(checked, by)
    if checked.rows <= max(ROWS_PER_PART, n_parts * MIN_CELLS):
        return RangeCounts.from_parts(pooled_by(checked, role, by))
    size = max(MIN_CELLS, CELLS // n_parts)
    counter: Counter = (ExpressionCounter if expressions else FunctionCounter)(
        checked.spans[role], size, n_parts, list(checked.columns.amounts)
    )
    distinct = int(_SAFETY_FACTOR * checked.spans[role][2]) * n_parts
    with spark_errors("count the rows"):
        rows = counting_frame(checked, role, by)
        parts = _first(rows, counter, n_parts)
        require_same(checked, sum(int(part.count.sum()) for part in parts))
        while True:
            counts = [part.counts() for part in (*parts, _sum_of_parts(parts))]
            *masks, total_mask = query(counts)
            flags = _flags(parts, masks, _sum_of_parts(parts), total_mask)
            if not any(len(flag) for flag in flags):
                return tuple(counts)
            parts = _opened(rows, counter, parts, flags, distinct)


def _first(rows: Frame, counter: Counter, parts: int) -> list[_Counts]:
    """Count all cells, none opened."""
    table = counter.cell_counts(rows).toArrow()
    columns = [table.column(name).to_numpy() for name in ("cell", "n", "p", "low", "high")]
    order = np.argsort(columns[0])
    cell, count, positives, low, high = (column[order] for column in columns)
    sums = selected_sums(sums_of(table, counter.amounts), order)
    cuts = np.searchsorted(cell, np.arange(1, parts) * counter.size).tolist()
    return [
        _Counts(
            cell=cell[part] % counter.size,
            count=count[part].astype(np.int64),
            positives=positives[part].astype(np.int64),
            low=low[part],
            high=high[part],
            opened=np.zeros(len(part), dtype=np.bool_),
            inside=no_counts(len(counter.amounts)),
            sums=selected_sums(sums, part),
        )
        for part in np.split(np.arange(len(cell)), cuts)
    ]


def _sum_of_parts(parts: Sequence[_Counts]) -> _Counts:
    """Merge all parts: a cell is open if it is open in any part that has rows in it."""
    if len(parts) == 1:
        return parts[0]
    cell = np.concatenate([part.cell for part in parts])
    opened = np.concatenate([part.cell[part.opened] for part in parts])
    distinct, index = dense_ranks(cell)
    sums = np.zeros((2, len(distinct)), dtype=np.int64)
    low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
    for row, name in enumerate(("count", "positives")):
        np.add.at(sums[row], index, np.concatenate([getattr(part, name) for part in parts]))
    amounts = joined_sums(part.sums for part in parts)
    totals = np.zeros((len(amounts), 2, len(distinct)), dtype=np.int64)
    for total, amount in zip(totals, amounts, strict=True):
        for row in range(2):
            np.add.at(total[row], index, amount[row])
    np.minimum.at(low, index, np.concatenate([part.low for part in parts]))
    np.maximum.at(high, index, np.concatenate([part.high for part in parts]))
    return _Counts(
        cell=distinct,
        count=sums[0],
        positives=sums[1],
        low=low,
        high=high,
        opened=np.isin(distinct, opened),
        inside=merge([part.inside for part in parts]),
        sums=tuple(totals),
    )


def _flags(parts: Sequence[_Counts], masks: Sequence[Bools], total: _Counts, total_mask: Bools) -> list[Ints]:
    """Choose the cells to open, the same in every part, so that the values of parts make up all values."""
    selected = [part.cell[part.selected_cells(mask)] for part, mask in zip(parts, masks, strict=True)]
    cells = distinct_numbers(np.concatenate([*selected, total.cell[total.selected_cells(total_mask)]]))
    return [np.intersect1d(cells, part.cell[~part.opened], assume_unique=True) for part in parts]


def _opened(
    rows: Frame, counter: Counter, parts: Sequence[_Counts], flags: Sequence[Ints], distinct: int
) -> list[_Counts]:
    """Open cells in passes that each collect a limited number of values; ``distinct`` bounds their total."""
    size = np.zeros(counter.size, dtype=np.int64)
    for part, cells in zip(parts, flags, strict=True):
        is_flagged = np.isin(part.cell, cells)
        size[part.cell[is_flagged]] += part.count[is_flagged]
    # every pass reads all rows again: one pass suffices if there are few distinct values; half the limit per
    # pass, since its last cell exceeds it
    rounds = np.cumsum(size) // (MAX_VALUES // 2) if distinct > MAX_VALUES else np.zeros_like(size)
    opened = list(parts)
    for round_index in distinct_numbers(rounds[size > 0]).tolist():
        cells_of_round = [cells[rounds[cells] == round_index] for cells in flags]
        flagged = np.zeros((len(parts), counter.size), dtype=np.bool_)
        for mask, cells in zip(flagged, cells_of_round, strict=True):
            mask[cells] = True
        max_keys = min(distinct, int(size[rounds == round_index].sum()))
        pooled_keys = pooled(
            counter.opened(rows, flagged.ravel()), len(parts), counter.amounts, max_values=max_keys
        )
        opened = [
            part.with_open(*opening)
            for part, *opening in zip(opened, cells_of_round, pooled_keys, strict=True)
        ]
    return opened


class SparkTable(CountTable):
    """Counts of rows that stay on the cluster (see uqcli.engines.protocol.CountTable).

    If no rows are given, those of the request are checked at the first query.
    """

    def __init__(self, request: DataRequest, rows: CheckedFrame | None = None) -> None:
        self._request = request
        self._rows = rows

    @cached_property
    def _checked(self) -> CheckedFrame:
        return self._rows or checked(session_of(self._request.spark), self._request)

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read."""
        return self._checked.summary

    def groups(self, column: str) -> tuple[str, ...]:
        """Return the sorted group texts of a key column among rows of positive weight."""
        return groups_of(self._checked, column)

    def clusters(self, column: str) -> Ints:
        """Return the ascending keys of clusters (see ``CountTable``)."""
        return np.sort(text_keys(self.groups(column)))

    def only(self, column: str, name: str) -> SparkTable:
        """Return the table of the rows of one group of a key column."""
        return SparkTable(self._request, group_of(self._checked, column, name))

    def range_counts(self, by: Partition, query: RangeQuery, role: str = "score") -> tuple[RangeCounts, ...]:
        """Return the counts of a column in each part, then of all rows."""
        rows, has_functions = self._checked, runs_functions(session_of(self._request.spark))
        return count_ranges(rows, role, by, query, expressions=not has_functions)

    def pool(self, by: Partition, role: str) -> tuple[ValueCounts, ...]:
        """Compute the exact tie-pooled counts of a column in each part."""
        return pooled_by(self._checked, role, by)

    def isotonic(self, by: Partition) -> tuple[ValueCounts, ...]:
        """Return the isotonic blocks of the scores in each part, then of all rows."""
        parts = pooled_by(self._checked, "score", by)
        return tuple(_blocks(group) for group in (*parts, merge(parts)))

    def rows(self) -> Rows:
        """Collect distinct rows with their weights, up to a limit."""
        rows, levels = distinct_rows(self._checked)
        cluster = self._request.roles.cluster
        if cluster is None:
            return rows
        _, number = dense_ranks(text_keys(levels[cluster]))
        return replace(rows, groups={**rows.groups, cluster: number[rows.groups[cluster]]})


def _blocks(counts: ValueCounts) -> ValueCounts:
    if len(counts.value) == 0:
        return counts
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    return ValueCounts(value=counts.value[first], count=count, positives=positives)


def group_of(checked: CheckedFrame, column: str, name: str) -> CheckedFrame:
    """Return the checked rows of one group of a key column; spans stay those of all rows."""
    rows, weight = _sizes_of(checked, column)[name]
    inside = F.col(checked.columns.keys[column]) == F.lit(name)
    return replace(
        checked,
        frame=checked.frame.filter(inside),
        usable=checked.usable.filter(inside),
        summary=checked.summary.of_groups(rows),
        rows=rows.counted,
        size=weight,
        levels={column: (name,)},
        sizes={column: {name: (rows, weight)}},
    )


def _sizes_of(checked: CheckedFrame, column: str) -> Mapping[str, tuple[GroupSize, int]]:
    """Count the rows of every group of a key column, and add up their weights, in one pass."""
    if column not in checked.sizes:
        key = checked.columns.keys[column]
        totals = {
            "rows": F.lit(1),
            "positives": F.when(F.col("y") == 1, 1).otherwise(0),
            "counted": F.when(F.col("w") > 0, 1).otherwise(0),
        }
        aggregations = [F.sum(total).cast("long").alias(name) for name, total in totals.items()]
        weight = F.sum("w").cast("long").alias("weight")
        with spark_errors("count the rows of each group"):
            groups = checked.usable.groupBy(key).agg(*aggregations, weight).toArrow().to_pylist()
        checked.sizes[column] = {
            group[key]: (GroupSize(**{name: group[name] for name in totals}), group["weight"])
            for group in groups
        }
    return checked.sizes[column]


class SparkEngine:
    """Counts on the cluster."""

    def expected(self, request: DataRequest) -> None:
        """Return None: the cluster's memory is not this machine's, and collected data has its own limits."""
        del request

    def table(self, request: DataRequest) -> SparkTable:
        """Return the table of the request's rows."""
        return SparkTable(request)

    def rows(self, request: DataRequest) -> ReadRows:
        """Collect distinct rows with their weights, up to a limit."""
        frame = checked(session_of(request.spark), request)
        rows, levels = distinct_rows(frame)
        return ReadRows(
            rows=rows,
            summary=frame.summary,
            classes=tuple(frame.roles.classes),
            group_names={key: tuple(index_by_text) for key, index_by_text in levels.items()},
            cluster_keys=text_keys(
                text for key in levels if key == request.roles.cluster for text in levels[key]
            ),
            unnormalised=frame.unnormalised,
        )

    def batches(self, request: DataRequest) -> DistinctBatches:
        """Return the batches of distinct rows with their weights, up to a limit."""
        return DistinctBatches(request)

    def columns(self, request: DataRequest, rows: int = FIRST_ROWS) -> Columns:
        """Find the columns of the inputs by their types; those of CSV are texts."""
        del rows  # none is read
        return columns_of(request)

    def keys(self, request: DataRequest) -> Keys:
        """Return none: rows on a cluster have no order, and hence no first ones."""
        del request
        return Keys()

    def first_rows(self, request: DataRequest, limit: int, keys: Keys) -> Rows:
        """Refuse: see ``keys``, which finds none."""
        raise NotImplementedError(f"first {limit} rows of {request.inputs} by {keys}")

    def digest(self, request: DataRequest) -> str:
        """Compute the digest of the files, which this machine must also see."""
        from uqcli.engines.local.engine import LocalEngine

        return LocalEngine().digest(request)

    def stream(self, request: StreamRequest) -> StreamSummary:
        """Apply a rule to rows, writing a directory of Parquet parts."""
        return stream_through(request)

"""Spark engine, through Spark Connect; its tables answer queries from counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from uqcli.base.counts import RangeCounts, ValueCounts, merge
from uqcli.base.rows import Rows
from uqcli.engines.protocol import (
    Columns,
    GroupSize,
    Keys,
    Partition,
    RangeQuery,
    ReadRows,
    SourceSummary,
    StreamRequest,
    StreamSummary,
    Table,
)
from uqcli.engines.request import DataRequest
from uqcli.engines.spark.check import CheckedFrame, checked
from uqcli.engines.spark.pooling import DistinctBatches, distinct_rows, groups_of, pooled_by, read_rows
from uqcli.engines.spark.ranges import count_ranges
from uqcli.engines.spark.read import F, columns_of
from uqcli.engines.spark.session import runs_functions, session_of, spark_errors
from uqcli.engines.spark.write import stream_through
from uqcli.kernels.pava import isotonic_sums


class SparkTable(Table):
    """Counts of rows that stay on the cluster (see uqcli.engines.protocol.Table).

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
        return distinct_rows(self._checked)[0]


def _blocks(counts: ValueCounts) -> ValueCounts:
    if len(counts.value) == 0:
        return counts
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    return ValueCounts(value=counts.value[first], count=count, positives=positives)


def group_of(checked: CheckedFrame, column: str, name: str) -> CheckedFrame:
    """Return the checked rows of one group of a key column; spans stay those of all rows."""
    rows, weight = _sizes_of(checked, column)[name]
    inside = F.col(checked.keys[column]) == F.lit(name)
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
        key = checked.keys[column]
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
        return read_rows(request)

    def batches(self, request: DataRequest) -> DistinctBatches:
        """Return the batches of distinct rows with their weights, up to a limit."""
        return DistinctBatches(request)

    def columns(self, request: DataRequest) -> Columns:
        """Find the columns of the inputs by their types; those of CSV are texts."""
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

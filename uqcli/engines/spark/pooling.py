"""Exact tie-pooled counts: grouped on the cluster, distinct values collected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import add
from typing import Final

import numpy as np
import pyarrow as pa

from uqcli.base.counts import Floats, Ints, ValueCounts
from uqcli.base.errors import DataError
from uqcli.engines import refusals
from uqcli.engines.protocol import Partition
from uqcli.engines.spark.check import CheckedFrame
from uqcli.engines.spark.expressions import F, pairwise
from uqcli.engines.spark.read import Column, Frame, only_row
from uqcli.engines.spark.session import spark_errors

MAX_VALUES: Final = 1 << 24
"""Maximum distinct values to collect: 0.4 GB, and a few times that while sorting."""

MAX_GROUPS: Final = 1 << 20
"""Maximum groups of a key to collect."""


def counting_frame(checked: CheckedFrame, role: str, by: Partition) -> Frame:
    """Select the columns v (values of the role), y, w, amounts, and part (index of each row's part)."""
    frame, part_index = checked.frame, F.lit(0).cast("long")
    for index, column in enumerate(by.groups):
        names = groups_of(checked, column)
        levels = frame.sparkSession.createDataFrame(
            pa.table({f"text{index}": list(names), f"number{index}": range(len(names))})
        )
        frame = frame.join(F.broadcast(levels), F.col(checked.keys[column]) == F.col(f"text{index}"))
        part_index = part_index * F.lit(len(names)) + F.col(f"number{index}")
    if by.classes:
        part_index = part_index * F.lit(len(checked.roles.classes)) + F.col("y")
    if len(by.edges):
        uncertainty = F.col(checked.names["uncertainty"])
        part_index = part_index * F.lit(len(by.edges) + 1) + _bin_of(uncertainty, by.edges)
    positive = F.col("y") if checked.roles.is_binary else F.lit(0).cast("long")
    return frame.select(
        F.col(checked.names[role]).alias("v"),
        positive.alias("y"),
        "w",
        part_index.cast("long").alias("part"),
        *checked.amounts,
    )


def groups_of(checked: CheckedFrame, column: str) -> tuple[str, ...]:
    """Return the sorted group texts of a key column.

    Raises
    ------
    DataError
        There are too many groups to collect.
    """
    if column not in checked.levels:
        name = checked.keys[column]
        with spark_errors("find the groups"):
            texts = checked.frame.select(name).distinct().limit(MAX_GROUPS + 1).toArrow()
        if len(texts) > MAX_GROUPS:
            raise DataError(
                f"column '{column}' has more than {MAX_GROUPS:,} groups",
                expected="fewer groups on a cluster",
                remedy="check that this column names groups",
            )
        checked.levels[column] = tuple(sorted(texts.column(name).to_pylist()))
    return checked.levels[column]


def parts_of(checked: CheckedFrame, by: Partition) -> int:
    """Return the number of parts of a partition."""
    groups = math.prod(len(groups_of(checked, column)) for column in by.groups)
    return groups * (len(checked.roles.classes) if by.classes else 1) * (len(by.edges) + 1)


def _bin_of(uncertainty: Column, edges: Floats) -> Column:
    """Return the uncertainty bin of each row: the number of edges at or below it."""
    return pairwise(add, [(uncertainty >= F.lit(edge)).cast("long") for edge in edges.tolist()])


def totals(amounts: Sequence[str]) -> list[Column]:
    """Aggregate a counting frame: n, p, and sums s0, ... of amounts over all and positive rows."""
    positive = [F.sum(F.col(name) * F.col("y")) for name in amounts]
    sums = [*(F.sum(name) for name in amounts), *positive]
    return [
        F.sum("w").alias("n"),
        F.sum(F.col("w") * F.col("y")).alias("p"),
        *(total.alias(f"s{index}") for index, total in enumerate(sums)),
    ]


def sums_of(table: pa.Table, amounts: Sequence[str]) -> Ints | None:
    """Compute the sums of ``totals`` in the form of count tables."""
    columns = [table.column(f"s{index}").to_numpy().astype(np.int64) for index in range(2 * len(amounts))]
    return np.stack(columns).reshape(2, len(amounts), -1) if amounts else None


def pooled_by(checked: CheckedFrame, role: str, by: Partition) -> tuple[ValueCounts, ...]:
    """Compute the exact tie-pooled counts of a column in each part.

    Raises
    ------
    DataError
        There are too many distinct values to collect, or the inputs have changed.
    """
    parts = parts_of(checked, by)
    with spark_errors("count the rows"):
        rows = counting_frame(checked, role, by).withColumnRenamed("v", "value")
        counts = pooled(rows, parts, checked.amounts, max_values=checked.rows)
    require_same(checked, sum(part.rows for part in counts))
    return counts


def pooled(rows: Frame, parts: int, amounts: Sequence[str], max_values: int) -> tuple[ValueCounts, ...]:
    """Pool rows with columns part, value, y, w and amounts; ``max_values`` bounds their distinct values."""
    grouped = rows.groupBy("part", "value").agg(*totals(amounts))
    if max_values > MAX_VALUES:
        values = int(only_row(grouped.agg(F.count(F.lit(1)).alias("values")))["values"])
        if values > MAX_VALUES:
            raise DataError(
                f"there are {values:,} distinct values to collect",
                expected=f"at most {MAX_VALUES:,} from a cluster",
                remedy="read the files with --engine polars",
            )
    table = grouped.toArrow()
    part_index, value, count, positives = (
        table.column(name).to_numpy() for name in ("part", "value", "n", "p")
    )
    sums = sums_of(table, amounts)
    order = np.lexsort([value, part_index])
    cuts = np.searchsorted(part_index[order], np.arange(1, parts))
    return tuple(
        ValueCounts(
            value=value[rows].astype(np.float64),
            count=count[rows].astype(np.int64),
            positives=positives[rows].astype(np.int64),
            sums=None if sums is None else sums[..., rows],
        )
        for rows in np.split(order, cuts.tolist())
    )


def require_same(checked: CheckedFrame, size: int) -> None:
    """Refuse counts of rows other than those checked.

    Raises
    ------
    DataError
        The inputs have changed.
    """
    if size != checked.size:
        raise refusals.inputs_changed()


def no_counts(amounts: int) -> ValueCounts:
    """Return the counts of no rows."""
    none = np.zeros(0, dtype=np.int64)
    sums = np.zeros((2, amounts, 0), dtype=np.int64) if amounts else None
    return ValueCounts(value=np.zeros(0), count=none, positives=none, sums=sums)

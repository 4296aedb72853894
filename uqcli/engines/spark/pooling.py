"""Exact tie-pooled counts, grouped on the cluster, and distinct rows with their weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import add
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa

from uqcli.base.amounts import amounts_of
from uqcli.base.counts import Feature, Floats, Ints, Sums, ValueCounts, selected_sums
from uqcli.base.defaults import ROWS_PER_PART
from uqcli.base.errors import DataError, words
from uqcli.base.rows import Rows
from uqcli.engines import refusals
from uqcli.engines.probabilities import levels_of
from uqcli.engines.protocol import Partition, SourceSummary
from uqcli.engines.request import PREDICTED, DataRequest, Roles
from uqcli.engines.spark.check import CheckedFrame, checked
from uqcli.engines.spark.days import MAX_GROUPS
from uqcli.engines.spark.read import Column, F, Frame, only_row, pairwise
from uqcli.engines.spark.session import session_of, spark_errors

MAX_VALUES: Final = 1 << 24
"""Maximum distinct values to collect: 0.4 GB, and a few times that while sorting."""


def counting_frame(checked: CheckedFrame, role: str, by: Partition) -> Frame:
    """Select the columns v (values of the role), y, w, amounts, and part (index of each row's part)."""
    frame, part_index = checked.frame, F.lit(0).cast("long")
    for index, column in enumerate(by.groups):
        names = groups_of(checked, column)
        levels = frame.sparkSession.createDataFrame(
            pa.table({f"text{index}": list(names), f"number{index}": range(len(names))})
        )
        frame = frame.join(F.broadcast(levels), F.col(checked.columns.keys[column]) == F.col(f"text{index}"))
        part_index = part_index * F.lit(len(names)) + F.col(f"number{index}")
    if by.classes:
        part_index = part_index * F.lit(len(checked.roles.classes)) + F.col("y")
    if len(by.edges):
        uncertainty = F.col(checked.columns.names["uncertainty"])
        part_index = part_index * F.lit(len(by.edges) + 1) + _bin_of(uncertainty, by.edges)
    positive = F.col("y") if checked.roles.is_binary else F.lit(0).cast("long")
    return frame.select(
        F.col(checked.columns.names[role]).alias("v"),
        positive.alias("y"),
        "w",
        part_index.cast("long").alias("part"),
        *checked.columns.amounts,
    )


def groups_of(checked: CheckedFrame, column: str) -> tuple[str, ...]:
    """Return the sorted group texts of a key column, if there are not too many to collect."""
    if column not in checked.levels:
        name = checked.columns.keys[column]
        with spark_errors("find the groups"):
            texts = checked.frame.select(name).distinct().limit(MAX_GROUPS + 1).toArrow()
        if column == checked.roles.by:
            refusals.require_few_groups(len(texts), column)
        refusals.require_few_texts(len(texts), MAX_GROUPS, column)
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


def sums_of(table: pa.Table, amounts: Sequence[str]) -> Sums:
    """Compute the sums of ``totals`` in the form of count tables."""
    columns = [table.column(f"s{index}").to_numpy().astype(np.int64) for index in range(2 * len(amounts))]
    return tuple(
        np.stack(pair) for pair in zip(columns[: len(amounts)], columns[len(amounts) :], strict=True)
    )


def pooled_by(checked: CheckedFrame, role: str, by: Partition) -> tuple[ValueCounts, ...]:
    """Compute the exact tie-pooled counts of a column in each part, if there are not too many to collect."""
    parts = parts_of(checked, by)
    with spark_errors("count the rows"):
        rows = counting_frame(checked, role, by).withColumnRenamed("v", "value")
        counts = pooled(rows, parts, checked.columns.amounts, max_values=checked.rows)
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
                remedy=words("read the files with --engine polars"),
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
            sums=selected_sums(sums, rows),
        )
        for rows in np.split(order, cuts.tolist())
    )


def require_same(checked: CheckedFrame, size: int) -> None:
    """Refuse counts of rows other than those checked, since the inputs have changed."""
    if size != checked.size:
        raise refusals.inputs_changed()


def no_counts(amounts: int) -> ValueCounts:
    """Return the counts of no rows."""
    none = np.zeros(0, dtype=np.int64)
    sums = (np.zeros((2, 0), dtype=np.int64),) * amounts
    return ValueCounts(value=np.zeros(0), count=none, positives=none, sums=sums)


R = TypeVar("R")

MAX_NUMBERS: Final = 1 << 26
"""Maximum number of values in collected distinct rows: half a gigabyte."""


def distinct_rows(checked: CheckedFrame) -> tuple[Rows, dict[str, dict[str, int]]]:
    """Collect usable rows of positive weight, equal ones pooled; also the index of each key's texts.

    Too many distinct rows to collect are refused.
    """
    numbers = [*checked.columns.names.values(), *checked.columns.features.values()]
    names = [*numbers, *checked.columns.amounts, "y", *checked.columns.keys.values()]
    single = checked.frame
    for name in checked.columns.amounts:
        single = single.withColumn(name, (F.col(name) / F.col("w")).cast("long"))
    grouped = single.groupBy(*names).agg(F.sum("w").alias("w"))
    max_rows = MAX_NUMBERS // (len(names) + 1)
    if checked.roles.by is not None:
        groups_of(checked, checked.roles.by)  # refuses too many, before they are collected with all rows
    with spark_errors("bring rows together"):
        if checked.rows > max_rows:
            size = int(only_row(grouped.agg(F.count(F.lit(1)).alias("rows")))["rows"])
            _refuse_many(size, max_rows)
        table = grouped.toArrow()
    columns = {name: table.column(name).to_numpy() for name in (*numbers, *checked.columns.amounts, "y", "w")}
    levels: dict[str, dict[str, int]] = {}
    groups: dict[str, Ints] = {}
    for key, name in checked.columns.keys.items():
        encoded = table.column(name).combine_chunks().dictionary_encode()
        texts, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
        known = levels_of(checked.roles) if key == PREDICTED else {}  # rules number classes in their order
        levels[key] = known or {text: code for code, text in enumerate(sorted(texts))}
        groups[key] = np.array([levels[key][text] for text in texts], dtype=np.int64)[codes]
    rows = _rows(checked, columns, groups)
    require_same(checked, rows.size)
    return rows, levels


def _rows(checked: CheckedFrame, columns: Mapping[str, Any], groups: Mapping[str, Ints]) -> Rows:
    """Return the rows in an order that depends only on their content."""
    roles, label = checked.roles, columns["y"].astype(np.int64)
    features = {
        feature.name: Feature(levels=feature.levels, value=columns[checked.columns.features[feature.name]])
        for feature in roles.features
    }
    amounts = dict(zip(roles.amounts, (columns[name] for name in checked.columns.amounts), strict=True))
    numbers = [*(columns[name] for name in checked.columns.names.values()), *amounts.values()]
    keys = [*(feature.value for feature in features.values()), *groups.values(), label, *numbers]
    order = np.lexsort(keys)
    return Rows(
        numbers={role: columns[name].astype(np.float64) for role, name in checked.columns.names.items()}
        | {role: amounts_of(units) for role, units in amounts.items()},
        positive=label == 1 if roles.is_binary else None,
        label_class=None if roles.label is None or roles.is_binary else label,
        weight=columns["w"].astype(np.int64),
        groups=groups,
        features=features,
    ).select(order)


def _refuse_many(size: int, max_rows: int) -> None:
    if size > max_rows:
        raise DataError(
            f"there are {size:,} distinct rows to collect",
            expected=f"at most {max_rows:,} from a cluster",
            remedy=words("read the files with --engine polars"),
        )


class DistinctBatches:
    """Batches of distinct rows (see uqcli.engines.protocol.CheckedBatches), without positions."""

    def __init__(self, request: DataRequest) -> None:
        self._request = request
        self._summary: SourceSummary | None = None
        self.roles: Roles = request.roles
        self.dropped = 0
        self.levels: Mapping[str, Mapping[str, int]] = {}
        self.unnormalised = 0.0

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read."""
        assert self._summary is not None  # known after the iteration
        return self._summary

    def mapped(self, work: Callable[[Rows], R]) -> Iterator[R]:
        """Map a function over batches."""
        return map(work, self)

    def __iter__(self) -> Iterator[Rows]:
        """Iterate over batches."""
        frame = checked(session_of(self._request.spark), self._request)
        self.roles, self._summary = frame.roles, frame.summary
        rows, self.levels = distinct_rows(frame)
        self.dropped, self.unnormalised = frame.summary.dropped, frame.unnormalised
        for start in range(0, len(rows), ROWS_PER_PART):
            yield rows.select(np.arange(start, min(len(rows), start + ROWS_PER_PART)))

"""Table of a request: answers queries from counts of its rows, or of the rows of one group of a key column.

Isotonic blocks of more rows than can be sorted at once are fitted slice by slice of the scores. Rows in one
block of a slice's fit are in one block of the full fit. Refitting the blocks of the slices therefore gives
the exact blocks of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.counts import Ints, RangeCounts, ValueCounts, distinct_numbers, run_starts
from uqcli.base.defaults import ROWS_PER_PART, SORTED_ROWS
from uqcli.base.rows import Rows
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.machine import threads
from uqcli.base.running.memory import rows_at_once
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.count.keys import ColumnSummary, between, least_keys, ranges_from
from uqcli.engines.local.count.part import Part, joined
from uqcli.engines.local.count.pooling import (
    KeyCounts,
    KeyRows,
    in_order,
    in_ranges,
    keys_by_part,
    merged,
    pooled,
    pooled_by,
)
from uqcli.engines.local.count.ranges import count_ranges
from uqcli.engines.local.count.rows import CountableRows
from uqcli.engines.local.count.unit_counts import counted_by_unit
from uqcli.engines.protocol import ALL_ROWS, CountTable, Partition, Places, RangeQuery, SourceSummary
from uqcli.kernels.keys import values_of
from uqcli.kernels.pava import isotonic_sums

_BYTES_SORTED = 48
"""Memory of a row that is sorted: its key where it was read, among all keys and among those of its label."""

_SORTED_ROWS_READ_AGAIN = 3 * SORTED_ROWS
"""Rows of a slice if each reads some of the rows again."""


def isotonic_by(rows: CountableRows, role: str, by: Partition) -> tuple[ValueCounts, ...]:
    """Return the isotonic blocks of a column in each group, then of all rows; each at its first value."""
    width, groups = rows.column(role).width, rows.parts(by)
    blocks: list[list[KeyCounts]] = [[] for _ in range(groups + (groups > 1))]
    slices = _slices(rows, role)
    for ends in slices:

        def slice_rows(part: Part, ends: tuple[int, int] = ends) -> list[KeyRows]:
            if len(slices) > 1:
                part = part.select(np.flatnonzero(between(part.keys[role], *ends)))
            return keys_by_part(part, role)

        collected = list(rows.each(slice_rows, (role,), by))
        rows_by_group = [[by_group[group_index] for by_group in collected] for group_index in range(groups)]
        if groups > 1:  # all rows first, since this takes longest
            rows_by_group.insert(0, [key_rows for group in rows_by_group for key_rows in group])
        few = len(rows_by_group) < threads()  # many groups are shared by threads whole
        divided = [
            (k, part)
            for k, group in enumerate(rows_by_group)
            for part in (in_ranges(group) if few else [group])
        ]
        fits = parallel_map(lambda item: _blocks(item[1], width), divided)
        for (group_index, _), fitted in zip(divided, fits, strict=True):
            blocks[group_index].append(fitted)
    total, *parts = [_fitted(merged(block)).as_values() for block in blocks]
    return (*parts, total) if groups > 1 else (total, total)


def _slices(rows: CountableRows, role: str) -> list[tuple[int, int]]:
    """Return the first and the last key of slices of about equal size."""
    column = rows.column(role)
    most = rows_at_once(_SORTED_ROWS_READ_AGAIN if rows.beyond else SORTED_ROWS, _BYTES_SORTED)
    parts = -(-rows.size // most)
    inner = np.quantile(column.sample, np.arange(1, parts) / parts, method="nearest")
    return ranges_from(distinct_numbers(least_keys(inner, column.width)).tolist(), column.width)


def _blocks(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> KeyCounts:
    """Return the blocks of some rows; all but an initial block without positives begin at a positive row."""
    if any(part.weight for part in parts):
        return _fitted(pooled(parts, width))
    ordered, positive = in_order(parts, width)
    first = run_starts(positive)
    key = positive[first]
    below = np.searchsorted(ordered, key)
    if len(ordered) and (len(below) == 0 or below[0] > 0):
        key, below, first = (np.append(*pair) for pair in ((ordered[0], key), (0, below), (0, first)))
    return _fitted(
        KeyCounts(
            key=key, count=np.diff(below, append=len(ordered)), positives=np.diff(first, append=len(positive))
        )
    )


def _fitted(counts: KeyCounts) -> KeyCounts:
    """Return the isotonic blocks of counts, without sums of amounts."""
    if len(counts.key) == 0:
        return replace(counts, sums=())
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    return KeyCounts(key=counts.key[first], count=count, positives=positives)


class GroupRows(CountableRows):
    """Rows of one group: copies of those in memory, and those that are read again with all groups.

    The copies keep the uncertainty after they are divided by it. Otherwise each group would read the files
    again.
    """

    def __init__(self, whole: CountableRows, column: str, name: str, parts: list[Part]) -> None:
        self.request = whole.request
        self.only = {**whole.only, column: name}
        self._whole = whole
        self._key = column, name
        self._parts = parts
        self._by = ALL_ROWS
        in_memory = sum(part.rows for part in parts)
        self.beyond = self.read().size_of(self.only).counted - in_memory
        self._columns: dict[str, ColumnSummary] = {}
        for part in [] if self.beyond else parts:
            for role, keys in part.keys.items():
                self._columns.setdefault(role, ColumnSummary()).add(ColumnSummary.of(keys))

    @property
    def keeps_uncertainty(self) -> bool:
        """See CountableRows."""
        return True

    def read(self) -> LocalBatches:
        """Return the batches of all groups."""
        return self._whole.read()

    def column(self, role: str) -> ColumnSummary:
        """Return the summary of a column's values; of all groups if not all rows are in memory."""
        return self._columns[role] if self._columns else self._whole.column(role)

    def kept(self) -> Iterator[Part]:
        """Iterate over the parts in memory, undivided."""
        return (part.undivided() for part in self._parts)

    def remaining(self) -> Iterator[Part]:
        """Read the other rows again, among those of all groups."""
        column, name = self._key
        code = self.read().levels[column][name]
        for part in self._whole.remaining():
            rows = np.flatnonzero(part.codes[column] == code)
            if len(rows):
                yield part.select(rows)


def rows_by_group(whole: CountableRows, column: str) -> Mapping[str, GroupRows]:
    """Split the rows by the groups of a key column, in one pass over those in memory."""
    names = whole.groups(column)
    division = whole.division(Partition(groups=(column,)), keep=True)
    parts: list[list[Part]] = [[] for _ in names]
    small: list[list[Part]] = [[] for _ in names]
    rows = [0] * len(names)
    for pieces in parallel_map(division.split, whole.kept()):
        for group, piece in enumerate(pieces):
            small[group].append(piece)
            rows[group] += piece.rows
            if rows[group] >= ROWS_PER_PART // 2:
                parts[group].append(joined(small[group]))
                small[group], rows[group] = [], 0
    for group, pieces in enumerate(small):
        if rows[group]:
            parts[group].append(joined(pieces))
    return {name: GroupRows(whole, column, name, parts[group]) for group, name in enumerate(names)}


class LocalTable(CountTable):
    """Counts of rows, in memory that does not grow with the files (see uqcli.engines.protocol.CountTable)."""

    def __init__(self, rows: CountableRows) -> None:
        self._rows = rows
        self._split: tuple[str, Mapping[str, GroupRows]] | None = None

    @property
    def summary(self) -> SourceSummary:
        """Numbers of rows read and dropped, and their columns."""
        return self._rows.summary

    def groups(self, column: str) -> tuple[str, ...]:
        """Return the sorted group texts of a key column among rows of positive weight."""
        return self._rows.groups(column)

    def clusters(self, column: str) -> Ints:
        """Return the ascending keys of clusters (see ``CountTable``)."""
        return self._rows.read().clusters(column, self._rows.only)[0]

    def only(self, column: str, name: str) -> LocalTable:
        """Return the table of the rows of one group of a key column."""
        if self._split is None or self._split[0] != column:
            self._split = column, rows_by_group(self._rows, column)
        return LocalTable(self._split[1][name])

    def range_counts(self, by: Partition, query: RangeQuery, role: str = "score") -> tuple[RangeCounts, ...]:
        """Return the counts of a column in each group, then of all rows."""
        return count_ranges(self._rows, role, by, query)

    def pool(self, by: Partition, role: str) -> tuple[ValueCounts, ...]:
        """Compute the exact tie-pooled counts of a column in each part."""
        return pooled_by(self._rows, role, by)

    def isotonic(self, by: Partition) -> tuple[ValueCounts, ...]:
        """Return the isotonic blocks of the scores in each group, then of all rows."""
        return isotonic_by(self._rows, "score", by)

    def counted(self, column: str, unit: Ints, places: Places) -> Ints:
        """Count the rows by unit, column of places, and label (see ``CountTable``)."""
        return counted_by_unit(self._rows, column, unit, places)

    def rows(self) -> Rows:
        """Return all rows of positive weight, in any order."""
        parts = list(self._rows.each(lambda part: part, ("score", "uncertainty")))
        weight = [weight for part in parts for weight in part.weight]
        positive = [np.arange(part.rows) >= part.negatives for part in parts]
        amounts = {
            role: np.concatenate([part.amounts_of_rows(role) for part in parts]) for role in parts[0].amounts
        }
        return Rows(
            numbers={
                role: np.concatenate([values_of(part.keys[role]) for part in parts]) for role in parts[0].keys
            }
            | amounts,
            positive=np.concatenate(positive),
            weight=np.concatenate(weight) if weight else None,
            groups=self._clusters(parts),
        )

    def _clusters(self, parts: Sequence[Part]) -> dict[str, Ints]:
        """Return the number of each row's cluster; empty if rows are independent."""
        cluster = self._rows.request.roles.cluster
        if cluster is None:
            return {}
        _, numbers = self._rows.read().clusters(cluster, self._rows.only)
        rank = np.zeros(len(self._rows.read().levels[cluster]), dtype=np.int64)
        rank[numbers] = np.arange(len(numbers))
        return {cluster: rank[np.concatenate([part.codes[cluster] for part in parts])]}

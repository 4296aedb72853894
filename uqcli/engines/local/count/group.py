"""Rows of one group of a key column, taken from the rows of all groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from uqcli.base.defaults import ROWS_PER_PART
from uqcli.base.running.concurrency import parallel_map
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.count.columns import ColumnSummary
from uqcli.engines.local.count.part import Part, joined
from uqcli.engines.local.count.rows import CountedRows
from uqcli.engines.protocol import ALL_ROWS, Partition


class GroupRows(CountedRows):
    """Rows of one group: copies of those in memory, and those that are read again with all groups.

    The copies keep the uncertainty after they are divided by it. Otherwise each group would read the files
    again.
    """

    def __init__(self, whole: CountedRows, column: str, name: str, parts: list[Part]) -> None:
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
        """See CountedRows."""
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


def rows_by_group(whole: CountedRows, column: str) -> Mapping[str, GroupRows]:
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

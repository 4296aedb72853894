"""Table of a request: answers queries from counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from uqcli.base.counts import Ints, RangeCounts, ValueCounts
from uqcli.base.rows import Rows
from uqcli.engines.local.count.group import GroupRows, rows_by_group
from uqcli.engines.local.count.isotonic import isotonic_by
from uqcli.engines.local.count.keys import values_of
from uqcli.engines.local.count.part import Part
from uqcli.engines.local.count.pooling import pooled_by
from uqcli.engines.local.count.ranges import count_ranges
from uqcli.engines.local.count.rows import CountedRows
from uqcli.engines.protocol import Partition, RangeQuery, SourceSummary, Table


class LocalTable(Table):
    """Counts of rows, in memory that does not grow with the files (see uqcli.engines.protocol.Table)."""

    def __init__(self, rows: CountedRows) -> None:
        self._rows = rows
        self._split: tuple[str, Mapping[str, GroupRows]] | None = None

    @property
    def summary(self) -> SourceSummary:
        """Numbers of rows read and dropped, and their columns."""
        return self._rows.summary

    def groups(self, column: str) -> tuple[str, ...]:
        """Return the sorted group texts of a key column among rows of positive weight."""
        return self._rows.groups(column)

    def only(self, column: str, name: str) -> LocalTable:
        """Return the table of the rows of one group of a key column."""
        if self._split is None or self._split[0] != column:
            self._split = column, rows_by_group(self._rows, column)
        return LocalTable(self._split[1][name])

    def range_counts(self, by: Partition, query: RangeQuery, role: str = "score") -> tuple[RangeCounts, ...]:
        """Return the counts of a column in each group, then of all rows."""
        return count_ranges(self._rows, role, by, query)

    def pooled(self, by: Partition, role: str = "score") -> tuple[ValueCounts, ...]:
        """Compute the exact tie-pooled counts of a column in each group."""
        return pooled_by(self._rows, role, by)

    def isotonic(self, by: Partition) -> tuple[ValueCounts, ...]:
        """Return the isotonic blocks of the scores in each group, then of all rows."""
        return isotonic_by(self._rows, "score", by)

    def rows(self) -> Rows:
        """Return all rows of positive weight, in any order."""
        parts = list(self._rows.each(lambda part: part, ("score", "uncertainty")))
        weight = [part.weight for part in parts if part.weight is not None]
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
        """Return the index of each row's cluster among the sorted texts; empty if rows are independent."""
        cluster = self._rows.request.roles.cluster
        if cluster is None:
            return {}
        rank, _ = self._rows.division(Partition(groups=(cluster,)), keep=True).ranks[cluster]
        return {cluster: rank[np.concatenate([part.codes[cluster] for part in parts])]}

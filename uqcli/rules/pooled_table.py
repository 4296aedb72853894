"""A table whose scores are pooled once, for several jobs on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from uqcli.base.counts import Ints, RangeCounts, ValueCounts
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.engines.protocol import ALL_ROWS, Partition, RangeQuery, SourceSummary, Table


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledTable:
    """Table that keeps the exact counts of the scores of all rows."""

    table: Table

    @cached_property
    def counts(self) -> ValueCounts:
        """Exact counts of the scores."""
        return self.table.pooled(ALL_ROWS)[0]

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read."""
        return self.table.summary

    def groups(self, column: str) -> tuple[str, ...]:
        """See Table."""
        return self.table.groups(column)

    def only(self, column: str, name: str) -> Table:
        """See Table."""
        return self.table.only(column, name)

    def edges(
        self, role: str, ranks: Callable[[int], Ints], by: Partition = ALL_ROWS
    ) -> tuple[ValueCounts, ...]:
        """See Table."""
        return self.table.edges(role, ranks, by)

    def range_counts(self, by: Partition, query: RangeQuery, role: str = "score") -> tuple[RangeCounts, ...]:
        """See Table."""
        return self.table.range_counts(by, query, role)

    def pooled(self, by: Partition, role: str = "score") -> tuple[ValueCounts, ...]:
        """See Table."""
        is_kept = role == "score" and not by.divides
        return (self.counts,) if is_kept else self.table.pooled(by, role)

    def isotonic(self, by: Partition) -> tuple[ValueCounts, ...]:
        """See Table."""
        return self.table.isotonic(by)

    def rows(self) -> Rows:
        """See Table."""
        return self.table.rows()

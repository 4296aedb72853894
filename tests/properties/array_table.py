"""Rows that are at hand as a table: what an engine's answers are held against."""

from dataclasses import dataclass

from tests.oracles.isotonic_blocks import isotonic_counts
from uqcli.counts import RangeCounts, merge
from uqcli.engines.protocol import WHOLE
from uqcli.methods.bin.grid import pool_by
from uqcli.rows import Rows


@dataclass(frozen=True)
class ArrayTable:
    """Every answer is exact at once (see uqcli.engines.protocol.Table)."""

    held: Rows

    def edges(self, role, ranks, by=WHOLE):
        del ranks, by  # exact at all of them; nobody asks by part
        return (self.held.counts(self.held.numbers[role]),)

    def counted(self, by, query):
        del query  # nothing is
        return RangeCounts.of_parts(self.pooled(by))

    def pooled(self, by):
        return pool_by(self.held, by.edges)

    def isotonic(self, by):
        parts = self.pooled(by)
        return tuple(isotonic_counts(each) for each in (*parts, merge(parts)))

    def rows(self):
        return self.held

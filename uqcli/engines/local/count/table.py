"""The table of a request: each question answered from counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from uqcli.counts import Bools, Floats, Ints, RangeCounts, ValueCounts
from uqcli.engines.local.count.isotonic import isotonic_by
from uqcli.engines.local.count.kept import KeptRows
from uqcli.engines.local.count.keys import values_of
from uqcli.engines.local.count.pooling import pooled_by
from uqcli.engines.local.count.ranges import count_ranges
from uqcli.engines.protocol import SourceFacts, Unsettled
from uqcli.engines.request import DataRequest
from uqcli.rows import Rows


class LocalTable:
    """Rows counted in memory that does not grow with the files (see uqcli.engines.protocol.Table)."""

    def __init__(self, request: DataRequest) -> None:
        self._rows = KeptRows(request)

    @property
    def facts(self) -> SourceFacts:
        """What was read."""
        return self._rows.facts

    def edges(self, role: str, ranks: Callable[[int], Ints]) -> ValueCounts:
        """Counts of a column, exact at some ranks."""

        def unsettled(counts: Sequence[RangeCounts]) -> list[Bools]:
            return [each.holding(ranks(each.rows)) for each in counts]

        return count_ranges(self._rows, role, np.empty(0), unsettled)[0].counts

    def counted(self, by: Floats, unsettled: Unsettled) -> tuple[RangeCounts, ...]:
        """Counts of the scores in each uncertainty bin, and last of all rows together."""
        return count_ranges(self._rows, "score", by, unsettled)

    def pooled(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Exact tie-pooled counts of the scores in each uncertainty bin."""
        return pooled_by(self._rows, "score", by)

    def isotonic(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Blocks of the isotonic fit to the scores of each uncertainty bin, and last of all rows."""
        return isotonic_by(self._rows, "score", by)

    def rows(self) -> Rows:
        """Every row of positive weight, in any order."""
        parts = list(self._rows.each(lambda part: part, ("score", "uncertainty")))
        weight = [part.weight for part in parts if part.weight is not None]
        positive = [np.arange(part.rows) >= part.negatives for part in parts]
        return Rows(
            numbers={
                role: np.concatenate([values_of(part.keys[role]) for part in parts]) for role in parts[0].keys
            },
            positive=np.concatenate(positive),
            weight=np.concatenate(weight) if weight else None,
        )

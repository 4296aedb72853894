"""Rows that are at hand as arrays, counted like those of files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uqcli.counts import Floats, Ints, RangeCounts, ValueCounts, merge, pool
from uqcli.engines.protocol import LabelledRows, SourceFacts, Unsettled
from uqcli.methods.bin.grid import HoldOut, pool_by
from uqcli.methods.bin.isotonic_blocks import isotonic_counts


@dataclass(frozen=True, kw_only=True)
class ArrayTable:
    """Every answer is exact at once (see uqcli.engines.protocol.Table)."""

    hold_out: HoldOut

    @property
    def facts(self) -> SourceFacts:
        """What there is."""
        positive = self.hold_out.positive
        return SourceFacts(
            rows=len(positive), positives=int(np.count_nonzero(positive)), dropped=0, columns={}
        )

    def edges(self, role: str, ranks: Callable[[int], Ints]) -> ValueCounts:
        """Counts of a column."""
        del ranks  # exact at all of them
        value = self.hold_out.score if role == "score" else self.hold_out.uncertainty
        assert value is not None  # asked for where it is looked at
        return pool(value, self.hold_out.positive, self.hold_out.weight)

    def counted(self, by: Floats, unsettled: Unsettled) -> tuple[RangeCounts, ...]:
        """Counts of the scores in each uncertainty bin, and last of all rows together."""
        del unsettled  # nothing is
        return RangeCounts.of_parts(self.pooled(by))

    def pooled(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Exact tie-pooled counts of the scores in each uncertainty bin."""
        return pool_by(self.hold_out, by)

    def isotonic(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Blocks of the isotonic fit to the scores of each uncertainty bin, and last of all rows."""
        parts = self.pooled(by)
        return tuple(isotonic_counts(each) for each in (*parts, merge(parts)))

    def rows(self) -> LabelledRows:
        """Every row."""
        held = self.hold_out
        numbers = {"score": held.score}
        return LabelledRows(
            numbers=numbers if held.uncertainty is None else {**numbers, "uncertainty": held.uncertainty},
            positive=held.positive,
            weight=held.weight,
            facts=self.facts,
        )

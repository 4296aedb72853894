"""Nested rules, which order rows for a capacity: the tightest ones flag first."""

from __future__ import annotations

import math
from itertools import pairwise

from uqcli.base.counts import Floats, Ints
from uqcli.base.rows import Rows
from uqcli.boundary.rule_part import Decider
from uqcli.boundary.search.thresholds import as_numbers, places
from uqcli.rules.saved import present


class NestedRules(Decider):
    """Thresholds of nested rules by uncertainty bin, the tightest rule first."""

    def contradiction(self) -> str:
        nested = present(self.rule.nested)
        if any(len(thresholds) != len(self.rule.thresholds) for thresholds in nested):
            return "its nested rules do not have its uncertainty bins"
        pairs = (
            (high, low)
            for rules in pairwise(map(as_numbers, nested))
            for high, low in zip(*rules, strict=True)
        )
        if any(math.isnan(low) or low > high for high, low in pairs):
            return "its nested rules are not nested"
        return ""

    def place_of(self, rows: Rows) -> tuple[Ints, Floats]:
        if len(self.rule.thresholds) == 1:
            return super().place_of(rows)
        edges, nested = self.rule.uncertainty_edges, present(self.rule.nested)
        return places(rows.score, rows.uncertainty, edges, nested), rows.score

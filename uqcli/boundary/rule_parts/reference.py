"""Calibration rows by score and uncertainty, and by day or cluster, with which new rows are compared."""

from __future__ import annotations

from uqcli.boundary.rule_part import RulePart
from uqcli.rules.saved import given


class Reference(RulePart):
    """Counts of the calibration rows, the ends of their numbers, and how they depend on each other."""

    def contradiction(self) -> str:
        rule, reference = self.rule, given(self.rule.reference)
        bins, (_, rows) = len(rule.thresholds), rule.fit.flagged
        if reference and reference.contradicts(bins, rows, uncertain=rule.needs_uncertainty):
            return "its reference is not about its calibration rows"
        return ""

"""Precision and recall to expect on new rows, or on those like the calibration rows with a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from uqcli.boundary.promise import Promise
from uqcli.boundary.rule_part import Description, RulePart
from uqcli.boundary.rule_words import LABELLED_ROWS
from uqcli.estimates.estimate import FEWEST_FLAGGED, interval
from uqcli.rules.saved import given


class Expected(RulePart):
    """The expected results, null if they were not estimated, and the rows with those without a label."""

    def promised(self, promises: Sequence[Promise]) -> Sequence[Promise]:
        """Lower a bound to the lower end of what was expected on new rows, unless that is 0."""
        expected = given(self.rule.expected)
        lows = {"precision": expected.precision.low, "recall": expected.recall.low} if expected else {}
        return [_lowered(promise, lows.get(promise.rate)) for promise in promises]

    def describe(self, description: Description) -> Description:
        fit, expected = self.rule.fit, given(self.rule.expected)
        if fit.flagged[1] != fit.rows:  # new rows are not like those that have a label
            where = "expected on rows like these"
            description = replace(description, where=LABELLED_ROWS, expected_where=where)
        if not expected:
            return description
        description = replace(description, expected=(expected.precision.estimate, expected.recall.estimate))
        if fit.selected < FEWEST_FLAGGED:
            return description
        recall, precision = (interval(rate.estimate) for rate in (expected.recall, expected.precision))
        return replace(description, expected_cells=(recall, precision))


def _lowered(promise: Promise, low: float | None) -> Promise:
    if low is None or low <= 0 or (bound := Fraction(str(low))) >= promise.bound:
        return promise
    return replace(
        promise, bound=bound, origin=f"lower end of what was expected of target {float(promise.bound):.4g}"
    )

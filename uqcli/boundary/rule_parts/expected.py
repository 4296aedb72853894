"""Precision and recall to expect on new rows, or on those like the calibration rows with a label."""

from __future__ import annotations

from dataclasses import replace

from uqcli.boundary.rule_part import Description, RulePart
from uqcli.boundary.rule_words import LABELLED_ROWS
from uqcli.estimates.estimate import FEWEST_FLAGGED, interval
from uqcli.rules.saved import given


class Expected(RulePart):
    """The expected results, null if they were not estimated, and the rows with those without a label."""

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

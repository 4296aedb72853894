"""Precision and recall to expect on new rows, or on those like the calibration rows with a label."""

from __future__ import annotations

from dataclasses import replace

from uqcli.base.wording import percent_in_range
from uqcli.boundary.rule_part import Description, RulePart
from uqcli.boundary.rule_words import LABELLED_ROWS
from uqcli.estimates.estimate import FEWEST_FLAGGED
from uqcli.rules.saved import given


class Expected(RulePart):
    """The expected results, null if they were not estimated, and the rows with those without a label."""

    def describe(self, said: Description) -> Description:
        fit, expected = self.rule.fit, given(self.rule.expected)
        if fit.flagged[1] != fit.rows:  # new rows are not like those that have a label
            said = replace(said, where=LABELLED_ROWS, expected_where="expected on rows like these")
        if not expected:
            return said
        precision, recall = expected.precision.estimate, expected.recall.estimate
        rates = [percent_in_range(rate.value, rate.low, rate.high) for rate in (recall, precision)]
        cells = (*rates, "") if fit.selected >= FEWEST_FLAGGED else ()
        return replace(said, expected=(precision, recall), expected_cells=cells)

"""What the flagged calibration rows are worth, by a gain and a cost."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from uqcli.boundary.rule_part import Description, RulePart


class Worth(RulePart):
    """Value of the flagged calibration rows, and the share of all positives' gain that they have."""

    def describe(self, description: Description) -> Description:
        value, caught = self.rule.fit.value, self.rule.fit.value_caught
        if value is msgspec.UNSET or caught is msgspec.UNSET:
            return description
        return replace(description, metrics={**description.metrics, "value": value, "value_caught": caught})

"""What the rule aims at beside its bounds: the class priors of other data, and a margin."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from uqcli.base.wording import percent
from uqcli.boundary.rule_part import Description, RulePart
from uqcli.rules.saved import given


class Target(RulePart):
    """Class weights of the target data with the precision there, and the margin in standard errors."""

    def contradiction(self) -> str:
        target = given(self.rule.target)
        is_share = not target or target.precision is None or 0 <= target.precision <= 1
        return "" if is_share else "its precision on the target data is no share"

    def describe(self, description: Description) -> Description:
        if self.rule.margin is not msgspec.UNSET:
            description = replace(description, margin=f" with margin {self.rule.margin:g}")
        if target := given(self.rule.target):
            negative, positive = target.weights
            sentence = (
                f"Negatives are {negative:.4g} and positives {positive:.4g} times as frequent in the target "
                f"data; precision there is {percent(target.precision)}."
            )
            description = replace(
                description,
                data=" on target data",
                expected_where="expected on target data",
                on_scores=(*description.on_scores, sentence),
            )
        return description

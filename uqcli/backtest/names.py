"""What policies, periods and rates are called in sentences, tables and keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from uqcli.backtest.judge import JudgedPolicy
from uqcli.backtest.periods import noun_of
from uqcli.backtest.policies import PolicyKind
from uqcli.backtest.results import Outcome
from uqcli.base.wording import counted
from uqcli.estimates.confusion import Rate

RATES: Final = {
    Rate.PRECISION: "precision", Rate.RECALL: "recall", Rate.FPR: "false-positive rate",
    Rate.ALERTS: "share of flagged rows",
}  # fmt: skip


class Names:
    """Names of policies and periods, in sentences and as keys."""

    def __init__(self, outcome: Outcome, first_rows: str) -> None:
        self.unit = noun_of(outcome.calendar.every)
        self._first_rows = first_rows
        self._together = max((len(span.periods) for span in outcome.policies[0].spans), default=1)
        self._has_margins = len({each.policy.margin for each in outcome.policies}) > 1

    def units(self, number: int) -> str:
        """Return a number of periods in words."""
        return counted(number, self.unit)

    @property
    def span(self) -> str:
        """What is judged: a period, or several together."""
        return self.unit if self._together == 1 else "span"

    def spans(self, number: int) -> str:
        """Return a number of periods that are judged together, or alone, in words."""
        if self._together == 1:
            return self.units(number)
        return f"{counted(number, 'span')} of {self.units(self._together)}"

    def policy(self, judged: JudgedPolicy) -> str:
        """Return what a policy is called in a sentence."""
        policy = judged.policy
        name = {
            PolicyKind.FIRST: "the first rule",
            PolicyKind.AFTER_ALARM: "a new rule after an alarm",
            PolicyKind.EACH: f"a new rule each {self.unit}",
            PolicyKind.CAPACITY: self._first_rows,
        }[policy.kind]
        return f"{name} (margin {policy.margin})" if self._has_margins else name

    def short(self, judged: JudgedPolicy) -> str:
        """Return what a policy is called in a table."""
        policy = judged.policy
        name = {
            PolicyKind.FIRST: "first rule",
            PolicyKind.AFTER_ALARM: "after alarm",
            PolicyKind.EACH: f"each {self.unit}",
            PolicyKind.CAPACITY: "first rows",
        }[policy.kind]
        return f"{name}, margin {policy.margin}" if self._has_margins else name

    def metrics(self, judged: JudgedPolicy, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the metrics of a policy under its kind, and under its margin if there are several."""
        margin = judged.policy.margin.replace(".", "_")
        return {judged.policy.kind: {f"margin_{margin}": values} if self._has_margins else values}

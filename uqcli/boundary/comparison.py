"""Comparison of boundaries with a single threshold: verdict, metrics and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from uqcli.base.records import dataclass
from uqcli.base.wording import p_cell, p_text
from uqcli.boundary.permutation import Gain
from uqcli.estimates.estimate import Estimate, money_change
from uqcli.reports.document import Metrics, Table, plain

Verdict = Literal["helps", "no evidence", "hurts"]

_LEVEL: Final = 0.05
MIN_GAIN: Final = 0.005
"""Least recall beyond that of permuted uncertainties for a verdict."""

_NOT_TESTED: Final = Estimate(value=None)


@dataclass(frozen=True, kw_only=True)
class UncertaintyComparison:
    """Gain of one uncertainty column over a single threshold.

    The gain is None if no single threshold meets the constraint. The p-values are those of permutation tests
    for a gain and for a loss, adjusted for all columns (Holm).
    """

    uncertainty: str
    gain: Gain | None
    p_value: float | None
    p_hurts: float | None

    @property
    def beyond(self) -> float:
        """Recall gained beyond that of permuted uncertainties; 0 if not tested."""
        if self.gain is None or self.gain.equal_alerts.value is None:
            return 0.0
        return self.gain.equal_alerts.value - self.gain.placebo

    @property
    def verdict(self) -> Verdict:
        """Whether it helps: a significant test, a gain of at least MIN_GAIN, and an interval without 0."""
        low, high = self._interval_ends
        if self.p_value is not None and self.p_value <= _LEVEL and self.beyond >= MIN_GAIN and low > 0:
            return "helps"
        if self.p_hurts is not None and self.p_hurts <= _LEVEL and self.beyond <= -MIN_GAIN and high < 0:
            return "hurts"
        return "no evidence"

    @property
    def _interval_ends(self) -> tuple[float, float]:
        """Outer ends of the intervals of the gain at equal alerts and of the utility; only signs matter.

        Without a test they are -1 and 1.
        """
        gains = [_NOT_TESTED] if self.gain is None else [self.gain.equal_alerts]
        if self.gain is not None and self.gain.value is not None:
            gains.append(self.gain.value)
        lows = [-1.0 if gain.low is None else gain.low for gain in gains]
        highs = [1.0 if gain.high is None else gain.high for gain in gains]
        return min(lows), max(highs)

    @property
    def metrics(self) -> Metrics:
        """Metrics by key."""
        tested = self.gain
        gain: Metrics = {
            "recall": tested.at_bound if tested else _NOT_TESTED,
            "equal_alerts": tested.equal_alerts if tested else _NOT_TESTED,
            "placebo": tested.placebo if tested else None,
            "p": self.p_value,
        }
        if tested and tested.value:
            gain = {**gain, "value": tested.value, "value_equal_alerts": tested.value_equal_alerts}
        return {"gain": gain}

    @property
    def cells(self) -> tuple[str, str, str]:
        """The gain at equal alerts, its p-value and the verdict, for tables."""
        gain = "-" if self.gain is None else _points(self.gain.equal_alerts)
        return gain, p_cell(self.p_value, is_least=self._p_is_least), self.verdict

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"uncertainty": self.uncertainty, "verdict": self.verdict, "metrics": plain(self.metrics)}

    def sentence(self, beside: str = "") -> str:
        """State whether the uncertainty helps, by how much, and how sure that is.

        ``beside`` says what gives the number of alerts, if the report does not say it.
        """
        named = "" if self.uncertainty == "uncertainty" else f" '{self.uncertainty}'"
        asked = f"Does the uncertainty{named} help?"
        if self.gain is None:
            return f"{asked} It could not be tested, since no single threshold meets the target."
        p_value = p_text(self.p_value, is_least=self._p_is_least)
        gained = f"{self._change()} at the same number of alerts{f' as {beside}' if beside else ''}"
        tested = f"{gained} (cross-validated, {self._interval()}{p_value})"
        is_small = abs(self.beyond) < MIN_GAIN
        if self._is_low_p and is_small:  # a low p-value would read as a gain
            tested = f"{gained}, below the {100 * MIN_GAIN:g} points that uqcli treats as worthwhile"
        match self.verdict:
            case "helps":
                return f"{asked} Yes: {tested}."
            case "hurts":
                return f"{asked} No, it hurts: {tested}."
            case "no evidence":
                objection = " The interval contains 0." if self._is_low_p and not is_small else ""
                return f"{asked} No evidence of it: {tested}.{objection}"

    def _interval(self) -> str:
        """Format the interval of the gain; empty if it has none."""
        gain = None if self.gain is None else self.gain.equal_alerts
        if gain is None or gain.low is None or gain.high is None:
            return ""
        return f"95 % interval {100 * gain.low:+.1f} to {100 * gain.high:+.1f}; "

    @property
    def _p_is_least(self) -> bool:
        """Whether no gain could have a lower p-value with so many permutations."""
        return self.gain is not None and self.gain.p_value <= self.gain.least_p

    @property
    def _is_low_p(self) -> bool:
        return any(p is not None and p <= _LEVEL for p in (self.p_value, self.p_hurts))

    def _change(self) -> str:
        """Format the change at equal alerts, with utility if requested."""
        assert self.gain is not None  # the sentence has checked it
        points = self.gain.equal_alerts.value
        recall = "recall unknown" if points is None else f"{100 * points:+.1f} points of recall"
        if self.gain.value is None:
            return recall
        if self.gain.value_equal_alerts is None:
            return f"value {money_change(self.gain.value)}, {recall}"
        return f"net value {_utility(self.gain.value_equal_alerts)} and {recall}"


def gains_table(compared: Sequence[UncertaintyComparison]) -> Table:
    """Build the table of the gain of each column, the best first."""
    header = ("uncertainty", "at equal alerts", "at the bound", "permuted", "p", "verdict")
    brief = [(column.uncertainty, *column.cells) for column in compared]
    rows = []
    for column, (name, equal, p_value, verdict) in zip(compared, brief, strict=True):
        further = ("-", "-")
        if column.gain is not None:
            further = _points(column.gain.at_bound), f"{100 * column.gain.placebo:+.2f}"
        rows.append((name, equal, *further, p_value, verdict))
    title = "Points of recall gained over a single threshold, cross-validated (95 % intervals)"
    brief_table = Table(title="", header=("uncertainty", "points of recall", "p", "verdict"), rows=brief)
    return Table(title=title, header=header, rows=rows, detail=len(rows) == 1, brief=brief_table)


VERDICTS: Final = (
    f'The verdict is "helps" if p <= {_LEVEL:g}, the gain is at least {100 * MIN_GAIN:g} points above that '
    "of shuffled uncertainties, and its interval excludes 0."
)
"""Conditions of a verdict."""


def _utility(estimate: Estimate) -> str:
    value, low, high = (end or 0.0 for end in (estimate.value, estimate.low, estimate.high))
    form = "+,.0f" if abs(value) >= 100 else "+,.3g"
    return f"{value:{form}} ({low:{form}} to {high:{form}})"


def _points(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.value:+.2f} [{100 * estimate.low:+.2f}, {100 * estimate.high:+.2f}]"

"""Comparison of boundaries with a single threshold: verdict, metrics and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from uqcli.base.records import dataclass
from uqcli.base.wording import p_cell, p_text
from uqcli.boundary.permutation import Gain, UtilityGain, ValueGain
from uqcli.estimates.estimate import Estimate, money_change
from uqcli.reports.document import Metrics, Table, plain

Verdict = Literal["helps", "no evidence", "hurts"]

_LEVEL: Final = 0.05
MIN_GAIN: Final = 0.005
"""Least recall beyond that of permuted uncertainties for a verdict."""

_NOT_TESTED: Final = Estimate(value=None)


@dataclass(frozen=True, kw_only=True)
class UncertaintyComparison:
    """An uncertainty column that could not be compared: no single threshold meets the constraint."""

    uncertainty: str

    @property
    def beyond(self) -> float:
        """Recall gained beyond that of permuted uncertainties; 0 if unknown."""
        return 0.0

    @property
    def verdict(self) -> Verdict:
        """Whether it helps."""
        return "no evidence"

    @property
    def metrics(self) -> Metrics:
        """Metrics by key."""
        return {"gain": {"recall": _NOT_TESTED, "equal_alerts": _NOT_TESTED, "placebo": None, "p": None}}

    @property
    def cells(self) -> tuple[str, str, str]:
        """The gain at equal alerts, its p-value and the verdict, for tables."""
        return "-", "-", self.verdict

    @property
    def further_cells(self) -> tuple[str, str]:
        """The gain at the bound, and that of permuted uncertainties, for tables."""
        return "-", "-"

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"uncertainty": self.uncertainty, "verdict": self.verdict, "metrics": plain(self.metrics)}

    def sentence(self, beside: str = "") -> str:
        """State whether the uncertainty helps, by how much, and how sure that is.

        ``beside`` says what gives the number of alerts, if the report does not say it.
        """
        del beside
        return f"{self._asked} It could not be tested, since no single threshold meets the target."

    @property
    def _asked(self) -> str:
        named = "" if self.uncertainty == "uncertainty" else f" '{self.uncertainty}'"
        return f"Does the uncertainty{named} help?"


@dataclass(frozen=True, kw_only=True)
class TestedUncertainty(UncertaintyComparison):
    """Gain of one uncertainty column over a single threshold.

    The p-values are those of permutation tests for a gain and for a loss, adjusted for all columns (Holm).
    """

    gain: Gain
    p_value: float
    p_hurts: float

    @property
    def beyond(self) -> float:
        """See UncertaintyComparison."""
        value = self.gain.equal_alerts.value
        return 0.0 if value is None else value - self.gain.placebo

    @property
    def verdict(self) -> Verdict:
        """Whether it helps: a significant test, a gain of at least MIN_GAIN, and an interval without 0."""
        low, high = self._interval_ends
        if self.p_value <= _LEVEL and self.beyond >= MIN_GAIN and low > 0:
            return "helps"
        if self.p_hurts <= _LEVEL and self.beyond <= -MIN_GAIN and high < 0:
            return "hurts"
        return "no evidence"

    @property
    def _interval_ends(self) -> tuple[float, float]:
        """Outer ends of the intervals of the gain at equal alerts and of the utility; only signs matter.

        Without an interval they are -1 and 1.
        """
        of_value = [self.gain.value] if isinstance(self.gain, ValueGain) else []
        gains = [self.gain.equal_alerts, *of_value]
        lows, highs = zip(*(gain.ends or (-1.0, 1.0) for gain in gains), strict=True)
        return min(lows), max(highs)

    @property
    def metrics(self) -> Metrics:
        """See UncertaintyComparison."""
        tested = self.gain
        gain: Metrics = {
            "recall": tested.at_bound,
            "equal_alerts": tested.equal_alerts,
            "placebo": tested.placebo,
            "p": self.p_value,
        }
        if isinstance(tested, ValueGain):
            at_alerts = tested.value_equal_alerts if isinstance(tested, UtilityGain) else None
            gain = {**gain, "value": tested.value, "value_equal_alerts": at_alerts}
        return {"gain": gain}

    @property
    def cells(self) -> tuple[str, str, str]:
        """See UncertaintyComparison."""
        p_value = p_cell(self.p_value, is_least=self._p_is_least)
        return _points(self.gain.equal_alerts), p_value, self.verdict

    @property
    def further_cells(self) -> tuple[str, str]:
        """See UncertaintyComparison."""
        return _points(self.gain.at_bound), f"{100 * self.gain.placebo:+.2f}"

    def sentence(self, beside: str = "") -> str:
        """See UncertaintyComparison."""
        asked, p_value = self._asked, p_text(self.p_value, is_least=self._p_is_least)
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
        ends = " to ".join(f"{100 * end:+.1f}" for end in self.gain.equal_alerts.ends)
        return f"95 % interval {ends}; " if ends else ""

    @property
    def _p_is_least(self) -> bool:
        """Whether no gain could have a lower p-value with so many permutations."""
        return self.gain.p_value <= self.gain.least_p

    @property
    def _is_low_p(self) -> bool:
        return min(self.p_value, self.p_hurts) <= _LEVEL

    def _change(self) -> str:
        """Format the change at equal alerts, with utility if requested."""
        points = self.gain.equal_alerts.value
        recall = "recall unknown" if points is None else f"{100 * points:+.1f} points of recall"
        if isinstance(self.gain, UtilityGain):
            return f"net value {_utility(self.gain.value_equal_alerts)} and {recall}"
        if isinstance(self.gain, ValueGain):
            return f"value {money_change(self.gain.value)}, {recall}"
        return recall


def gains_table(compared: Sequence[UncertaintyComparison]) -> Table:
    """Build the table of the gain of each column, the best first."""
    header = ("uncertainty", "at equal alerts", "at the bound", "permuted", "p", "verdict")
    brief = [(column.uncertainty, *column.cells) for column in compared]
    rows = [
        (name, equal, *column.further_cells, p_value, verdict)
        for column, (name, equal, p_value, verdict) in zip(compared, brief, strict=True)
    ]
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
    if estimate.value is None or not estimate.ends:
        return "-"
    low, high = estimate.ends
    return f"{100 * estimate.value:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}]"

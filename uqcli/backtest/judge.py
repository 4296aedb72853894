"""What a policy did in each period, and whether it met the target there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from uqcli.backtest.chance import WindowTrials, day_correlation, design_effect, errors_by_day, usual_counts
from uqcli.backtest.periods import Calendar, Period, Standing
from uqcli.backtest.policies import Policy
from uqcli.backtest.windows import DayCounts
from uqcli.base.counts import Ints, Matrix
from uqcli.base.records import dataclass
from uqcli.base.wording import counted, percent
from uqcli.boundary.search.constraint import Constraint
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate
from uqcli.estimates.survey import proportion_interval

LEAST_DAYS: Final = 10
"""Days with alerts from which a period is judged."""

LEAST_LABELLED: Final = Fraction(95, 100)
"""Share of the rows behind a rate that must have a label."""


TRIALS: Final = {Rate.PRECISION: "alert", Rate.RECALL: "positive", Rate.FPR: "negative", Rate.ALERTS: "row"}
"""What a rate counts, by its name."""


class Verdict(StrEnum):
    """Whether the interval of a period lies on one side of the target."""

    KEPT = "kept"
    MISSED = "missed"
    UNDECIDED = "undecided"
    NONE = "none"
    """There is no target."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A rate that is measured: ``of_flagged`` if the flagged rows alone show it.

    ``unit`` is what a unit of the value of flagged rows is worth, 0 if they have none.
    """

    rate: Rate = Rate.PRECISION
    of_flagged: bool = True
    unit: Fraction = Fraction(0)
    text: str = ""
    is_target: ClassVar[bool] = False

    def verdict(self, rate: Estimate) -> Verdict:  # noqa: ARG002
        """Return whether an interval meets a target, which there is none of."""
        return Verdict.NONE

    def undecided(self) -> Verdict:
        """Return the verdict whatever the interval."""
        return Verdict.NONE

    def is_met(self, rate: Estimate) -> bool:  # noqa: ARG002
        """Whether a rate meets a target."""
        return False

    def worth(self, value: int) -> float:
        """Return a value in units as an amount."""
        return float(value * self.unit)


@dataclass(frozen=True, kw_only=True)
class Target(Measure):
    """A bound on a rate, at least or at most, and its description."""

    bound: float
    is_upper: bool
    is_target: ClassVar[bool] = True

    def verdict(self, rate: Estimate) -> Verdict:
        """Return on which side of the bound an interval lies."""
        low, high = rate.ends or (-np.inf, np.inf)
        worst, best = (high, low) if self.is_upper else (low, high)
        if self._holds(worst):
            return Verdict.KEPT
        return Verdict.UNDECIDED if self._holds(best) else Verdict.MISSED

    def undecided(self) -> Verdict:
        """Return the verdict whatever the interval."""
        return Verdict.UNDECIDED

    def is_met(self, rate: Estimate) -> bool:
        """Whether a rate meets it; an undefined one does not."""
        return rate.value is not None and self._holds(rate.value)

    def _holds(self, value: float) -> bool:
        return value <= self.bound if self.is_upper else value >= self.bound


def measured_under(constraint: Constraint) -> Measure:
    """Return what a constraint bounds in new rows; otherwise precision is measured."""
    if not constraint.is_bound:
        return Measure(unit=constraint.unit)
    if not constraint.rates:
        return Measure()
    (rate,) = constraint.rates
    return Target(
        rate=rate,
        of_flagged=constraint.is_proportion_of_flagged,
        bound=float(constraint.numbers[0]),
        is_upper=constraint.is_upper,
        text=constraint.text(),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """What a policy did in a period, or in short periods that are judged together.

    ``value`` is what its alerts were worth, in units. ``doubt`` says why it is undecided whatever the
    interval; then it is not among those that are counted.
    """

    periods: Sequence[Period]
    confusion: Confusion[int]
    alerts: int
    value: int
    rate: Estimate
    precision: Estimate
    recall: Estimate
    verdict: Verdict
    doubt: str

    @property
    def name(self) -> str:
        """Name of the period, or of the first and last one."""
        first, last = self.periods[0].name, self.periods[-1].name
        return first if first == last else f"{first} to {last}"

    @property
    def is_counted(self) -> bool:
        """Whether there are enough alerts and labels to count it."""
        return not self.doubt


def judged(
    counts: DayCounts, periods: Sequence[Period], calendar: Calendar, measure: Measure, confidence: float
) -> Judged:
    """Judge what was flagged in some periods that follow each other."""
    days = days_of(periods, calendar)
    total, by_day = counts.total(days), counts.by_day(days)
    alerts, every = int(counts.alerts[days].sum()), int(counts.every[days].sum())
    estimates = {
        rate: proportion_interval(*by_day.trials(rate), confidence, "days")
        for rate in {measure.rate, Rate.PRECISION, Rate.RECALL}
    }
    days_with_trials = int(np.count_nonzero(by_day.trials(measure.rate)[1]))
    doubt = _doubt(total, alerts, every, days_with_trials, measure)
    rate = estimates[measure.rate]
    return Judged(
        periods=periods,
        confusion=total,
        alerts=alerts,
        value=int(counts.value[days].sum()),
        rate=rate,
        precision=estimates[Rate.PRECISION],
        recall=estimates[Rate.RECALL],
        verdict=measure.undecided() if doubt else measure.verdict(rate),
        doubt=doubt,
    )


def _doubt(total: Confusion[int], alerts: int, every: int, days: int, measure: Measure) -> str:
    """Return why a period is undecided whatever its interval; empty if it is not."""
    labelled, of = total.selected, alerts
    rows = "alerts"
    if not measure.of_flagged and total.rows * of < labelled * every:
        labelled, of, rows = total.rows, every, "rows"
    if of and labelled < LEAST_LABELLED * of:
        return f"{percent(labelled / of)} of {rows} labelled, {percent(float(LEAST_LABELLED))} needed"
    number, what = total.trials(measure.rate)[1], TRIALS[measure.rate]
    if number < FEWEST_FLAGGED:
        return f"{counted(number, what)}, {FEWEST_FLAGGED} needed"
    if days < LEAST_DAYS:
        return f"{what}s on {counted(days, 'day')}, {LEAST_DAYS} needed"
    return ""


def days_of(periods: Sequence[Period], calendar: Calendar) -> slice:
    """Return the days of periods that follow each other."""
    first = max(calendar.day(periods[0].first), 0)
    return slice(first, min(calendar.day(periods[-1].last) + 1, calendar.days))


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedPolicy:
    """A policy, and what it did in each period that is counted.

    ``beside`` has the periods that are shown and not counted. ``usual`` is the range of the number of periods
    that meet the target in an unchanged world; empty without a target. ``correlation`` is that of two rows of
    one day, and ``effect`` the design effect of days.
    """

    policy: Policy
    calendar: Calendar
    measure: Measure
    spans: Sequence[Judged]
    beside: Sequence[Judged]
    usual: tuple[int, int] | tuple[()]
    correlation: float
    effect: float

    @cached_property
    def counted(self) -> Sequence[Judged]:
        """Those with enough alerts and labels."""
        return [span for span in self.spans if span.is_counted]

    @property
    def shown(self) -> Sequence[Judged]:
        """Counted periods and those beside them, in order."""
        return sorted([*self.spans, *self.beside], key=lambda span: span.periods[0].number)

    @property
    def met(self) -> int:
        """Counted periods whose rate meets the target."""
        return sum(self.measure.is_met(span.rate) for span in self.counted)

    @property
    def is_unusual(self) -> bool:
        """Whether the target was met in fewer or more periods than is usual."""
        return bool(self.usual) and not min(self.usual) <= self.met <= max(self.usual)

    def number(self, verdict: Verdict) -> int:
        """Number of counted periods with a verdict."""
        return sum(span.verdict is verdict for span in self.counted)

    @cached_property
    def total(self) -> Confusion[int]:
        """Labelled rows of all counted periods together."""
        names = ("rows", "positives", "selected", "true_positives")
        return Confusion(
            **{name: sum(getattr(span.confusion, name) for span in self.counted) for name in names}
        )

    @property
    def alerts(self) -> int:
        """Alerts of all counted periods together."""
        return sum(span.alerts for span in self.counted)

    def flags_as(self, other: JudgedPolicy) -> bool:
        """Whether it flags as many rows as another on each day, and as many right ones."""
        own, its = self.policy.counts, other.policy.counts
        return np.array_equal(own.alerts, its.alerts) and np.array_equal(
            own.true_positives, its.true_positives
        )

    def errors(self, spans: Sequence[Judged], rate: float) -> Matrix:
        """Return the errors of some periods by day, in an unchanged world (see ``errors_by_day``)."""
        return errors_by_day(
            *_trials(self.policy, spans, self.calendar, self.measure), rate, self.correlation
        )


def judge(policy: Policy, calendar: Calendar, measure: Measure, confidence: float, seed: int) -> JudgedPolicy:
    """Judge the periods of a policy, and compute how many of them meet the target in an unchanged world."""
    spans = [judged(policy.counts, span, calendar, measure, confidence) for span in calendar.spans()]
    beside = [
        replace(
            judged(policy.counts, [period], calendar, measure, confidence),
            verdict=Verdict.NONE,
            doubt=f"it is {period.standing.why}",
        )
        for period in calendar.periods
        if period.standing in (Standing.SEEN, Standing.PARTIAL)
    ]
    counted = [span for span in spans if span.is_counted]
    own = [policy.counts.by_day(days_of(span.periods, calendar)).trials(measure.rate) for span in counted]
    trials = [sizes for _, sizes in own]
    correlation = day_correlation([hits for hits, _ in own], trials)
    usual: tuple[int, int] | tuple[()] = ()
    if isinstance(measure, Target) and counted:
        usual = usual_counts(*_trials(policy, counted, calendar, measure), measure.bound, correlation, seed)
    return JudgedPolicy(
        policy=policy,
        calendar=calendar,
        measure=measure,
        spans=spans,
        beside=beside,
        usual=usual,
        correlation=correlation,
        effect=design_effect(trials, correlation) if counted else 1.0,
    )


def _trials(
    policy: Policy, spans: Sequence[Judged], calendar: Calendar, measure: Measure
) -> tuple[list[Ints], list[list[tuple[float, WindowTrials]]]]:
    """Return the trials of each period by day, and the windows of its rules with their shares of them."""
    trials, windows = [], []
    rule_of = {step.period: step.rule for step in policy.steps}
    for span in spans:
        of_span = np.zeros(calendar.days, dtype=np.int64)
        shares: dict[int, int] = {}
        for period in span.periods:
            days = days_of([period], calendar)
            of_span[days] = policy.counts.by_day(days).trials(measure.rate)[1]
            rule = rule_of[period.number]
            shares[rule] = shares.get(rule, 0) + int(of_span[days].sum())
        total = int(of_span.sum())
        windows.append(
            [
                (number / total, _on_window(policy, rule, measure))
                for rule, number in shares.items()
                if number and rule >= 0
            ]
        )
        trials.append(of_span)
    return trials, windows


def _on_window(policy: Policy, rule: int, measure: Measure) -> WindowTrials:
    """Return the trials of a rule on its window by day, and how far it was beyond the target there."""
    window, counts = policy.fits[rule].window, policy.fits[rule].counts
    inside = np.zeros(len(counts.rows), dtype=np.int64)
    days = slice(max(window.first, 0), window.end)
    hits, trials = counts.by_day(days).trials(measure.rate)
    inside[days] = trials
    total = int(trials.sum())
    surplus = 0.0
    if isinstance(measure, Target) and total:
        surplus = int(hits.sum()) / total - measure.bound
        surplus = -surplus if measure.is_upper else surplus
    return WindowTrials(trials=inside, surplus=surplus)

"""``uqcli backtest``: walk a rule through labelled history, and compare policies of replacing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from typing import Any, Final

import numpy as np

from uqcli.backtest import chance
from uqcli.backtest.capacity import flags_first
from uqcli.backtest.history import History, read_history
from uqcli.backtest.judge import JudgedPolicy, Measure, days_of, judge, measured_under
from uqcli.backtest.options import BacktestRequest
from uqcli.backtest.parts import parts_of
from uqcli.backtest.periods import Calendar, Period, Standing, Window, noun_of, periods_of, usual_length
from uqcli.backtest.policies import Policy, PolicyKind, Step, alarm_of, counts_on, steps_of
from uqcli.backtest.report import BacktestReport
from uqcli.backtest.results import Aged, Comparison, Next, Outcome, Trend
from uqcli.backtest.windows import WindowRule, counts_of, fit_window, no_flags
from uqcli.base.choices import EngineName
from uqcli.base.errors import DataError, InfeasibleError, UsageError, words
from uqcli.base.options import check_confidence
from uqcli.base.running.messages import caution, with_progress
from uqcli.base.wording import count, counted
from uqcli.boundary.capacity import in_groups, refuse_unranked, ties_in_words
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import promised_rates
from uqcli.engines.request import DataRequest
from uqcli.estimates.estimate import FEWEST_FLAGGED
from uqcli.estimates.proportion import holm
from uqcli.rules.labelled import refuse_keep
from uqcli.rules.result import Result

LEAST_PERIODS: Final = 2
"""Counted periods without which there is no history to speak of."""


MOST_PERIODS: Final = 2000
"""Periods that a history may have; with more, a date is mistyped."""


def run(request: BacktestRequest) -> Result[BacktestReport, None]:
    """Fit rules at the start of each period, measure them on all later days, and judge the policies."""
    check_confidence(request.confidence)
    refuse_keep(request.data.on_invalid)
    if request.data.engine is EngineName.SPARK:
        raise UsageError(
            words("backtest with --engine spark"),
            expected="the rows on one machine",
            remedy=words("save the columns that are read to Parquet, and use --engine polars"),
        )
    if request.top is not None:
        refuse_unranked(request.data, request.per)
    history = read_history(_data(request))
    calendar = _calendar(history, request)
    if request.top is None:
        policies = [
            policy for target in request.targets for policy in _of_rules(history, request, target, calendar)
        ]
        measure = measured_under(request.targets[0])
    else:
        policies, measure = [_of_capacity(history, request, calendar)], Measure()
    judgements = [judge(policy, calendar, measure, request.confidence, request.seed) for policy in policies]
    outcome = Outcome(
        calendar=calendar,
        every=policies[0].counts.by_period(calendar.starts).every.tolist(),
        measure=measure,
        policies=judgements,
        comparisons=_comparisons(judgements, request.seed),
        ageing=_ageing(policies[0], calendar, measure),
        next=_next(history, request, calendar, policies),
        trends=_trends(judgements[0], request.seed),
    )
    report = BacktestReport(
        source=history.source,
        parameters=_parameters(request, calendar),
        parts=parts_of(outcome, _first_rows(request), knows_model=request.periods.model_until is not None),
    )
    failure = None
    if request.top is None and not any(fit.rule for policy in policies for fit in policy.fits.values()):
        reasons = [fit.reason for policy in policies for fit in policy.fits.values()]
        failure = InfeasibleError(f"no period has a rule: {reasons[-1]}")
    return Result(report=report, artifact=None, failure=failure)


def _parameters(request: BacktestRequest, calendar: Calendar) -> dict[str, Any]:
    """Return the options in force."""
    targets = request.targets
    return {
        "day": request.periods.day,
        "every": calendar.every,
        "fit": request.periods.fit or None,
        "delay": request.periods.delay,
        "model_until": None if request.periods.model_until is None else str(request.periods.model_until),
        "constraint": {"kind": targets[0].kind, "value": targets[0].value} if targets else None,
        "margins": [float(target.margin) for target in targets],
        "certify": request.certify,
        "by": request.by,
        "capacity": None
        if request.top is None
        else {"top": request.top, "per": request.per or request.periods.day},
        "confidence": request.confidence,
        "seed": request.seed,
        "on_invalid": str(request.data.on_invalid),
    }


def _first_rows(request: BacktestRequest) -> str:
    """Return what is flagged without a rule, in words."""
    if request.top is None:
        return ""
    rows = "highest score" if request.top == 1 else f"{count(request.top)} highest scores"
    if request.per in (None, request.periods.day):
        return f"the {rows} of each day"
    return f"the {rows} of each {request.per} and day"


def _data(request: BacktestRequest) -> DataRequest:
    """Return the request for the rows, keyed by day, and by the groups."""
    data = request.data
    for target in request.targets:
        data = data.with_amounts(target.amounts)
    data = data.grouped_by(request.by).clustered_by(request.periods.day, days=True)
    if request.top is not None:
        data = data.without("uncertainty")
        if request.per not in (None, request.periods.day):
            data = replace(
                data, roles=replace(data.roles, keys=(*data.roles.keys, str(request.per)), per=request.per)
            )
    return data


def _calendar(history: History, request: BacktestRequest) -> Calendar:
    """Return the periods with what each counts for; too few to count are a DataError."""
    every = request.periods.every or usual_length(history.first, history.last)
    calendar = Calendar(
        every=every,
        first=history.first,
        last=history.last,
        periods=periods_of(every, history.first, history.last),
        fit=request.periods.fit,
        delay=request.periods.delay,
    )
    if len(calendar.periods) > MOST_PERIODS:
        raise DataError(
            words("{} periods from {} to {}", count(len(calendar.periods)), history.first, history.last),
            expected=f"at most {count(MOST_PERIODS)}",
            remedy=words("correct mistyped dates, or use longer periods with --every"),
        )
    first = 0 if request.top is not None else calendar.first_fitted
    standing = [_standing(period, calendar, history, first, request) for period in calendar.periods]
    periods = [replace(period, standing=its) for period, its in zip(calendar.periods, standing, strict=True)]
    if standing.count(Standing.COUNTED) < LEAST_PERIODS:
        raise _too_few(standing, every, history, request)
    return replace(calendar, periods=periods)


def _too_few(
    standing: Sequence[Standing], every: str, history: History, request: BacktestRequest
) -> DataError:
    """Return the error of too few periods to count, which says what they were counted after."""
    counted = standing.count(Standing.COUNTED)
    rows = " with rows" if Standing.EMPTY in standing else ""
    after, others = words(""), words("")
    if request.top is None:
        after = words(" after the first fit")
        if request.periods.fit or request.periods.delay:
            others = words(", a shorter --fit or --delay")
    if Standing.SEEN in standing:
        after, others = words(" after --model-until"), words(", an earlier --model-until if it is mistyped")
    return DataError(
        words(
            "{} whole {}{}{}{}, in a history from {} to {}",
            counted or "no", noun_of(every), "" if counted == 1 else "s", rows, after,
            history.first, history.last,
        ),
        expected=f"at least {LEAST_PERIODS}",
        remedy=words("use a longer history{}, or shorter periods with --every", others),
    )  # fmt: skip


def _standing(
    period: Period, calendar: Calendar, history: History, first: int, request: BacktestRequest
) -> Standing:
    if period.number < first:
        return Standing.FIT_ONLY
    if request.periods.model_until is not None and period.first <= request.periods.model_until:
        return Standing.SEEN
    start = history.every.start
    days = days_of([period], calendar)
    if start[days.stop] == start[days.start]:
        return Standing.EMPTY
    if period.last > calendar.last or period.first < calendar.first:
        return Standing.PARTIAL
    return Standing.COUNTED


def _of_rules(
    history: History, request: BacktestRequest, target: Constraint, calendar: Calendar
) -> list[Policy]:
    """Fit the rules under a constraint, and return the policies that use them."""
    without = (Standing.FIT_ONLY, Standing.EMPTY)
    numbers = [period.number for period in calendar.periods if period.standing not in without]
    fits = {
        number: fit_window(
            history, request, target, calendar.window_before(calendar.periods[number].first), number
        )
        for number in with_progress(numbers, "fitting", len(numbers))
    }
    nothing = counts_of(history, no_flags, target)
    kinds = [PolicyKind.FIRST, PolicyKind.AFTER_ALARM, PolicyKind.EACH]
    if not promised_rates(target):
        kinds.remove(PolicyKind.AFTER_ALARM)  # no rate is promised, so that nothing can be watched

    def alarms(number: int, start: int) -> int:
        return alarm_of(history, fits[number], calendar, start)

    policies = []
    for kind in kinds:
        steps = steps_of(kind, numbers, fits, alarms, calendar)
        policies.append(
            Policy(
                kind=kind,
                margin=f"{float(target.margin):g}",
                steps=steps,
                counts=counts_on(steps, fits, nothing, calendar),
                fits=fits,
            )
        )
    return policies


def _of_capacity(history: History, request: BacktestRequest, calendar: Calendar) -> Policy:
    """Return the policy that flags the first rows of each day, or of each value of a column."""
    per = None if request.per in (None, request.periods.day) else request.per
    assert request.top is not None
    flags, cuts = flags_first(history, request.top, per)
    for notice in ties_in_words(cuts, in_groups(cuts)):
        caution(notice.key, notice)
    counts = counts_of(history, flags, None)
    steps = [Step(period=period.number, rule=-1) for period in calendar.periods]
    return Policy(kind=PolicyKind.CAPACITY, margin="", steps=steps, counts=counts, fits={})


def _comparisons(policies: Sequence[JudgedPolicy], seed: int) -> list[Comparison]:
    """Compare the rates of all pairs of policies over the periods that count for both.

    The signs of the differences alone would tell two rules apart that were fitted on other days, and so are
    never quite equal. Policies differ if the errors of the fits are also too small for the difference.
    """
    found = []
    apart = [] if policies[0].measure.unit else _that_differ(policies)
    for first, second in combinations(apart, 2):
        pairs = [
            (one, other)
            for one, other in zip(first.spans, second.spans, strict=True)
            if one.is_counted and other.is_counted
        ]
        differences = [float(other.rate.value or 0) - float(one.rate.value or 0) for one, other in pairs]
        if not differences:
            continue
        rate, difference = _pooled([first, second]), float(np.mean(differences))
        errors = [
            policy.errors([pair[side] for pair in pairs], rate) for side, policy in enumerate((first, second))
        ]
        of_signs = chance.sign_flip_p(differences, seed)
        unchanged = chance.unchanged_p(difference, *errors)
        found.append(
            Comparison(
                first=first,
                second=second,
                periods=len(differences),
                difference=difference,
                p_signs=of_signs,
                p_unchanged=unchanged,
            )
        )
    adjusted = holm({number: each.p_value for number, each in enumerate(found)})
    return [replace(each, p_adjusted=adjusted[number]) for number, each in enumerate(found)]


def _that_differ(policies: Sequence[JudgedPolicy]) -> list[JudgedPolicy]:
    """Return the policies that flag other rows than those before them."""
    kept: list[JudgedPolicy] = []
    for policy in policies:
        if not any(policy.flags_as(other) for other in kept):
            kept.append(policy)
    return kept


def _pooled(policies: Sequence[JudgedPolicy]) -> float:
    """Return the rate of some policies together."""
    pairs = [policy.total.trials(policy.measure.rate) for policy in policies]
    return sum(hits for hits, _ in pairs) / max(sum(trials for _, trials in pairs), 1)


def _ageing(policy: Policy, calendar: Calendar, measure: Measure) -> list[Aged]:
    """Pool what all rules did in periods of the same age."""
    counted = np.array([period.standing is Standing.COUNTED for period in calendar.periods])
    by_age: dict[int, list[tuple[int, int]]] = {}
    for number, fit in policy.fits.items():
        if fit.rule is None:
            continue
        hits, trials = fit.counts.by_period(calendar.starts).by_day(slice(None)).trials(measure.rate)
        for later in (np.flatnonzero(counted[number:]) + number).tolist():
            by_age.setdefault(later - number + 1, []).append((int(hits[later]), int(trials[later])))
    return [
        Aged(
            age=age,
            rules=len(pairs),
            successes=sum(hits for hits, _ in pairs),
            trials=sum(trials for _, trials in pairs),
        )
        for age, pairs in sorted(by_age.items())
    ]


def _trends(policy: JudgedPolicy, seed: int) -> list[Trend]:
    """Test the rates of the first rule for a trend."""
    rates = [float(span.rate.value or 0) for span in policy.counted]
    if policy.policy.kind is not PolicyKind.FIRST or len(rates) < chance.LEAST_FOR_TREND:
        return []
    score, p_value = chance.mann_kendall_p(rates)
    power = chance.trend_power(len(rates), seed)
    return [Trend(periods=len(rates), score=score, p_value=p_value, power=power)]


def _next(history: History, request: BacktestRequest, calendar: Calendar, policies: Sequence[Policy]) -> Next:
    """Say between which precisions a rule fitted now may be in the next period, or why that is not known."""
    if request.certify is not None:
        return Next(reason="a certified rule expects nothing")
    policy, realised, alerts = policies[0], list[float](), list[int]()
    for period in calendar.periods:
        if period.standing is not Standing.COUNTED:
            continue
        expected = _expected(
            policy, calendar.window_before(period.first), period.number, calendar.first_fitted
        )
        own = policy.fits.get(period.number)
        first = (own.counts if own else policy.counts).total(days_of([period], calendar))
        if expected is not None and first.selected >= FEWEST_FLAGGED:
            realised.append(first.true_positives / first.selected - expected)
            alerts.append(first.selected)
            last = period
    if len(realised) < chance.LEAST_FOR_RANGE:
        periods = counted(len(realised), noun_of(calendar.every))
        return Next(
            reason=f"only {periods} can be compared with what was expected, {chance.LEAST_FOR_RANGE} needed"
        )
    fit = _fitted_now(history, request, calendar, policy)
    expected = _expected(replace(policy, fits={fit.period: fit}), fit.window, fit.period)
    if expected is None:
        return Next(reason="no rule is found on the newest days")
    days = days_of([last], calendar)
    if 2 * fit.counts.total(days).selected < np.median(alerts):
        return Next(reason="a rule fitted now flags fewer than half of the usual alerts")
    low, high, coverage = chance.next_range(expected, realised)
    return Next(expected=expected, low=low, high=high, coverage=coverage, periods=len(realised))


def _expected(policy: Policy, window: Window, number: int, first: int = 0) -> float | None:
    """Return the precision that was expected of the rule of a period; of first rows, that on its window."""
    if policy.kind is PolicyKind.CAPACITY:
        if number < first:
            return None
        return policy.counts.total(slice(max(window.first, 0), max(window.end, 0))).precision
    return policy.fits[number].expected_precision


def _fitted_now(history: History, request: BacktestRequest, calendar: Calendar, policy: Policy) -> WindowRule:
    """Fit a rule on the newest days; first rows need no rule."""
    period = len(calendar.periods)
    window = calendar.window_before(calendar.last + timedelta(days=1))
    if policy.kind is PolicyKind.CAPACITY:
        return WindowRule(period=period, window=window, rule=None, counts=policy.counts)
    return fit_window(history, request, request.targets[0], window, period)

"""What each part of a walk through a history says, from its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from uqcli.backtest import chance
from uqcli.backtest.figure import figure_by_age, figure_by_period
from uqcli.backtest.judge import LEAST_DAYS, LEAST_LABELLED, Judged, JudgedPolicy, Measure, Target, Verdict
from uqcli.backtest.keys import date_of_day, metrics_of, name_of, policy_keys, rule_keys, triangle
from uqcli.backtest.names import RATES, Names
from uqcli.backtest.periods import Period, Standing
from uqcli.backtest.policies import PolicyKind
from uqcli.backtest.report import Remark
from uqcli.backtest.results import Comparison, Outcome, Trend
from uqcli.base.notices import Notice
from uqcli.base.wording import (
    capitalised,
    count,
    counted,
    first_of,
    formatted,
    in_points,
    listed,
    percent,
    percents,
    points,
    rounded_money,
)
from uqcli.estimates.estimate import FEWEST_FLAGGED, Estimate, interval
from uqcli.reports.document import KeyNumber, Table
from uqcli.reports.document import Verdict as Judgement

LEVEL: Final = 0.05
"""Corrected p-value from which on policies are said to differ."""


def parts_of(outcome: Outcome, first_rows: str, *, knows_model: bool) -> list[Remark]:
    """Return the parts of the report."""
    names = Names(outcome, first_rows)
    parts = [
        _answer(outcome, names),
        _policies(outcome, names),
        _periods(outcome, names),
        _comparisons(outcome, names),
        _rules(outcome, names),
        _next(outcome, names),
        _figures(outcome, names),
    ]
    if outcome.ageing:
        parts.append(_ageing(outcome, names))
    parts += [_trend(trend, names) for trend in outcome.trends]
    if not knows_model:
        parts.append(_MODEL)
    return parts


_MODEL: Final = Remark(
    said=[
        (
            "scores-at-the-time",
            Notice(
                "scores-at-the-time",
                "The scores must be those that the model gave at the time. If it was trained on rows of this "
                "history, add --model-until DATE, so that no period up to that day is counted.",
            ),
        )
    ]
)


def _answer(outcome: Outcome, names: Names) -> Remark:
    """Say in how many periods the target was met; without one, what the rate was."""
    first = next((each for each in outcome.policies if each.counted), outcome.policies[0])
    others = [each for each in outcome.policies if each is not first and each.counted]
    number = len(first.counted)
    fits = [fit for judged in outcome.policies for fit in judged.policy.fits.values()]
    if fits and not any(fit.rule for fit in fits):
        return Remark(
            said=[("nothing-counted", f"No rule is found for any {names.unit}: {fits[-1].reason}.")]
        )
    if not number:
        counted, together = len(outcome.calendar.counted), outcome.calendar.together
        reason = f"{count(together)} are judged together, and only {count(counted)} can be counted"
        if first.spans:
            reason = f"{first.spans[-1].name} has {first.spans[-1].doubt}"
        return Remark(said=[("nothing-counted", f"No {names.unit} can be judged: {reason}.")])
    measure = outcome.measure
    if not first.usual or not isinstance(measure, Target):
        return _measured(first, measure, names)
    return _met(outcome, first, others, names)


def _met(outcome: Outcome, first: JudgedPolicy, others: Sequence[JudgedPolicy], names: Names) -> Remark:
    """Say how often the target was met, beside what is usual."""
    (low, high), number = first.usual or (0, 0), len(first.counted)
    sentence = (
        f"{capitalised(names.policy(first))} met the target of {outcome.measure.text} in {first.met} of "
        f"{names.spans(number)}; without any change {_range(low, high)} would be usual."
    )
    said: list[tuple[str, Any]] = [("met", sentence)]
    told = [
        f"{names.policy(other)} in {other.met} of {len(other.counted)} (usual: {_range(*other.usual)})"
        for other in others
        if other.usual
    ]
    if told and len(told) <= _MOST_TOLD:
        said.append(("others", f"{capitalised(listed(told))}."))
    if low == 0 and high == number:
        said.append(("beyond-chance", "This count tells nothing, since any count would be usual."))
    beyond = [each for each in outcome.policies if each.is_unusual]
    if beyond:
        which = listed(map(names.policy, beyond))
        changed = f"That is outside the usual range for {which}: the rows have changed since the fit."
        said.append(("beyond-chance", changed))
    said += _left_out(first, names)
    form = ".0f" if first.effect >= 10 else ".1f"
    said.append(
        (
            "about-met",
            f"The usual range covers {100 * (1 - chance.LEVEL):g} % of histories in which nothing changes: "
            "the rule differs from its target as much as its days of fit allow, and each period as much as "
            f"its days do (design effect of a day {first.effect:{form}}).",
        )
    )
    return Remark(said=[*said, ("verdict", Judgement(text=f"target met in {first.met} of {number}"))])


def _left_out(judged: JudgedPolicy, names: Names) -> list[tuple[str, Any]]:
    """Say how many periods cannot be counted."""
    left = [span for span in judged.spans if not span.is_counted]
    if not left:
        return []
    why = listed(dict.fromkeys(span.doubt for span in left)) if len(left) < _MOST_TOLD else ""
    return [
        ("left-out", f"{names.spans(len(left))} cannot be counted ({why or 'too few alerts or labels'}).")
    ]


def _range(low: int, high: int) -> str:
    return f"{low} to {high}" if low < high else f"{low}"


def _measured(first: JudgedPolicy, measure: Measure, names: Names) -> Remark:
    """Say what the rate was, without a target, or what the flagged rows were worth."""
    if measure.unit:
        worth = [(measure.worth(span.value), span.name) for span in first.counted]
        (least, worst), (most, best) = min(worth), max(worth)
        extremes = f"from {rounded_money(least)} ({worst}) to {rounded_money(most)} ({best})"
        sentence = (
            f"{capitalised(names.policy(first))} was worth "
            f"{rounded_money(sum(value for value, _ in worth))} over {names.spans(len(worth))}"
            f"{_of_several(worth, extremes)}."
        )
        return Remark(said=[("measured", sentence), ("verdict", Judgement(text="no target"))])
    rates = [(float(span.rate.value), span.name) for span in first.counted if span.rate.value is not None]
    (low, worst), (high, best) = min(rates), max(rates)
    total = first.total.precision
    shown = percents(low, float(total or 0), high)
    sentence = (
        f"{capitalised(names.policy(first))}: precision {shown[1]} % over {names.spans(len(rates))}"
        f"{_of_several(rates, f'from {shown[0]} % ({worst}) to {shown[2]} % ({best})')}."
    )
    return Remark(said=[("measured", sentence), ("verdict", Judgement(text="no target"))])


def _of_several(measured: Sequence[tuple[float, str]], extremes: str) -> str:
    """Return the extremes of several periods, after a comma; a single one has none."""
    return f", {extremes}" if len(measured) > 1 else f" ({measured[0][1]})"


def _policies(outcome: Outcome, names: Names) -> Remark:
    """Measure each policy over all periods."""
    header = ["", *(("met", "usual", "kept", "missed", "undecided") if outcome.measure.is_target else ())]
    header += ["precision", "recall", "alerts"]
    has_worth = outcome.measure.unit > 0
    if has_worth:
        header.append("value")
    rows, metrics, keys = [], dict[str, Any](), []
    for judged in outcome.policies:
        total, values = judged.total, metrics_of(judged)
        cells = [names.short(judged)]
        if outcome.measure.is_target:
            usual = _range(*judged.usual) if judged.usual else "-"
            cells += [f"{judged.met} of {len(judged.counted)}", usual]
            cells += [count(judged.number(each)) for each in (Verdict.KEPT, Verdict.MISSED)]
            cells.append(count(judged.number(Verdict.UNDECIDED)))
        cells += [percent(total.precision), percent(total.recall), count(judged.alerts)]
        if has_worth:
            cells.append(rounded_money(values["value"]))
        rows.append(cells)
        for kind, its in names.metrics(judged, values).items():
            metrics[kind] = {**metrics.get(kind, {}), **its}
        keys.append(policy_keys(outcome, judged, values))
    metrics["periods"] = len(outcome.policies[0].spans)
    metrics["alerts"] = outcome.policies[0].alerts
    said: list[tuple[str, Any]] = []
    if len(outcome.policies) > 1:
        said.append(("about-policies", _ABOUT_POLICIES))
    if outcome.measure.is_target:
        said.append(("about-verdicts", _about_verdicts(names)))
    missing = [judged for judged in outcome.policies if judged.policy.without_rule]
    if missing:
        number = missing[0].policy.without_rule
        said.append(
            (
                "no-rule",
                Notice(
                    "periods-without-rule",
                    f"No rule was found for {names.units(number)}: the one before stayed, or nothing was "
                    "flagged.",
                ),
            )
        )
    watched = [each.policy for each in outcome.policies if each.policy.kind is PolicyKind.AFTER_ALARM]
    if watched:
        days = [date_of_day(outcome, step.alarm) for step in watched[0].steps if step.alarm >= 0]
        when = f"watch would have raised an alarm on {first_of(days, 3)}" if days else "no alarm was raised"
        said.append(("alarms", f"{capitalised(when)}."))
    elif len(rows) > 1:
        said.append(
            ("no-watch", "The target is no rate that watch can test, so no policy waits for an alarm.")
        )
    table = Table(title="Policies over the counted periods", header=header, rows=rows)
    return Remark(said=said, measured=metrics, keys={"policies": keys}, shown=[("policies", table)])


_ABOUT_POLICIES: Final = (
    "No policy is named the best by its count, since the best of several that are equal looks better than "
    "it is. An alarm is that of watch with its defaults, run day by day with the labels that were there."
)


def _about_verdicts(names: Names) -> str:
    unit = capitalised(names.unit)
    return (
        f"A {names.unit} is kept or missed if its interval by days lies wholly on one side of the target, "
        f"and undecided otherwise. {unit}s with fewer than {FEWEST_FLAGGED} alerts, alerts on fewer than "
        f"{LEAST_DAYS} days, or labels for less than {percent(float(LEAST_LABELLED))} of the flagged rows "
        "are not counted."
    )


def _periods(outcome: Outcome, names: Names) -> Remark:
    """Tabulate the periods, and say which are not counted."""
    calendar, policies = outcome.calendar, outcome.policies
    header = (names.unit, "rows", *map(names.short, policies))
    rows = []
    for number, span in enumerate(policies[0].shown):
        every = sum(outcome.every[period.number] for period in span.periods)
        rows.append(
            (span.name, count(every), *(_cell(judged.shown[number], outcome.measure) for judged in policies))
        )
    what = RATES[outcome.measure.rate]
    what = "value" if outcome.measure.unit else what
    title = f"{what[:1].upper()}{what[1:]} by {names.unit}"
    table = Table(title=title, header=header, rows=rows)
    if len(policies) > _MOST_COLUMNS or len(rows) > _MOST_ROWS:
        columns, newest = 2 + _MOST_COLUMNS, rows[-_MOST_ROWS:]
        if len(rows) > _MOST_ROWS:
            title += f" (the newest {_MOST_ROWS} of {count(len(rows))})"
        if len(policies) > _MOST_COLUMNS:
            title += f", {_MOST_COLUMNS} of {len(policies)} policies"
        shown = [row[:columns] for row in newest]
        table = replace(table, brief=replace(table, title=title, header=header[:columns], rows=shown))
    said: list[tuple[str, Any]] = []
    left = []
    for standing in (Standing.FIT_ONLY, Standing.SEEN, Standing.EMPTY, Standing.PARTIAL):
        found = [period for period in calendar.periods if period.standing is standing]
        if found:
            left.append(f"{_listing(found)} ({standing.why})")
    if left:
        said.append(("not-counted", f"Not counted: {listed(left)}."))
    doubts = [(judged, span) for judged in policies for span in judged.spans if span.doubt]
    said += [
        ("undecided", f"{capitalised(names.policy(judged))} in {span.name}: {span.doubt}.")
        for judged, span in doubts[:_MOST_DOUBTS]
    ]
    if len(doubts) > _MOST_DOUBTS:
        said.append(("undecided", f"{count(len(doubts) - _MOST_DOUBTS)} more are in the JSON report."))
    keys = [
        {
            "name": period.name,
            "first": str(period.first),
            "last": str(period.last),
            "rows": rows_of_period,
            "standing": str(period.standing),
        }
        for period, rows_of_period in zip(calendar.periods, outcome.every, strict=True)
    ]
    return Remark(said=said, keys={"periods": keys}, shown=[("periods", table)])


_MOST_PAIRS: Final = 2
"""Differences of policies that a sentence tells."""

_MOST_TOLD: Final = 3
"""Policies beside the first whose counts a sentence tells; the table has those of all."""

_MOST_DOUBTS: Final = 6
_MOST_ROWS: Final = 7
"""Periods that a terminal shows, the newest ones."""

_MOST_COLUMNS: Final = 3
"""Policies whose rates a terminal shows side by side."""


def _listing(periods: Sequence[Period]) -> str:
    """List periods, those that follow each other by the first and the last one."""
    runs: list[list[Period]] = []
    for period in periods:
        if runs and period.number == runs[-1][-1].number + 1:
            runs[-1].append(period)
        else:
            runs.append([period])
    texts = [run[0].name if len(run) == 1 else f"{run[0].name} to {run[-1].name}" for run in runs]
    return first_of(texts, _MOST_DOUBTS)


def _cell(span: Judged, measure: Measure) -> str:
    """Format the rate of a period with its verdict; where flagged rows have a value, that."""
    if measure.unit:
        return rounded_money(measure.worth(span.value))
    if span.doubt:
        return f"{percent(span.rate.value)} ({span.doubt.partition(',')[0].removeprefix('it is ')})"
    verdict = "" if span.verdict in (Verdict.NONE, Verdict.UNDECIDED) else f" {span.verdict}"
    return f"{interval(span.rate)}{verdict}"


def _comparisons(outcome: Outcome, names: Names) -> Remark:
    """Say whether policies differ, without naming the best."""
    keys = [
        {
            "first": str(each.first.policy.kind),
            "first_margin": each.first.policy.margin,
            "second": str(each.second.policy.kind),
            "second_margin": each.second.policy.margin,
            "periods": each.periods,
            "difference": each.difference,
            "p_signs": each.p_signs,
            "p_unchanged": each.p_unchanged,
            "p": each.p_value,
            "p_adjusted": each.p_adjusted,
        }
        for each in outcome.comparisons
    ]
    if not outcome.comparisons:
        return Remark(keys={"comparisons": keys})
    what = RATES[outcome.measure.rate]
    differing = [each for each in outcome.comparisons if each.p_adjusted < LEVEL]
    if differing:
        told = [_difference(each, names, what) for each in differing[:_MOST_PAIRS]]
        if len(differing) > _MOST_PAIRS:
            told.append(f"so it is with {len(differing) - _MOST_PAIRS} other pairs")
        sentence = f"{capitalised(listed(told))}."
    else:
        most = max(each.periods for each in outcome.comparisons)
        simplest = names.policy(outcome.policies[0])
        spans = f"These {names.spans(most)}" if most > 1 else f"A single {names.span} that counts for both"
        sentence = f"{spans} cannot tell the policies apart; the simplest is {simplest}."
    rows = [
        (
            f"{names.short(each.second)} less {names.short(each.first)}",
            points(each.difference),
            f"{each.p_value:.3g}",
            f"{each.p_adjusted:.3g}",
            f"{each.second.alerts - each.first.alerts:+,}",
            f"{each.second.total.true_positives - each.first.total.true_positives:+,}",
        )
        for each in outcome.comparisons
    ]
    table = Table(
        title=f"Paired differences of {what} (p: sign-flip test, and errors of the fits; corrected by Holm)",
        header=("", "difference", "p", "corrected", "alerts", "positives found"),
        rows=rows,
        detail=True,
    )
    return Remark(said=[("compared", sentence)], keys={"comparisons": keys}, shown=[("comparisons", table)])


def _difference(each: Comparison, names: Names, what: str) -> str:
    """Say how two policies differ."""
    higher = "higher" if each.difference > 0 else "lower"
    alerts = each.second.alerts - each.first.alerts
    return (
        f"{names.policy(each.second)} had a {what} {in_points(abs(each.difference))} {higher} than "
        f"{names.policy(each.first)} (p = {each.p_adjusted:.2g}), with {count(abs(alerts))} "
        f"{'more' if alerts > 0 else 'fewer'} alerts"
    )


def _rules(outcome: Outcome, names: Names) -> Remark:
    """List the rules, and what each did in the periods after its fit."""
    keys, cells, rows = [], list[Mapping[str, Any]](), []
    for margin, policy in {judged.policy.margin: judged.policy for judged in outcome.policies}.items():
        cells += triangle(outcome, margin, policy)
        for number, fit in policy.fits.items():
            keys.append(rule_keys(outcome, margin, number, fit))
            thresholds = fit.rule.thresholds if fit.rule else ()
            found = ", ".join(formatted(each, ".4g") for each in thresholds) or fit.reason
            if fit.rule and fit.rule.group_rules:
                found += f", and those of {len(fit.rule.group_rules)} groups"
            expected = percent(fit.expected_precision)
            days = "{first_day} to {last_day}".format_map(keys[-1])
            rows.append((name_of(outcome, number), margin, days, expected, found))
    if not keys:
        return Remark(keys={"rules": keys, "triangle": cells})
    table = Table(
        title="Rules by the period from whose start they decide",
        header=(names.unit, "margin", "fitted on", "expected precision", "score thresholds"),
        rows=rows,
        detail=True,
    )
    return Remark(keys={"rules": keys, "triangle": cells}, shown=[("rules", table)])


def _ageing(outcome: Outcome, names: Names) -> Remark:
    """Say how rules age: the rate of all rules in periods of one age."""
    ageing, what = outcome.ageing, RATES[outcome.measure.rate]
    keys = [
        {
            "age": each.age,
            "rules": each.rules,
            "successes": each.successes,
            "trials": each.trials,
            "rate": each.rate,
        }
        for each in ageing
    ]
    young, old = ageing[0], [each for each in ageing if each.rules >= _FEWEST_RULES][-1:] or ageing[-1:]
    if young.rate is None or old[0].rate is None or old[0] is young:
        return Remark(keys={"ageing": keys})
    shown = percents(young.rate, old[0].rate)
    sentence = (
        f"The {what} of all rules was {shown[0]} % in the first {names.unit} after their fit, and "
        f"{shown[1]} % in {names.unit} {old[0].age} ({counted(old[0].rules, 'rule')})."
    )
    return Remark(said=[("ageing", sentence)], keys={"ageing": keys})


_FEWEST_RULES: Final = 3
"""Rules below which the rate at an age is not told."""


def _trend(trend: Trend, names: Names) -> Remark:
    """Say whether the rates of the first rule rise or fall."""
    way = "rises" if trend.score > 0 else "falls"
    shown = f"p = {trend.p_value:.2g}"
    power = (
        f"a trend of {chance.TREND:g} standard deviations a {names.span} would be found in "
        f"{percent(trend.power)} of such histories"
    )
    if trend.p_value <= chance.LEVEL:
        periods = names.spans(trend.periods)
        sentence = f"The rate of the first rule {way} over its {periods} (Mann-Kendall test, {shown})."
    else:
        sentence = f"No trend of the first rule is shown ({shown}), but {power}."
    keys = {"periods": trend.periods, "s": trend.score, "p": trend.p_value, "power": trend.power}
    return Remark(said=[("trend", sentence)], keys={"trend": keys})


def _next(outcome: Outcome, names: Names) -> Remark:
    """Say what the next period may bring, or why that is not known."""
    following = outcome.next
    has_trend = any(trend.p_value <= chance.LEVEL for trend in outcome.trends)
    keys: dict[str, Any]
    if following.reason:
        keys = {
            "expected": None,
            "low": None,
            "high": None,
            "coverage": None,
            "periods": None,
            "reason": following.reason,
        }
        sentence = f"There is no range for the next {names.unit}: {following.reason}."
        return Remark(said=[("about-next", sentence)], keys={"next": keys})
    expected, low, high = percents(following.expected, following.low, following.high)
    first = outcome.policies[0]
    now = f"A rule fitted now expects precision {expected} %, and may have"
    if first.policy.kind is PolicyKind.CAPACITY:  # there is no rule
        now = f"The precision of {names.policy(first)} has been {expected} %, and may be"
    sentence = (
        f"{now} {low} to {high} % in the next {names.unit}. Such a range, from the surprises of "
        f"{names.units(following.periods)}, covers the next one in {percent(following.coverage)} of cases "
        f"if there is no trend and no spell of bad {names.unit}s"
        f"{', and a trend is shown here' if has_trend else ''}."
    )
    keys = {
        "expected": following.expected,
        "low": following.low,
        "high": following.high,
        "coverage": following.coverage,
        "periods": following.periods,
        "reason": None,
    }
    measured = {"next": Estimate(value=following.expected, low=following.low, high=following.high)}
    return Remark(said=[("next", sentence)], keys={"next": keys}, measured=measured)


def _figures(outcome: Outcome, names: Names) -> Remark:
    """Draw the periods of each policy, and how rules age."""
    what = RATES[outcome.measure.rate]
    shown = [
        ("by-period", figure_by_period(outcome, what, [*map(names.policy, outcome.policies)], names.unit))
    ]
    if len(outcome.ageing) > 1:
        shown.append(("by-age", figure_by_age(outcome, what, names.unit)))
    first = outcome.policies[0]
    numbers = (
        [
            KeyNumber(
                label="met",
                value=f"{first.met} of {len(first.counted)}",
                interval=f"usual {_range(*first.usual)}",
            )
        ]
        if first.usual
        else []
    )
    numbers += [
        KeyNumber(label="precision", value=percent(first.total.precision)),
        KeyNumber(label="alerts", value=count(first.alerts)),
    ]
    return Remark(said=[("numbers", number) for number in numbers], shown=shown)

"""JSON forms of policies, rules and the triangle of each rule in each later period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from uqcli.backtest.judge import Judged, JudgedPolicy, Measure, Verdict
from uqcli.backtest.policies import Policy
from uqcli.backtest.results import Outcome
from uqcli.backtest.windows import WindowRule
from uqcli.reports.document import plain


def policy_keys(outcome: Outcome, judged: JudgedPolicy, measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy with what was measured of it, its path and its periods; first rows have no path."""
    policy = judged.policy
    path = [
        {
            "period": name_of(outcome, step.period),
            "rule": name_of(outcome, step.rule) if step.rule >= 0 else None,
            "found": step.found,
            "alarm": date_of_day(outcome, step.alarm) if step.alarm >= 0 else None,
        }
        for step in policy.steps
        if policy.fits
    ]
    return {
        "policy": str(policy.kind),
        "margin": policy.margin,
        **measured,
        "path": path,
        "periods": [_span(span, judged.measure) for span in judged.shown],
    }


def metrics_of(judged: JudgedPolicy) -> dict[str, Any]:
    """Return the metrics of a policy over all its periods."""
    low, high = judged.usual or (None, None)
    total = judged.total
    values: dict[str, Any] = {
        "met": judged.met if judged.measure.is_target else None,
        "counted": len(judged.counted),
        "usual_low": low,
        "usual_high": high,
        "below_usual": int(judged.met < judged.usual[0]) if judged.usual else None,
        "kept": judged.number(Verdict.KEPT),
        "missed": judged.number(Verdict.MISSED),
        "undecided": judged.number(Verdict.UNDECIDED),
        "not_counted": len(judged.spans) - len(judged.counted),
        "without_rule": judged.policy.without_rule,
        "alerts": judged.alerts,
        "true_positives": total.true_positives,
        "precision": total.precision,
        "recall": total.recall,
        "design_effect": judged.effect,
    }
    if judged.measure.unit:
        values["value"] = judged.measure.worth(sum(span.value for span in judged.counted))
    return values


def _span(span: Judged, measure: Measure) -> dict[str, Any]:
    values: dict[str, Any] = {
        "period": span.name,
        "alerts": span.alerts,
        "labelled": span.confusion.selected,
        "true_positives": span.confusion.true_positives,
        "positives": span.confusion.positives,
        "rate": span.rate,
        "precision": span.precision,
        "recall": span.recall,
        "verdict": None if span.verdict is Verdict.NONE else str(span.verdict),
        "reason": span.doubt or None,
    }
    if measure.unit:
        values["value"] = measure.worth(span.value)
    return plain(values)


def name_of(outcome: Outcome, period: int) -> str:
    """Return the name of a period."""
    return outcome.calendar.periods[period].name


def date_of_day(outcome: Outcome, day: int) -> str:
    """Return the date of a day by its number."""
    return str(outcome.calendar.first + timedelta(days=day))


def rule_keys(outcome: Outcome, margin: str, number: int, fit: WindowRule) -> dict[str, Any]:
    """Return the rule of a period, or why there is none."""
    rule, window = fit.rule, fit.window
    found = (
        {
            "rows": rule.fit.rows,
            "positives": rule.fit.positives,
            "uncertainty_edges": list(rule.uncertainty_edges),
            "thresholds": list(rule.thresholds),
            "groups": {name: list(own.thresholds) for name, own in rule.group_rules.items()} or None,
        }
        if rule
        else dict.fromkeys(("rows", "positives", "uncertainty_edges", "thresholds", "groups"))
    )
    return {
        "period": name_of(outcome, number),
        "margin": margin,
        "first_day": date_of_day(outcome, max(window.first, 0)),
        "last_day": date_of_day(outcome, max(window.end - 1, 0)),
        "found": bool(rule),
        "reason": fit.reason or None,
        **found,
        "expected_precision": fit.expected_precision,
    }


def triangle(outcome: Outcome, margin: str, policy: Policy) -> Iterator[dict[str, Any]]:
    """Yield what each rule did in its own period and all later ones."""
    periods, starts = outcome.calendar.periods, outcome.calendar.starts
    for number, fit in policy.fits.items():
        counts = fit.counts.by_period(starts)
        hits, trials = counts.by_day(slice(None)).trials(outcome.measure.rate)
        for later in range(number, len(periods)) if fit.rule else ():
            yield {
                "rule": name_of(outcome, number),
                "margin": margin,
                "period": periods[later].name,
                "age": later - number + 1,
                "alerts": int(counts.alerts[later]),
                "labelled": int(counts.flagged[later]),
                "true_positives": int(counts.true_positives[later]),
                "positives": int(counts.positives[later]),
                "rate": int(hits[later]) / int(trials[later]) if trials[later] else None,
            }

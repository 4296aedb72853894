"""Metrics of probabilities before and after calibration, as tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import (
    capitalised,
    count,
    formatted,
    or_dash,
    percent,
    points,
    printable,
    probability,
    told_apart,
)
from uqcli.estimates.calibration_error import MANY_REJECTED
from uqcli.estimates.estimate import Estimate, direction, ends_of
from uqcli.estimates.survey import FEW_CLUSTERS
from uqcli.reports.document import HeadCard, KeyNumber, Metrics, MetricValue, Table, Verdict


class _Shown(NamedTuple):
    """How a metric is shown: kind and meaning, its name in a ranking, and at the head of a page if any."""

    key: str
    kind: str
    meaning: str
    ranked: str
    label: str = ""


_SHOWN: Final = (
    _Shown("log_loss", "proper scores", "mean negative log likelihood, nats", "log loss", "log loss"),
    _Shown("brier", "proper scores", "mean squared error", "Brier"),
    _Shown("auc", "discrimination", "how often a positive row has the higher score", "AUC"),
    _Shown("average_precision", "discrimination", "mean precision over the recall", "AP"),
    _Shown("ece", "calibration", "mean |rate - mean score|, equispaced bins", "ECE", "mean error (ECE)"),
    _Shown("ace", "calibration", "as ece, on quantile bins", "ACE"),
    _Shown(
        "tce",
        "calibration",
        "share of predictions that the test rejects, %",
        "TCE",
        "scores significantly wrong (TCE)",
    ),
)
_KEY_METRICS: Final = {shown.key: shown.label for shown in _SHOWN if shown.label}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Metrics before, after, and after minus before; paired intervals if the rows were resampled.

    ``by_class`` has the metrics of each class against the rest, before and after; empty for one score.
    """

    before: Metrics
    after: Metrics
    difference: Metrics
    by_class: Sequence[tuple[Metrics, Metrics]] = ()

    def metrics(self) -> Metrics:
        """Return the metrics by key."""
        return {"before": self.before, "after": self.after, "difference": self.difference}


BEFORE_AFTER = ("before", "after", "after - before")


def comparison_table(title: str, compared: Comparison, sides: Sequence[str] = BEFORE_AFTER) -> Table:
    """Build a table with one line per metric; ``sides`` name both sides and their difference."""
    rows = [
        (
            name,
            _format(compared.before[name], name),
            _format(compared.after[name], name),
            _format(compared.difference[name], name, interval=True),
        )
        for name, *_ in _SHOWN
        if name in compared.before
    ]
    return Table(title=title, header=("metric", *sides), rows=rows)


def class_table(classes: Sequence[str], compared: Comparison) -> Table:
    """Build a table with one line per class, each against the rest, before and after."""
    names = ("brier", "ece", "tce")
    rows = [
        (printable(label), *(_format(side[name], name) for name in names for side in (before, after)))
        for label, (before, after) in zip(classes, compared.by_class, strict=True)
    ]
    header = ("class", *(part for name in names for part in (name, "after")))
    return Table(title="Each class against the rest, before and after", header=header, rows=rows, detail=True)


def meanings_table() -> Table:
    """Build the table of the metrics' meanings."""
    kinds = [""] + [shown.kind for shown in _SHOWN]
    rows = [
        ("" if shown.kind == before else shown.kind, shown.key, shown.meaning)
        for before, shown in zip(kinds, _SHOWN, strict=False)
    ]
    return Table(title="", header=("", "metric", "meaning"), rows=rows, left=3, detail=True)


def ranked_table(title: str, name_header: str, compared: Sequence[tuple[str, Comparison]]) -> Table:
    """Rank several calibrators by log loss in one table, with the uncalibrated scores among them.

    Parameters
    ----------
    compared
        Names and comparisons on the same rows, or on the same labels.
    """
    before_lines = [(f"before ({name})", comparison) for name, comparison in compared]
    before_values = [tuple(map(value_of, comparison.before.values())) for _, comparison in compared]
    if len(set(before_values)) == 1:
        before_lines = [("(before)", before_lines[0][1])]
    lines = [(name, comparison.after) for name, comparison in compared] + [
        (name, comparison.before) for name, comparison in before_lines
    ]
    shown_metrics = [shown for shown in _SHOWN if shown.key in lines[0][1]]
    rows = [
        (name, *(_format(metrics[shown.key], shown.key, sign="") for shown in shown_metrics))
        for name, metrics in sort_by_log_loss(lines)
    ]
    return Table(title=title, header=(name_header, *(shown.ranked for shown in shown_metrics)), rows=rows)


def losses_without_interval(compared: Sequence[tuple[str, Comparison]]) -> list[str]:
    """Name the calibrators whose log loss has no interval, if others have one: single rows decide it."""
    without = [name for name, comparison in compared if not _has_interval(comparison.after["log_loss"])]
    if not without or len(without) == len(compared):
        return []
    return [
        f"{', '.join(without)}: single rows decide the log loss, so it has no interval; use the Brier score."
    ]


def lowest_brier(compared: Sequence[tuple[str, Comparison]], advice: str) -> list[str]:
    """Name the calibrator with the lowest Brier score if another has the lowest log loss, with advice."""
    by_loss, by_brier = (_lowest(compared, metric) for metric in ("log_loss", "brier"))
    if by_loss is None or by_brier is None or by_loss == by_brier:
        return []
    after = {name: probability(value_of(comparison.after["brier"])) for name, comparison in compared}
    return [
        f"{by_brier} has the lowest Brier score ({after[by_brier]}; {by_loss} {after[by_loss]}); {advice}."
    ]


def _lowest(compared: Sequence[tuple[str, Comparison]], metric: str) -> str | None:
    """Return the first name with the lowest value after calibration."""
    values = [(value_of(comparison.after[metric]), name) for name, comparison in compared]
    return min(((value, name) for value, name in values if value is not None), default=(0.0, None))[1]


NamedMetrics = TypeVar("NamedMetrics", bound=tuple[Any, Metrics])


def sort_by_log_loss(lines: Sequence[NamedMetrics]) -> list[NamedMetrics]:
    """Sort names with metrics by log loss, undefined ones last; the sort is stable."""

    def rank(line: NamedMetrics) -> float:
        value = value_of(line[1]["log_loss"])
        return math.inf if value is None else value

    return sorted(lines, key=rank)


def value_of(metric: MetricValue) -> float | None:
    """Return the value of a metric, which may be an estimate."""
    value = metric.value if isinstance(metric, Estimate) else metric
    return value if isinstance(value, int | float) else None


def _format(metric: MetricValue, name: str, *, interval: bool = False, sign: str = "+") -> str:
    value = value_of(metric)
    if value is None:
        return "-"
    sign = sign if interval else ""
    if name == "tce":  # as the report of tce has it
        return points(value / 100) if sign else percent(value / 100)
    text = f"{value:{sign}.4f}"
    return text + (ends_of(metric, f"{sign}.4f") if interval and isinstance(metric, Estimate) else "")


def verdict(compared: Comparison, where: str = "") -> str:
    """State whether calibration helped, by the interval of the log loss, else of the Brier score.

    Without any interval, state only the change of the log loss.
    """
    where = f" {where}" if where else ""
    loss = next(
        (name for name in ("log_loss", "brier") if _has_interval(compared.difference[name])), "log_loss"
    )
    change, name = compared.difference[loss], loss.replace("_", " ").replace("brier", "Brier score")
    value = value_of(change)
    if value is None:
        return f"Calibration cannot be tested{where}: the {name} is undefined."
    before, after = (value_of(side[loss]) or 0.0 for side in (compared.before, compared.after))
    moves = "falls" if value < 0 else "rises"
    first, second = told_apart(before, after)
    changed = f"the {name} {moves} from {first} to {second}{where}"
    if not isinstance(change, Estimate):
        seems = "seems to help" if value < 0 else "seems to do harm"
        return f"Calibration {seems}: {changed}; add --bootstrap 1000 to test whether that is significant."
    if not change.ends:
        return f"{capitalised(changed)}; a class has too few rows to test whether that is significant."
    found = {"lower": "Calibration helped", "higher": "Calibration hurt"}
    return f"{found.get(direction(change), 'No significant change')}: {changed}."


def is_worse(compared: Comparison) -> bool:
    """Whether calibration hurt, or seems to where that is not tested."""
    return verdict(compared).startswith(("Calibration hurt", "Calibration seems to do harm"))


def comparison_card(title: str, compared: Comparison) -> HeadCard:
    """Build the head of a page on one calibrator: its verdict, and metrics before and after."""
    word = verdict(compared).partition(":")[0]
    verdicts = {
        "Calibration helped": Verdict(text="calibration helped", tone="good"),
        "Calibration hurt": Verdict(text="calibration hurt", tone="bad"),
        "No significant change": Verdict(text="no significant change"),
    }
    numbers = [
        replace(number, interval=f"{_key_value(metric, compared.before[metric])} before")
        for metric, number in zip(_KEY_METRICS, after_numbers(compared.after), strict=True)
    ]
    return HeadCard(
        title=title, verdict=verdicts.get(word, Verdict(text="change not tested")), numbers=numbers
    )


GROUP_HEADER: Final = ("log loss", "after", "ECE", "after", "TCE %", "after")
"""Names of the cells of a group."""


def group_cells(compared: Comparison) -> tuple[str, ...]:
    """Format the main metrics of a group before and after, in the order of GROUP_HEADER."""
    return tuple(
        _format(side[metric], metric) for metric in _KEY_METRICS for side in (compared.before, compared.after)
    )


def after_numbers(metrics: Metrics) -> list[KeyNumber]:
    """Return the main metrics of a calibrator as key numbers."""
    return [
        KeyNumber(label=label, value=_key_value(metric, metrics[metric]))
        for metric, label in _KEY_METRICS.items()
    ]


@or_dash
def in_percent(value: float) -> str:
    """Format a number that is in percent already."""
    return f"{value:.1f} %"


def _key_value(name: str, metric: MetricValue) -> str:
    return in_percent(value_of(metric)) if name == "tce" else formatted(value_of(metric), ".4f")


def remaining_error(compared: Comparison, whose: str = "calibrated") -> list[Notice]:
    """Caution that many predictions are still rejected after calibration, with their mean error."""
    tce, ece = (value_of(compared.after[name]) for name in ("tce", "ece"))
    if tce is None or ece is None or tce <= 100 * MANY_REJECTED:
        return []
    shown, error = percent(tce / 100), f"{100 * ece:.2g}"
    return [
        Notice(
            "remaining-error",
            f"{shown} of {whose} predictions are still significantly wrong; over all rows they are off "
            f"by {error} {'point' if error == '1' else 'points'} on average (ECE {ece:.2g}). If that is too "
            "much, try calibrate --method all.",
        )
    ]


def too_few_clusters(clusters: int | None) -> list[Notice]:
    """Caution that there are no intervals, for lack of clusters."""
    if clusters is None or clusters >= FEW_CLUSTERS:
        return []
    few = f"there are no intervals, since {count(clusters)} clusters are too few"
    return [Notice("few-clusters", f"{few}: use {FEW_CLUSTERS} or more.")]


def _has_interval(metric: MetricValue) -> bool:
    return isinstance(metric, Estimate) and bool(metric.ends)

"""Tables and panels of ``uqcli tce``: metrics with their meanings, bins, classes and groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from uqcli.base.wording import count, p_cell, p_text, percent_in_range, printable, probability, rows_of
from uqcli.estimates.estimate import Estimate, ends_of
from uqcli.reports.document import Metrics, MetricValue, Table, meaning_rows
from uqcli.tce.chance import NullDistribution
from uqcli.tce.part_tests import LEVEL
from uqcli.tce.results import ClassResult, GroupResult

_MEANINGS: Final = {
    "calibration": {
        "calibration_p": "p-value of true probabilities: range of the running sum, and intercept and slope",
        "calibration_p_adjusted": "the least of all rows, groups and classes, adjusted together (Holm)",
        "tce": "share of predictions that the test rejects, %",
        "tce_q": "as tce, on quantile bins, %",
        "tce_v": "as tce, on isotonic (PAVA) bins, %",
        "ece": "mean |rate - mean score|, equispaced bins",
        "ace": "as ece, on quantile bins",
        "mce": "largest |rate - mean score|, equispaced bins",
        "mce_q": "as mce, on quantile bins",
        "ecce": "range of cumulative differences of labels and scores, without bins",
        "mcb": "miscalibration: how much an isotonic fit reduces the Brier score",
        "intercept": "of the logistic fit on log-odds; 0 if calibrated",
        "slope": "of the same fit; 1 if calibrated, below 1 if overconfident",
        "intercept_at_slope_1": "0 if calibrated, negative if scores are too high",
    },
    "calibrated within": {
        "within": "deviation that 95 % of rows do not exceed, if rates rise with the score",
        "within_low": "largest deviation that is proved",
        "within_runs": "deviation that no range of scores with a twentieth of the rows exceeds",
        "within_detectable": "deviation at all scores that would be proved with probability 80 %",
    },
    "discrimination": {"dsc": "discrimination: what an isotonic fit explains"},
    "proper scores": {
        "brier": "mean squared error; mcb - dsc + unc",
        "log_loss": "mean negative log likelihood, nats",
    },
    "noise": {
        "unc": "uncertainty: the Brier score of the overall rate",
        "estimation_error": "variance of labels within the bins, by rows",
        "within_bin_error": "as estimation_error, mean over bins",
    },
}
_TERMINAL_METRICS = ("tce", "ece", "mcb", "slope", "brier", "log_loss")
"""Metrics on a terminal."""

_ONE_AGAINST_REST: Final = "log_loss, each class against the rest"
"""Of many classes, since calibrate and evaluate state that of the label's probability under the same name."""

_PART_METRICS = ("tce", "ece", "ace", "brier", "log_loss")


def part_name(part: GroupResult | ClassResult, max_characters: int = 60) -> str:
    """Return the name of a group or class as it is shown."""
    return printable(str(part.name), max_characters)


def panel_of(name: str, part: ClassResult) -> tuple[str, ClassResult]:
    """Return the title of a panel, and what it shows."""
    errors = f"average error (ECE) {format_metric('ece', part.metrics['ece'])}"
    if not part.by_weight:
        errors = f"{format_metric('tce', part.metrics['tce'])} of scores significantly wrong (TCE), {errors}"
    rows = f"{rows_of(int(part.bins.count.sum()))}, {count(part.positives)} positive"
    return f"{name}: {errors}; {rows}" if name else f"{errors}; {rows}", part


def worst_first(parts: Sequence[Any]) -> list[Any]:
    """Sort groups or classes by TCE, then ECE, highest first, then by name."""
    return sorted(
        parts, key=lambda part: (-value_of(part.metrics["tce"]), -value_of(part.metrics["ece"]), part.name)
    )


def value_of(metric: MetricValue) -> float:
    """Return the value of a metric as a sort key; undefined values are lowest."""
    value = metric.value if isinstance(metric, Estimate) else metric
    return float(value) if isinstance(value, int | float) else -math.inf


def bins_as_json(part: GroupResult) -> list[dict[str, Any]]:
    """Return the bins of a group, with the class if it has a name."""
    return [
        row if label_class.name is None else {"class": label_class.name, **row}
        for label_class in part.classes
        for row in _bin_dicts(label_class)
    ]


def _bin_dicts(part: ClassResult) -> list[dict[str, Any]]:
    bins = part.bins
    names = ("low", "high", "count", "positives", "rate", "mean_score", "rejected")
    columns = (bins.low, bins.high, bins.count, bins.positives, bins.rate, bins.mean_score)
    rejected = [None] * len(bins.count) if part.by_weight else part.tested.rows.tolist()
    rows = zip(*(column.tolist() for column in columns), rejected, strict=True)
    dicts = [dict(zip(names, row, strict=True)) for row in rows]
    return [values if values["count"] else {**values, "rate": None, "mean_score": None} for values in dicts]


def bins_table(title: str, part: ClassResult) -> Table:
    """Build a table with one line per bin."""
    rows = [
        (
            str(number),
            f"{values['low']:.4f}",
            f"{values['high']:.4f}",
            count(values["count"]),
            count(values["positives"]),
            probability(values["rate"]),
            probability(values["mean_score"]),
            f"{100 * values['rejected'] / values['count']:.1f} %"
            if values["count"] and values["rejected"] is not None
            else "-",
        )
        for number, values in enumerate(_bin_dicts(part), start=1)
    ]
    header = ("bin", "scores from", "to", "rows", "positive", "rate", "mean score", "rejected")
    return Table(title=title, header=header, rows=rows, left=0, detail=True)


def groups_table(overall: GroupResult, groups: Sequence[GroupResult]) -> Table:
    """Build a table with one line for all rows, and one per group, the least p-value first."""
    ordered = sorted(worst_first(groups), key=_least_adjusted)
    lines = [("(all rows)", overall), *((part_name(group), group) for group in ordered)]
    rows = [(name, count(group.rows), *_cells(group.metrics), _judged(group)) for name, group in lines]
    return Table(title="", header=("group", "rows", *_PART_METRICS, "calibrated"), rows=rows)


def _judged(group: GroupResult) -> str:
    """State whether a group is calibrated, by the least adjusted p-value of its classes."""
    least = _least_adjusted(group)
    if math.isinf(least):
        return "too small to test"
    return f"{'no' if least <= LEVEL else 'not refuted'} ({p_text(least)})"


def _least_adjusted(group: GroupResult) -> float:
    """Return the least adjusted p-value of the classes of a group; infinite if none is tested."""
    return min(part.p_adjusted for part in group.classes)


def classes_table(overall: GroupResult) -> Table:
    """Build a table with one line for the mean over the classes, and one per class, the worst first."""
    lines = [
        ("(mean)", count(overall.rows), overall.metrics),
        *(
            (part_name(label_class), count(label_class.positives), label_class.metrics)
            for label_class in worst_first(overall.classes)
        ),
    ]
    rows = [(name, rows, *_cells(metrics)) for name, rows, metrics in lines]
    return Table(title="", header=("class", "rows", *_PART_METRICS), rows=rows)


def _cells(metrics: Metrics) -> list[str]:
    return [format_metric(name, metrics[name]) for name in _PART_METRICS]


def metrics_table(overall: GroupResult) -> Table:
    """Build the table of all metrics, with a short form for a terminal."""
    return replace(_metrics_table(overall), brief=_main_table(overall))


def _main_table(overall: GroupResult) -> Table:
    nulls = overall.if_calibrated
    rows = []
    for name in _TERMINAL_METRICS:
        label = _ONE_AGAINST_REST if name == "log_loss" and len(overall.classes) > 1 else name
        rows.append([label, format_metric(name, overall.metrics[name]), *_if_calibrated(name, nulls)])
    header = ["metric", "value", *(_IF_CALIBRATED if nulls else ())]
    return Table(title="", header=header, rows=rows)


def _metrics_table(overall: GroupResult) -> Table:
    """Build the table of all metrics, with their null distributions if labels were drawn."""
    nulls = overall.if_calibrated
    rows = [
        [kind, name, format_metric(name, overall.metrics[name]), *_if_calibrated(name, nulls), meaning]
        for kind, name, meaning in meaning_rows(_MEANINGS)
    ]
    header = ["", "metric", "value", *(_IF_CALIBRATED if nulls else ()), "meaning"]
    return Table(title="", header=header, rows=rows, left=2, text_last=True)


def format_metric(name: str, metric: MetricValue) -> str:
    """Format a metric with its interval: the share of rows that is the TCE in percent, others as they are.

    Examples
    --------
    >>> format_metric("tce", 12.3456), format_metric("ece", 0.5)
    ('12 %', '0.500')
    """
    assert not isinstance(metric, Mapping)  # no group of metrics
    estimate = metric if isinstance(metric, Estimate) else Estimate(value=metric)
    if not name.startswith("tce"):
        return f"{probability(estimate.value)}{ends_of(estimate, '.4f')}"
    ends = estimate.value, estimate.low, estimate.high
    return percent_in_range(*(None if end is None else end / 100 for end in ends))


_IF_CALIBRATED: Final = ("if calibrated", "p")
"""Names of the cells of a null distribution."""


def _if_calibrated(name: str, nulls: Mapping[str, NullDistribution]) -> list[str]:
    """Format the null distribution of a metric; empty cells if it has none, and no cells without draws."""
    null = nulls.get(name)
    if null is None:
        return [""] * len(_IF_CALIBRATED) if nulls else []
    p_value = p_cell(null.p_value, is_least=null.p_is_least)
    return [f"{format_metric(name, null.mean)}, up to {format_metric(name, null.high)}", p_value]

"""Two sets of probabilities for the same rows, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from uqcli import defaults
from uqcli.choices import Binning, CalibrationTest
from uqcli.counts import Bools, Floats, Ints, SortedRows, ValueCounts, pool
from uqcli.jobs.intervals import ResamplingPlan, resampled_estimate
from uqcli.methods.binning.registry import BINNINGS, BinSizes
from uqcli.methods.metrics.bootstrap import bounds_of, resampled_weights
from uqcli.methods.metrics.calibration_error import (
    ScoreBins,
    brier,
    expected_error,
    in_bins,
    log_loss,
    reject,
)
from uqcli.methods.metrics.ranking import auc, average_precision
from uqcli.reports.comparison import Comparison
from uqcli.reports.document import Metric, Metrics

Values = Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class ComparedRows:
    """Labelled rows with probabilities before and after, each of shape (n,)."""

    before: Floats
    after: Floats
    positive: Bools
    weight: Ints | None
    position: Ints


def compare(rows: ComparedRows, plan: ResamplingPlan) -> Comparison:
    """Measure both probabilities; the same resampled rows serve both."""
    values = _both(
        pool(rows.before, rows.positive, rows.weight), pool(rows.after, rows.positive, rows.weight)
    )
    resampled = _resampled(rows, plan)
    parts = {
        name: _estimates(
            each,
            [replicate[name] for replicate in resampled],
            plan,
            difference=name == "difference",
        )
        for name, each in values.items()
    }
    return Comparison(before=parts["before"], after=parts["after"], difference=parts["difference"])


def _resampled(rows: ComparedRows, plan: ResamplingPlan) -> list[dict[str, Values]]:
    """Both sets of metrics, resampling after resampling; rows are sorted once for all of them."""
    if not plan.replicates:
        return []
    first, second = (SortedRows.of(each, rows.positive) for each in (rows.before, rows.after))
    weights = (
        resampled_weights(rows.position, rows.weight, plan.seed, number) for number in range(plan.replicates)
    )
    return [_both(first.counts(weight), second.counts(weight)) for weight in weights if weight.any()]


def _both(before: ValueCounts, after: ValueCounts) -> dict[str, Values]:
    first, second = metrics_of(before), metrics_of(after)
    difference = {name: _minus(second[name], first[name]) for name in first}
    return {"before": first, "after": second, "difference": difference}


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def metrics_of(counts: ValueCounts) -> Values:
    """What tells good probabilities from bad ones: ranking, likelihood, calibration."""

    def binned(binning: Binning) -> ScoreBins:
        sizes = BinSizes(bins=defaults.SINGLE_SCORE_BINS)
        return in_bins(counts, BINNINGS[binning].edges(counts, sizes))

    tested = reject(counts, binned(Binning.PAVA_BC), CalibrationTest.BINOMIAL, defaults.ALPHA)
    return {
        "auc": auc(counts),
        "average_precision": average_precision(counts),
        "log_loss": log_loss(counts),
        "brier": brier(counts),
        "ece": expected_error(binned(Binning.EQUISPACED)),
        "ace": expected_error(binned(Binning.QUANTILE)),
        "tce": tested.percent(counts.rows),
    }


def _estimates(
    values: Values, resampled: Sequence[Values], plan: ResamplingPlan, *, difference: bool
) -> Metrics:
    if not plan.replicates:
        return dict(values)
    result: dict[str, Metric] = {}
    for name, value in values.items():
        drawn = [each[name] for each in resampled]
        result[name] = resampled_estimate(value, drawn, plan.confidence, bounds_of(name, difference))
    return result

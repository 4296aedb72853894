"""Compare two sets of probabilities on the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import Binning, CalibrationTest
from uqcli.base.counts import Floats, Ints, Matrix, ValueCounts
from uqcli.base.draws import Purpose, generator
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.messages import with_progress
from uqcli.comparison.figure import ReliabilityPanel, panel_of_classes, panels
from uqcli.comparison.report import Comparison
from uqcli.engines.probabilities import label_indices
from uqcli.estimates.binning import BinSizes
from uqcli.estimates.calibration_error import Binned, brier, expected_error, log_loss, mean_metrics
from uqcli.estimates.drawn_pairs import SIDES, interval_of
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.paired import ClusteredPairs, PairedClassCounts, PairedCounts
from uqcli.estimates.resampling import MIN_CLASS_ROWS, min_replicates
from uqcli.estimates.score_metrics import auc, average_precision
from uqcli.reports.document import MetricValue

Values = Mapping[str, float | None]

_CALIBRATION_METRICS = ("ece", "ace", "tce")
"""Metrics that are averaged over classes if there are many, as in ``uqcli tce --proba``."""

_METRICS_WITH_INTERVALS = ("auc", "log_loss", "brier")
"""Metrics without upward bias from noise; no valid interval exists for the others."""


AnyPairedCounts = PairedCounts | PairedClassCounts


@dataclass(frozen=True, kw_only=True)
class PairedRows:
    """Rows with two probabilities each, such as before and after a map that did not use them.

    Attributes
    ----------
    rows
        If cross-validated, rows by fold; equal rows that are in several folds occur in each.
    before, after : float64, shape (n,), or (n, C) for class probabilities
    cluster
        Group of rows that depend on each other; None if rows are independent.
    """

    rows: Rows
    before: Floats | Matrix
    after: Floats | Matrix
    cluster: str | None

    @classmethod
    def joined(cls, folds: Sequence[PairedRows]) -> PairedRows:
        """Concatenate the rows of at least one fold."""
        return cls(
            rows=Rows.joined([fold.rows for fold in folds]),
            before=np.concatenate([fold.before for fold in folds]),
            after=np.concatenate([fold.after for fold in folds]),
            cluster=folds[0].cluster,
        )

    @cached_property
    def counts(self) -> AnyPairedCounts:
        """Both sets of probabilities, pooled."""
        rows = self.rows
        if self.before.ndim == 2:
            return PairedClassCounts.from_predictions(
                self.before, self.after, label_indices(rows), rows.weight
            )
        return PairedCounts.from_predictions(self.before, self.after, rows.labels, rows.weight)

    @cached_property
    def clusters(self) -> ClusteredPairs | None:
        """Both sets of probabilities by cluster; None if rows are independent."""
        if self.cluster is None:
            return None
        weight, of_row = self.rows.weights(), self.rows.groups[self.cluster]
        if self.before.ndim == 2:
            label = label_indices(self.rows)
            return ClusteredPairs.from_classes(self.before, self.after, label, weight, of_row)
        return ClusteredPairs.from_scores(self.before, self.after, self.rows.labels, weight, of_row)

    def select(self, indices: Ints) -> PairedRows:
        """Return some of the rows."""
        return replace(
            self, rows=self.rows.select(indices), before=self.before[indices], after=self.after[indices]
        )

    def compared(self, plan: ResamplingOptions) -> Comparison:
        """Measure both sets of probabilities (see ``compare``)."""
        return compare(self.counts, plan, self.clusters)

    def panels(self, parts: Sequence[tuple[str, Ints]] = ()) -> tuple[ReliabilityPanel, ...]:
        """Build the reliability diagrams of all rows, and of parts by name and rows if there is one score."""
        if isinstance(self.counts, PairedClassCounts):
            return (panel_of_classes(self.counts),)
        return panels(self.counts.sides, self.rows, self.before, self.after, parts)


def compare(
    paired_counts: AnyPairedCounts, plan: ResamplingOptions, clusters: ClusteredPairs | None = None
) -> Comparison:
    """Measure both sets of probabilities, on the same bootstrap resamples of rows, or of clusters."""
    by_class: list[tuple[Values, Values]] = []
    if isinstance(paired_counts, PairedClassCounts):
        (before, before_by_class), (after, after_by_class) = _metrics_of_classes(paired_counts)
        by_class = list(zip(before_by_class, after_by_class, strict=True))
    else:
        before, after = map(metrics_of, paired_counts.sides)
    if clusters is not None:  # the test of the TCE assumes independent rows
        before, after = ({**side, "tce": None} for side in (before, after))
        by_class = [({**first, "tce": None}, {**second, "tce": None}) for first, second in by_class]
    difference = {name: minus(after[name], before[name]) for name in before}
    values = dict(zip(SIDES, (before, after, difference), strict=True))
    intervals = _intervals(clusters or paired_counts, plan) if plan.bootstrap else {}
    metrics = {side: _with_intervals(side, values[side], intervals) for side in SIDES}
    return Comparison(
        before=metrics["before"],
        after=metrics["after"],
        difference=metrics["difference"],
        by_class=[(dict(first), dict(second)) for first, second in by_class],
    )


def minus(first: float | None, second: float | None) -> float | None:
    """Compute the difference; None if either value is undefined."""
    return None if first is None or second is None else first - second


Intervals = Mapping[tuple[str, str], tuple[float, float] | None]
"""Interval by side and metric; None if no valid interval exists."""


def _intervals(paired_counts: AnyPairedCounts | ClusteredPairs, plan: ResamplingOptions) -> Intervals:
    estimates = paired_counts.with_errors()
    keys = [(side, name) for side in SIDES for name in _METRICS_WITH_INTERVALS if name in estimates]
    if paired_counts.min_class_rows < MIN_CLASS_ROWS:
        return dict.fromkeys(keys)
    replicates = max(plan.bootstrap, min_replicates(plan.confidence))

    def draw(resample_index: int) -> dict[str, dict[str, Estimate]]:
        return paired_counts.resampled(generator(plan.seed, Purpose.BOOTSTRAP, resample_index)).with_errors()

    draws = list(with_progress(parallel_map(draw, range(replicates)), "resampling", replicates))
    return {
        (side, name): interval_of(
            name, side, estimates, draws, (plan.confidence, paired_counts.min_class_rows)
        )
        for side, name in keys
    }


def _with_intervals(side: str, values: Values, intervals: Intervals) -> dict[str, MetricValue]:
    metrics: dict[str, MetricValue] = dict(values)
    for interval_side, name in intervals:
        if interval_side == side:
            low, high = _in_range(side, name, intervals[side, name])
            metrics[name] = Estimate(value=values[name], low=low, high=high)
    return metrics


def _in_range(
    side: str, name: str, interval: tuple[float, float] | None
) -> tuple[float | None, float | None]:
    """Transform an interval to the metric's scale and clip it to its range."""
    if interval is None:
        return None, None
    if side == "difference":
        return interval
    if name == "auc":
        low, high = (1 / (1 + math.exp(-limit)) for limit in interval)
        return low, high
    upper_limit = 1.0 if name == "brier" else math.inf
    return max(0.0, interval[0]), min(upper_limit, interval[1])


def _metrics_of_classes(paired_counts: PairedClassCounts) -> list[tuple[Values, list[Values]]]:
    """Compute the losses over all classes jointly, with class means of one-vs-rest calibration errors.

    Both sides, before and after, have the metrics of each class against the rest.
    """
    metrics: list[tuple[Values, list[Values]]] = []
    for side, losses in paired_counts.losses().items():
        by_class = list(map(metrics_of, paired_counts.against_rest(side)))
        means = mean_metrics(by_class)
        metrics.append(({**losses, **{name: means[name] for name in _CALIBRATION_METRICS}}, by_class))
    return metrics


def metrics_of(counts: ValueCounts) -> Values:
    """Return the metrics of probabilities: ranking, likelihood, calibration."""
    sizes = BinSizes(bins=defaults.SINGLE_SCORE_BINS)
    binned = Binned(counts, sizes, CalibrationTest.BINOMIAL, defaults.ALPHA)
    return {
        "auc": auc(counts),
        "average_precision": average_precision(counts),
        "log_loss": log_loss(counts),
        "brier": brier(counts),
        "ece": expected_error(binned[Binning.EQUISPACED]),
        "ace": expected_error(binned[Binning.QUANTILE]),
        "tce": binned.rejected(Binning.PAVA_BC).percent(counts.rows),
    }

"""Intervals of calibration errors, and their null distributions from labels drawn from the scores.

Noise inflates errors that cannot be negative, so no bootstrap interval covers them. Their distribution under
perfect calibration is known, however: every label is drawn from its own score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from hashlib import blake2b

import numpy as np

from uqcli.base.counts import Floats, Ints, ValueCounts
from uqcli.base.draws import Purpose, generator
from uqcli.base.options import ResamplingOptions
from uqcli.base.records import dataclass
from uqcli.base.rows import ClassCounts
from uqcli.base.running.messages import with_progress
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.resampling import (
    MIN_CLASS_ROWS,
    DrawnMeans,
    mean_with_error,
    min_replicates,
    studentised_interval,
)
from uqcli.estimates.score_metrics import LOSSES, Loss, is_bounded, mean_loss
from uqcli.reports.document import MetricValue
from uqcli.tce.calibration_line import CalibrationLine, calibration_line
from uqcli.tce.drawn_lines import DrawnLines
from uqcli.tce.measure import ErrorsOfDraws
from uqcli.tce.options import MeasureOptions

_OF_LINE = ("intercept", "slope")
METRICS_WITH_INTERVALS = (*LOSSES, *_OF_LINE)
_METRICS_WITH_EXCESS = ("ece", "ace", "mcb")

Values = Mapping[str, float | None]
Interval = tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class NullDistribution:
    """Distribution of a metric under perfect calibration.

    Attributes
    ----------
    mean, high
        Mean and 95th percentile.
    p_value
        Share of draws at or above the measured value, ``(1 + #) / (draws + 1)``.
    least_p
        Least share that so many draws allow.
    """

    mean: float
    high: float
    p_value: float
    least_p: float

    @property
    def p_is_least(self) -> bool:
        """Whether the p-value is the least one."""
        return self.p_value <= self.least_p


@dataclass(frozen=True, kw_only=True)
class Undrawn:
    """No sampling distribution, without draws."""

    if_calibrated: Mapping[str, NullDistribution] = field(default_factory=dict)

    def completed(self, values: Values) -> Mapping[str, MetricValue]:
        """Return the metrics as they are."""
        return values


@dataclass(frozen=True, kw_only=True)
class SamplingDistribution(Undrawn):
    """Sampling distribution of metrics.

    Attributes
    ----------
    intervals
        Intervals by metric; None if no valid interval exists.
    if_calibrated
        Distribution of the errors if the probabilities are calibrated.
    """

    intervals: Mapping[str, Interval]

    def completed(self, values: Values) -> Mapping[str, MetricValue]:
        """Add intervals, p-values and excesses to the metrics."""
        metrics: dict[str, MetricValue] = dict(values)
        for name, interval in self.intervals.items():
            low, high = interval or (None, None)
            metrics[name] = Estimate(value=values[name], low=low, high=high)
        for name, null in self.if_calibrated.items():
            metrics[f"{name}_p"] = None if values[name] is None else null.p_value
        for name in _METRICS_WITH_EXCESS:
            value = values[name]
            mean = self.if_calibrated[name].mean
            metrics[f"{name}_excess"] = None if value is None else value - mean
        return metrics


def key_of(group: str | None) -> tuple[int, ...]:
    """Return the key for the draws of all rows or of a group, so that groups do not affect each other."""
    if group is None:
        return (0,)
    return (1, int.from_bytes(blake2b(group.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"))


def chance_of_scores(
    counts: ValueCounts,
    values: Values,
    options: MeasureOptions,
    plan: ResamplingOptions,
    key: tuple[int, ...],
) -> SamplingDistribution:
    """Estimate the sampling distribution for one score."""
    return SamplingDistribution(
        intervals=intervals_of_scores(counts, plan, key),
        if_calibrated=nulls_of_scores(counts, values, options, plan, key),
    )


def nulls_of_scores(
    counts: ValueCounts,
    values: Values,
    options: MeasureOptions,
    plan: ResamplingOptions,
    key: tuple[int, ...],
) -> dict[str, NullDistribution]:
    """Draw labels of independent rows from their scores."""
    errors = ErrorsOfDraws(counts, options)
    draws = [
        errors.of(draw_positives(counts, generator(plan.seed, Purpose.LABELS, *key, replicate)))
        for replicate in with_progress(range(plan.bootstrap), "drawing labels", plan.bootstrap)
    ]
    return null_distributions(values, draws)


def draw_positives(counts: ValueCounts, random: np.random.Generator) -> Ints:
    """Draw how many rows of each score are positive; a row of weight w counts as w rows."""
    if len(counts.value) == counts.rows:  # one row each, for which a uniform number is faster
        return (random.random(counts.rows) < counts.value).astype(np.int64)
    positives: Ints = random.binomial(counts.count, counts.value)
    return positives


def chance_of_classes(
    rows: ClassCounts,
    values: Sequence[Values],
    means: Values,
    options: Sequence[MeasureOptions],
    *,
    plan: ResamplingOptions,
    key: tuple[int, ...],
) -> tuple[list[SamplingDistribution], SamplingDistribution]:
    """Estimate the sampling distribution for each class one-vs-rest, and for the class means.

    Labels are drawn jointly for whole rows, since the errors of two classes are dependent.
    """
    classes = range(len(values))
    labels = rows.observed_labels()
    observed = [rows.one_vs_rest(class_index, labels) for class_index in classes]
    errors = [ErrorsOfDraws(counts, option) for counts, option in zip(observed, options, strict=True)]
    draws: list[list[dict[str, float]]] = [[] for _ in classes]
    for replicate in with_progress(range(plan.bootstrap), "drawing labels", plan.bootstrap):
        labels = rows.draw_labels(generator(plan.seed, Purpose.LABELS, *key, replicate))
        for class_index in classes:
            positives = rows.one_vs_rest(class_index, labels).positives
            draws[class_index].append(errors[class_index].of(positives))
    chances = [
        SamplingDistribution(
            intervals=intervals_of_scores(observed[class_index], plan, (*key, class_index)),
            if_calibrated=null_distributions(values[class_index], draws[class_index]),
        )
        for class_index in classes
    ]
    intervals = _intervals_of_means(rows, plan, key)
    draws_of_means = [_mean(class_errors) for class_errors in zip(*draws, strict=True)]
    return chances, SamplingDistribution(
        intervals=intervals, if_calibrated=null_distributions(means, draws_of_means)
    )


def _mean(class_errors: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {
        name: sum(errors[name] for errors in class_errors) / len(class_errors) for name in class_errors[0]
    }


def null_distributions(values: Values, draws: Sequence[Mapping[str, float]]) -> dict[str, NullDistribution]:
    """Compare measured values by name, 0 if undefined, with at least one draw of all."""
    return {name: _null_distribution(values[name], [draw[name] for draw in draws]) for name in draws[0]}


def _null_distribution(value: float | None, draws: Sequence[float]) -> NullDistribution:
    ordered = sorted(draws)
    index = min(len(ordered), math.ceil(0.95 * (len(ordered) + 1) - 1e-9)) - 1
    return NullDistribution(
        mean=math.fsum(ordered) / len(ordered),
        high=ordered[index],
        p_value=(1 + sum(draw >= (value or 0.0) for draw in ordered)) / (len(ordered) + 1),
        least_p=1 / (len(ordered) + 1),
    )


def intervals_of_scores(
    counts: ValueCounts, plan: ResamplingOptions, key: tuple[int, ...]
) -> dict[str, Interval]:
    """Compute bootstrap intervals; None with fewer than ten rows of a class."""
    positives = int(counts.positives.sum())
    if min(positives, counts.rows - positives) < MIN_CLASS_ROWS:
        return dict.fromkeys(METRICS_WITH_INTERVALS)
    line = calibration_line(counts, errors=True)
    estimates = {
        **{name: mean_loss(counts, name) for name in LOSSES},
        **dict(zip(_OF_LINE, line.estimates, strict=True)),
    }
    sampled = _Samples(counts, line)
    draws = [
        sampled.of(generator(plan.seed, Purpose.BOOTSTRAP, *key, index))
        for index in with_progress(range(resamples(plan)), "resampling", resamples(plan))
    ]
    return {
        name: studentised_interval(estimates[name], [draw[name] for draw in draws], plan.confidence)
        for name in METRICS_WITH_INTERVALS
    }


class _Samples:
    """Bootstrap samples of tie-pooled scores, with their mean losses and lines.

    Rows are drawn by score and label: all positive ones, then all negative ones.
    """

    def __init__(self, counts: ValueCounts, line: CalibrationLine) -> None:
        negatives = counts.count - counts.positives
        positive, negative = np.flatnonzero(counts.positives), np.flatnonzero(negatives)
        present = np.concatenate([counts.positives[positive], negatives[negative]])
        losses = {
            name: np.concatenate([if_positive[positive], if_negative[negative]])
            for name, loss in LOSSES.items()
            if is_bounded(name, counts.value)
            for if_positive, if_negative in [loss(counts.value)]
        }
        self._means = DrawnMeans(losses, present)
        value = counts.value[np.concatenate([positive, negative])]
        self._lines = DrawnLines(value, len(positive), line)

    def of(self, random: np.random.Generator) -> dict[str, Estimate]:
        """Draw a sample, and return its metrics with their standard errors."""
        times = self._means.resamples.times(random)
        line = self._lines.of(times)
        return {
            **dict.fromkeys(LOSSES, Estimate(value=None)),
            **self._means.of(times),
            **dict(zip(_OF_LINE, line.estimates, strict=True)),
        }


def resamples(plan: ResamplingOptions) -> int:
    """Return the number of resamples: as requested, and at least what the confidence requires."""
    return max(plan.bootstrap, min_replicates(plan.confidence))


def _intervals_of_means(
    rows: ClassCounts, plan: ResamplingOptions, key: tuple[int, ...]
) -> dict[str, Interval]:
    """Compute the intervals of the mean losses; a mean of slopes has none."""
    intervals: dict[str, Interval] = dict.fromkeys(METRICS_WITH_INTERVALS)
    if int(rows.count.sum()) < 2 * MIN_CLASS_ROWS:
        return intervals
    losses = {
        name: _row_losses(rows, loss) for name, loss in LOSSES.items() if is_bounded(name, rows.probability)
    }
    means = DrawnMeans(losses, rows.count)
    draws = [
        means.of(means.resamples.times(generator(plan.seed, Purpose.BOOTSTRAP, *key, index)))
        for index in range(resamples(plan))
    ]
    for name, loss in losses.items():
        mean = mean_with_error(loss, rows.count)
        intervals[name] = studentised_interval(mean, [draw[name] for draw in draws], plan.confidence)
    return intervals


def _row_losses(rows: ClassCounts, loss: Loss) -> Floats:
    """Compute the class-averaged loss of each distinct row."""
    total = np.zeros(len(rows.label))
    for class_index, column in enumerate(rows.probability.T):
        if_positive, if_negative = loss(column)
        total += np.where(rows.label == class_index, if_positive, if_negative)
    total /= rows.probability.shape[1]
    return total

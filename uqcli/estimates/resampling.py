"""Bootstrap of pooled rows, and its intervals.

Drawing the counts of distinct rows has the same distribution as drawing rows. It needs no row positions, so
it depends neither on row order nor on how rows are split into files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Floats, Ints, ValueCounts
from uqcli.estimates.estimate import Estimate

MIN_CLASS_ROWS = 10
"""Rows of each class below which intervals of ranking and loss metrics are invalid."""

_MANY_ROWS = 100
"""Rows of the rarer class from which on bootstrap-t intervals of differences cover without help."""


def resample(count: Ints, random: np.random.Generator) -> Ints:
    """Draw the counts of distinct rows in a bootstrap sample; they have the same sum, above 0."""
    total = int(count.sum())
    counts: Ints = random.multinomial(total, count / total)
    return counts


def resample_counts(counts: ValueCounts, random: np.random.Generator) -> ValueCounts:
    """Draw a bootstrap sample of tie-pooled counts."""
    positives, negatives = np.split(
        resample(np.concatenate([counts.positives, counts.count - counts.positives]), random), 2
    )
    count = positives + negatives
    present = count > 0
    return ValueCounts(value=counts.value[present], count=count[present], positives=positives[present])


def mean_with_error(value: Floats, count: Ints | Floats) -> Estimate:
    """Compute the weighted mean with its standard error; weights are multiplicities, shape (m,)."""
    total = int(count.sum())
    mean = float((value * count).sum()) / total
    squares = value - mean
    squares *= squares
    squares *= count
    variance = float(squares.sum()) / total
    return Estimate(value=mean, error=math.sqrt(variance / total))


def studentised_interval(
    estimate: Estimate, resampled: Sequence[Estimate], confidence: float, rare_rows: float = math.inf
) -> tuple[float, float] | None:
    """Compute the bootstrap-t interval, from resampled deviations in units of their own standard errors.

    See Efron and Tibshirani 1993, sec. 12.5. Unlike percentile intervals it follows the skewness of a mean of
    losses. There is none if the estimate or too many resampled ones are undefined, or if there are too few.
    For a difference of two scores with fewer than a hundred ``rare_rows``, those of the rarer class, the
    interval also contains that of Student's t for so many rows: alone, 95 % intervals covered as little as 88
    %. Where the standard error has degrees of freedom, it contains that of Student's t with these: over
    clusters of Pareto sizes, 95 % intervals covered 89 %.
    """
    tail = tail_of(len(resampled), confidence)
    if estimate.value is None or estimate.error is None or tail is None:
        return None
    value = estimate.value
    distances = sorted(_distance(value, *pair) for pair in map(_defined, resampled) if pair is not None)
    if len(resampled) - len(distances) > tail:
        return None
    low, high = (value - estimate.error * distances[quantile] for quantile in (-1 - tail, tail))
    freedom = min(estimate.freedom, rare_rows - 1 if rare_rows < _MANY_ROWS else math.inf)
    if math.isfinite(freedom):
        from scipy.special import stdtrit

        margin = estimate.error * float(stdtrit(max(freedom, 1.0), (1 + confidence) / 2))
        low, high = min(low, value - margin), max(high, value + margin)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _defined(draw: Estimate) -> tuple[float, float] | None:
    return None if draw.value is None or draw.error is None else (draw.value, draw.error)


def _distance(value: float, draw: float, error: float) -> float:
    """Compute the deviation of a resampled estimate in units of its own standard error."""
    if error == 0:
        return 0.0 if draw == value else math.copysign(math.inf, draw - value)
    return (draw - value) / error


def percentile_interval(resampled: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Compute the percentile interval; None if there are too few resamples."""
    ordered = sorted(resampled)
    tail = tail_of(len(ordered), confidence)
    return None if tail is None else (ordered[tail], ordered[-1 - tail])


def tail_of(replicates: int, confidence: float) -> int | None:
    """Return the number of order statistics to leave out at each end for a confidence; None if too few."""
    left_out = math.floor((1 - confidence) / 2 * (replicates + 1) + 1e-9) - 1
    return left_out if left_out >= 0 else None


def min_replicates(confidence: float) -> int:
    """Return the minimum number of resamples for a confidence.

    Examples
    --------
    >>> min_replicates(0.95)
    39
    """
    return math.ceil(2 / (1 - confidence) - 1e-9) - 1

"""Resampling pooled rows, and the intervals made of what comes of it.

Drawing how often each distinct row occurs has the law of drawing rows. It needs no position of a row, and so
depends neither on the order of the rows nor on how they are split.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uqcli.counts import Floats, Ints, ValueCounts

LEAST_OF_A_CLASS = 10
"""Rows of each class below which no interval of a score's quality holds its level."""


def resample(count: Ints, random: np.random.Generator) -> Ints:
    """How often each distinct row occurs among as many rows drawn with replacement.

    Parameters
    ----------
    count : int64, shape (m,)
        How often it occurs; not all 0.

    Returns
    -------
    int64, shape (m,)
        With the same sum.
    """
    total = int(count.sum())
    drawn: Ints = random.multinomial(total, count / total)
    return drawn


def resample_counts(counts: ValueCounts, random: np.random.Generator) -> ValueCounts:
    """Tie-pooled counts of as many rows drawn with replacement."""
    positives, negatives = np.split(
        resample(np.concatenate([counts.positives, counts.count - counts.positives]), random), 2
    )
    count = positives + negatives
    there = count > 0
    return ValueCounts(value=counts.value[there], count=count[there], positives=positives[there])


@dataclass(frozen=True, kw_only=True)
class WithError:
    """An estimate with its standard error; None where it is undefined."""

    value: float | None
    error: float | None


def mean_with_error(value: Floats, count: Ints | Floats) -> WithError:
    """Mean of values by how often they occur.

    Parameters
    ----------
    value : float64, shape (m,)
    count : int64, or the same numbers as float64, shape (m,)
    """
    total = int(count.sum())
    mean = float((value * count).sum()) / total
    squares = value - mean
    squares *= squares
    squares *= count
    variance = float(squares.sum()) / total
    return WithError(value=mean, error=math.sqrt(variance / total))


def studentised_interval(
    found: WithError, resampled: Sequence[WithError], confidence: float
) -> tuple[float, float] | None:
    """Interval from the resampled distances in units of their own standard errors.

    The bootstrap-t interval (Efron and Tibshirani 1993, sec. 12.5): unlike percentiles it follows the
    skewness of a mean of losses, so that it holds its level down to a dozen positives.

    Returns
    -------
    low, high
        None where the estimate or too many resampled ones are undefined, or where there are too few of them.
    """
    tail = tail_of(len(resampled), confidence)
    if found.value is None or found.error is None or tail is None:
        return None
    value = found.value
    distances = sorted(_distance(value, *pair) for pair in map(_defined, resampled) if pair is not None)
    if len(resampled) - len(distances) > tail:
        return None
    low, high = (value - found.error * distances[each] for each in (-1 - tail, tail))
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _defined(drawn: WithError) -> tuple[float, float] | None:
    return None if drawn.value is None or drawn.error is None else (drawn.value, drawn.error)


def _distance(value: float, drawn: float, error: float) -> float:
    """How many of its own standard errors a resampled estimate is off."""
    if error == 0:
        return 0.0 if drawn == value else math.copysign(math.inf, drawn - value)
    return (drawn - value) / error


def percentile_interval(resampled: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """The resampled values themselves, without the ends; None where they are too few."""
    ordered = sorted(resampled)
    tail = tail_of(len(ordered), confidence)
    return None if tail is None else (ordered[tail], ordered[-1 - tail])


def tail_of(replicates: int, confidence: float) -> int | None:
    """Order statistics left out at each end, so that the rest holds the confidence; None below the least."""
    left_out = math.floor((1 - confidence) / 2 * (replicates + 1) + 1e-9) - 1
    return left_out if left_out >= 0 else None


def least_replicates(confidence: float) -> int:
    """Resamplings from which on an interval can hold a confidence.

    Examples
    --------
    >>> least_replicates(0.95)
    39
    """
    return math.ceil(2 / (1 - confidence) - 1e-9) - 1

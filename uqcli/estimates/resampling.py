"""Bootstrap of pooled rows, and its intervals.

Drawing the counts of distinct rows has the same distribution as drawing rows. It needs no row positions, so
it depends neither on row order nor on how rows are split into files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import numpy as np

from uqcli.base.blockwise import Counts
from uqcli.base.counts import Floats, Ints, Matrix
from uqcli.estimates.estimate import Estimate
from uqcli.kernels.drawn import ROWS_PER_STEP, add_at, weighted_moments

MIN_CLASS_ROWS = 10
"""Rows of each class below which intervals of ranking and loss metrics are invalid."""

_MANY_ROWS = 100
"""Rows of the rarer class from which on bootstrap-t intervals of differences cover without help."""


def resample(count: Ints, random: np.random.Generator) -> Ints:
    """Draw the counts of distinct rows in a bootstrap sample; they have the same sum, above 0."""
    total = int(count.sum())
    counts: Ints = random.multinomial(total, count / total)
    return counts


_ROWS_PER_CELL: Final = 8
"""Rows of a distinct row up to which drawing each of them is faster than drawing their number."""


class Resamples:
    """Bootstrap samples of rows that are pooled to c distinct ones, of which most count as few rows."""

    def __init__(self, count: Ints) -> None:
        self.count = count
        self.rows = int(count.sum())
        self._cell = np.arange(0)
        if len(count) < self.rows <= _ROWS_PER_CELL * len(count):
            self._cell = np.repeat(np.arange(len(count), dtype=_width(len(count))), count)

    def times(self, random: np.random.Generator) -> Counts:
        """Draw as many rows; return how many of each distinct row, shape (c,).

        Twice the number of all rows also fits into their type.
        """
        if self.rows > _ROWS_PER_CELL * len(self.count):
            return resample(self.count, random)
        drawn = random.integers(0, self.rows, self.rows, dtype=_width(self.rows))
        times: Counts = np.zeros(len(self.count), dtype=_width(2 * self.rows))  # half as much to read
        cell = self._cell[drawn] if len(self._cell) else drawn
        add_at.run(self.rows // ROWS_PER_STEP, cell, np.ones(1, dtype=times.dtype), times)
        return times


def _width(numbers: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest type of so many numbers, from 0 on, that all arrays of them may have."""
    return np.int32 if numbers <= np.iinfo(np.int32).max else np.int64


Key = TypeVar("Key")


class DrawnMeans(Generic[Key]):
    """Means of named values of distinct rows in bootstrap samples, with their standard errors.

    Values and counts have shape (c,). Sums are of distances to the means of all rows, so that squares are
    small.
    """

    def __init__(self, values: Mapping[Key, Floats], count: Ints) -> None:
        self.resamples = Resamples(count)
        self._names = tuple(values)
        stacked = np.array(list(values.values()))
        self._centre = (stacked * count).sum(axis=1) / count.sum()
        self._values = stacked - self._centre[:, None]

    def of(self, times: Counts) -> dict[Key, Estimate]:
        """Return the mean of each value over rows that are drawn so many times, shape (c,)."""
        sums = np.empty((len(self._values), 2))
        weighted_moments.run(len(times) // ROWS_PER_STEP, times, self._values, sums)
        means = from_moments(self._centre.tolist(), sums, int(times.sum()))
        return dict(zip(self._names, means, strict=True))


def from_moments(centres: Sequence[float], sums: Matrix, rows: int) -> list[Estimate]:
    """Return means with their standard errors, from the sums of distances to centres and of their squares."""
    means = []
    for centre, (total, squares) in zip(centres, sums.tolist(), strict=True):
        distance = total / rows
        variance = max(0.0, squares / rows - distance * distance)
        means.append(Estimate(value=centre + distance, error=math.sqrt(variance / rows)))
    return means


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

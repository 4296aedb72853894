"""Bootstrap weights keyed by row, and the intervals made of resampled metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from uqcli.counts import Floats, Ints
from uqcli.draws import Purpose, uniforms

_LARGE = 256
"""Weights up to it are drawn from tables, larger ones by an expansion."""


def resampled_weights(position: Ints, weight: Ints | None, seed: int, replicate: int) -> Ints:
    """How often each row counts in one replicate of the Poisson bootstrap.

    A row of weight w is drawn Poisson(w) times, as w rows of weight 1 would be together; the draw depends on
    the seed, the replicate and the row's position alone (Chamandy et al. 2012).

    Parameters
    ----------
    position : int64, shape (n,)
        Positions of the rows over all inputs, ascending.
    weight : int64, shape (n,), or None for 1 each

    Returns
    -------
    int64, shape (n,)
    """
    uniform = uniforms(position, seed, Purpose.BOOTSTRAP, replicate)
    if weight is None:
        return np.searchsorted(_poisson_steps(1), uniform, side="right").astype(np.int64)
    result = np.zeros(len(uniform), dtype=np.int64)
    large = weight > _LARGE
    result[large] = _large_poisson(uniform[large], weight[large])
    for each in np.unique(weight[(weight > 0) & ~large]).tolist():
        rows = weight == each
        result[rows] = np.searchsorted(_poisson_steps(each), uniform[rows], side="right")
    return result


@lru_cache(maxsize=_LARGE)
def _poisson_steps(mean: int) -> Floats:
    """Distribution function of Poisson(mean) from 0 on."""
    from scipy.special import pdtr

    steps: Floats = pdtr(np.arange(int(mean + 12 * np.sqrt(mean) + 30), dtype=np.float64), mean)
    return steps


def _large_poisson(uniform: Floats, mean: Ints) -> Ints:
    """Quantiles of Poisson distributions of large means, by the Cornish-Fisher expansion."""
    from scipy.special import ndtri

    normal = ndtri(np.clip(uniform, 2.0**-54, 1 - 2.0**-53))
    quantile = np.floor(mean + np.sqrt(mean) * normal + (normal**2 - 1) / 6 + 0.5)
    drawn: Ints = np.maximum(quantile, 0).astype(np.int64)
    return drawn


def basic_interval(
    value: float | None,
    replicates: Sequence[float | None],
    confidence: float,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float] | None:
    """Interval of a metric from its resampled values: what resampling adds is taken off again.

    Resampled labels are noisier than the labels, which lifts metrics such as ECE; the basic bootstrap
    interval, ``2*value`` less the upper and the lower order statistic, takes that for what lifted the value
    itself (Davison and Hinkley 1997, sec. 5.2). It is widened where it would leave out the value, and cut
    to the metric's bounds.

    Returns
    -------
    low, high
        None where the metric is undefined.
    """
    defined = sorted(each for each in replicates if each is not None)
    if value is None or not defined:
        return None
    tail = int(np.floor((1 - confidence) / 2 * len(defined)))
    low, high = 2 * value - defined[-1 - tail], 2 * value - defined[tail]
    return max(bounds[0], min(value, low)), min(bounds[1], max(value, high))


def bounds_of(metric: str, difference: bool = False) -> tuple[float, float]:
    """Least and largest value of a metric by name, or of the difference of two."""
    largest = 100.0 if metric.startswith("tce") else 1.0
    if metric == "log_loss":
        largest = math.inf
    return (-largest if difference else 0.0), largest

"""Bootstrap weights keyed by row, and the intervals made of resampled metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.counts import Floats, Ints
from uqcli.draws import Purpose, uniforms


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
        return _poisson_quantile(uniform, 1)
    result = np.zeros(len(uniform), dtype=np.int64)
    for each in np.unique(weight[weight > 0]).tolist():
        rows = weight == each
        result[rows] = _poisson_quantile(uniform[rows], each)
    return result


def _poisson_quantile(uniform: Floats, mean: int) -> Ints:
    from scipy.special import pdtr

    lowest = max(0, int(mean - 12 * np.sqrt(mean) - 12))
    outcomes = np.arange(lowest, int(mean + 12 * np.sqrt(mean) + 30), dtype=np.float64)
    return lowest + np.searchsorted(pdtr(outcomes, mean), uniform, side="right").astype(np.int64)


def percentile_interval(
    value: float | None, replicates: Sequence[float | None], confidence: float
) -> tuple[float, float] | None:
    """Interval of a metric from its resampled values.

    The ends are order statistics of the replicates. Resampled labels are noisier than the labels, which lifts
    metrics that cannot be negative (such as ECE); where the interval would leave out the value itself
    it is widened to reach it.

    Returns
    -------
    low, high
        None where the metric is undefined.
    """
    defined = sorted(each for each in replicates if each is not None)
    if value is None or not defined:
        return None
    tail = int(np.floor((1 - confidence) / 2 * len(defined)))
    return min(value, defined[tail]), max(value, defined[-1 - tail])

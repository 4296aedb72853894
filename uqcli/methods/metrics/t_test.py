"""The one-sample t-test of many predictions against one bin's labels [TCE sec. 3]."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Bools, Floats


def rejected(score: Floats, positives: int, rows: int, alpha: float) -> Bools:
    """Whether the mean label of a bin differs from each prediction in it.

    Two-sided, with the sample standard deviation of the labels. A single label rejects nothing; labels
    that are all equal reject every other score.

    Parameters
    ----------
    score : float64, shape (m,)
    positives, rows
        k of n labels are positive; n at least 1.
    alpha
        Level in (0, 1].

    Returns
    -------
    bool, shape (m,)
    """
    from scipy.special import stdtr

    if rows == 1:
        return np.zeros(len(score), dtype=np.bool_)
    mean = positives / rows
    variance = rows * mean * (1 - mean) / (rows - 1)
    if positives in (0, rows):
        return np.not_equal(score, mean)
    t = np.abs(mean - score) / np.sqrt(variance / rows)
    against: Bools = 2 * stdtr(rows - 1, -t) <= alpha
    return against

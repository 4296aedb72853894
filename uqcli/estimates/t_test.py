"""One-sample t-tests of many predictions given the labels of their bins [TCE sec. 3]."""

from __future__ import annotations

import numpy as np

from uqcli.base.blockwise import VALUES_PER_PART
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.estimates.verdicts import Verdicts, changes


def rejected(score: Floats, start: Ints, positives: Ints, rows: Ints, alpha: float) -> Verdicts:
    """Test each prediction against the mean label of its bin.

    Two-sided, with the sample standard deviation of the labels. A single label rejects nothing; equal labels
    reject every other score.

    Parameters
    ----------
    score : float64, shape (m,)
    start : int64, shape (B+1,)
        Bin b holds scores ``start[b]`` to ``start[b+1]-1``, at least one.
    positives, rows : int64, shape (B,)
        k of the bin's n labels are positive; n at least 1.
    alpha
        Level in (0, 1].
    """
    runs = []
    for bin_index, (k, n) in enumerate(zip(positives.tolist(), rows.tolist(), strict=True)):
        for first in range(int(start[bin_index]), int(start[bin_index + 1]), VALUES_PER_PART):
            index = np.arange(first, min(first + VALUES_PER_PART, start[bin_index + 1]))
            runs.append(changes(_rejected_in_bin(score[index], k, n, alpha), index))
    return Verdicts.from_runs(runs, len(score))


def _rejected_in_bin(score: Floats, k: int, n: int, alpha: float) -> Bools:
    from scipy.special import stdtr

    mean = k / n
    if n == 1:
        return np.zeros(len(score), dtype=np.bool_)
    if k in (0, n):
        return np.not_equal(score, mean)
    standard_error = np.sqrt(n * mean * (1 - mean) / (n - 1) / n)
    is_rejected: Bools = 2 * stdtr(n - 1, -np.abs(mean - score) / standard_error) <= alpha
    return is_rejected

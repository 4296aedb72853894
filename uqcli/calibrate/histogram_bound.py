"""Histogram calibration with a distribution-free bound [LS Theorem 3]."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Ints
from uqcli.estimates.proportion import holm

_CLASSES = 2


def filled_from(rows: Ints) -> Ints:
    """Return the bin whose rates each bin has: the next non-empty one, or the last non-empty one."""
    filled = np.flatnonzero(rows)
    return filled[np.minimum(np.searchsorted(filled, np.arange(len(rows))), len(filled) - 1)]


def bounds(rows: Ints, bins: int, confidence: float, classes: int) -> list[float | None]:
    """Bound the error of the class frequencies of all bins at once, in the 1-norm [LS Theorem 3].

    For N rows of a fixed bin, ``(2/sqrt(N)) sqrt(ln(M 2^K / alpha) / 2)`` holds for M bins and K classes.
    Here each edge is the score of a row. Given the edges, the other rows of a bin are independent draws of
    the law between them, if no two scores are equal. So the bound of N - 1 rows holds for these, and the row
    at the lower edge adds at most 2/N. With equal scores the bound is confirmed by simulation.

    Parameters
    ----------
    rows : int64, shape (m,)
        Rows of adjacent bins, the lowest first.
    bins
        Number of all bins, M.

    Returns
    -------
    At most 2 each; None for an empty bin.
    """
    result: list[float | None] = []
    for index, count in enumerate(rows.tolist()):
        at_edge = 1 if index else 0
        inside = count - at_edge
        norm = inside * bound(inside, bins, confidence, classes) + 2 * at_edge if inside > 0 else 2.0 * count
        result.append(min(2.0, norm / count) if count else None)
    return result


def target_bound(weights: Sequence[float], norm: float, weight_error: float) -> float:
    """Compute the bound on the 1-norm after the correction for label shift [LS Theorem 4].

    ``2 kappa norm + 2 weight_error / min w`` with kappa the ratio of the largest to the smallest weight.

    Parameters
    ----------
    weights
        w(y), all positive.
    norm
        Bound on the 1-norm before the correction.
    weight_error
        Bound on the error of the weights.

    Examples
    --------
    >>> target_bound([1.0, 1.0], 0.1, 0.0)
    0.2
    """
    smallest = min(weights)
    return 2 * max(weights) / smallest * norm + 2 * weight_error / smallest


def bound(rows: int, bins: int, confidence: float, classes: int = _CLASSES) -> float:
    """Compute the simultaneous bound on the 1-norm between class frequencies and probabilities of all bins.

    Examples
    --------
    >>> round(bound(10_000, 10, 0.95), 4)
    0.0366
    """
    alpha = 1 - confidence
    return 2 / math.sqrt(rows) * math.sqrt(0.5 * math.log(bins * 2**classes / alpha))


def error_p_values(
    positives: Ints, count: Ints, rate: Sequence[float], error: Sequence[float | None]
) -> dict[int, float]:
    """Test by bin whether the true rate is within its error bound; return the p-values adjusted by Holm.

    The p-values are exact and two-sided: doubled binomial tails at the nearer end of each range.

    Parameters
    ----------
    positives, count : int64, shape (M,)
        Positives and rows of each bin in new data.
    rate, error
        Rates and error bounds of the rule; None for a bin without calibration rows.

    Returns
    -------
    By bin index, for bins with new rows and an error bound.
    """
    from scipy.special import bdtr, bdtrc

    p_values = {}
    for bin_index, (k, n, bin_rate, error_bound) in enumerate(
        zip(positives.tolist(), count.tolist(), rate, error, strict=True)
    ):
        if n and error_bound is not None:
            low, high = max(0.0, bin_rate - error_bound), min(1.0, bin_rate + error_bound)
            lower_tail = float(bdtr(float(k), n, low)) if k < n else 1.0
            upper_tail = float(bdtrc(k - 1.0, n, high)) if k > 0 else 1.0
            p_values[bin_index] = min(1.0, 2 * min(lower_tail, upper_tail))
    return holm(p_values)

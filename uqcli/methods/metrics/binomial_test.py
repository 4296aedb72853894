"""The exact two-sided binomial test of many predictions against one bin's labels [TCE sec. 3]."""

from __future__ import annotations

import math

import numpy as np

from uqcli.counts import Bools, Floats, Ints

_RELATIVE = 1 + 1e-7
"""Outcomes count as extreme up to this factor above the observed one's probability, as in scipy."""

_MARGIN = 1e-9


def rejected(score: Floats, positives: int, rows: int, alpha: float) -> Bools:
    """Whether the labels of a bin speak against each prediction in it.

    For each score Q the hypothesis is that labels are positive with probability Q; it is rejected if
    the sum of the probabilities of all outcomes not more likely than the observed one is at most alpha.
    The p-value is not monotone in Q, so the rejected scores are no interval. Far from the observed rate
    one tail alone decides; only the few scores in between are evaluated one by one.

    Parameters
    ----------
    score : float64, shape (m,)
        In [0, 1].
    positives, rows
        k of n labels are positive; n at least 1.
    alpha
        Level in (0, 1].

    Returns
    -------
    bool, shape (m,)
    """
    above_low, above_high = _undecided_above(positives, rows, alpha)
    below_low, below_high = _undecided_above(rows - positives, rows, alpha)
    result = (score > above_high) | (1 - score > below_high)
    near = ((score >= above_low) & (score <= above_high)) | (
        (1 - score >= below_low) & (1 - score <= below_high)
    )
    if near.any():
        result[near] = p_value(score[near], positives, rows) <= alpha
    return result


def _undecided_above(k: int, n: int, alpha: float) -> tuple[float, float]:
    """Scores above k/n that are neither surely accepted (below low) nor surely rejected (above high)."""
    from scipy.special import betaincinv

    if k == n:
        return 2.0, 2.0
    low = float(betaincinv(k + 1, n - k, max(1 - alpha, 0.0))) * (1 - _MARGIN) - _MARGIN
    first, last = k + 1, n + 1  # pieces: between the scores where outcome j and j + 1 stop being extreme
    while first < last:
        j = (first + last) // 2
        if _highest_on_piece(j, k, n) > alpha:
            first = j + 1
        else:
            last = j
    high = _leaves(first, k, n) if first <= n else 1.0
    return low, min(1.0, high * (1 + _MARGIN) + _MARGIN)


def _leaves(j: int, k: int, n: int) -> float:
    """Score above which outcome j > k is more likely than outcome k and so no longer extreme."""
    gap = _log_choose(n, k) - _log_choose(n, j) + math.log1p(1e-7)
    logit = gap / (j - k)
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


def _highest_on_piece(j: int, k: int, n: int) -> float:
    """Bound on the p-value where outcomes above j, and those up to k, are extreme."""
    from scipy.special import bdtr, bdtrc

    left = _leaves(j, k, n)
    right = _leaves(j + 1, k, n) if j < n else 1.0
    return float(max(bdtr(k, n, q) + (bdtrc(j, n, q) if j < n else 0.0) for q in (left, right)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def p_value(score: Floats, positives: int, rows: int) -> Floats:
    """Two-sided exact p-values of one outcome under many scores.

    Parameters
    ----------
    score : float64, shape (m,)

    Returns
    -------
    float64, shape (m,)
    """
    from scipy.special import bdtr, bdtrc

    expected = score * rows
    observed = _pmf(np.full(len(score), positives), rows, score) * _RELATIVE
    below = positives < expected
    above = positives > expected
    upper = _first_extreme_above(score, rows, observed)
    lower = rows - _first_extreme_above(1 - score, rows, observed)
    p = np.ones(len(score))
    tail = np.where(upper > rows, 0.0, bdtrc(upper - 1.0, rows, score))
    p = np.where(below, bdtr(float(positives), rows, score) + tail, p)
    head = np.where(lower < 0, 0.0, bdtr(np.maximum(lower, 0).astype(np.float64), rows, score))
    over = bdtrc(positives - 1.0, rows, score) if positives > 0 else np.ones(len(score))
    p = np.where(above, over + head, p)
    result: Floats = np.minimum(p, 1.0)
    return result


def _first_extreme_above(score: Floats, rows: int, bound: Floats) -> Ints:
    """Smallest outcome from the mean up whose probability is at most the bound; rows + 1 if none."""
    low = np.ceil(score * rows).astype(np.int64)
    high = np.full(len(score), rows + 1, dtype=np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        extreme = _pmf(np.minimum(middle, rows), rows, score) <= bound
        high = np.where((low < high) & extreme, middle, high)
        low = np.where((low < high) & ~extreme, middle + 1, low)
    return low


def _pmf(outcome: Ints, rows: int, score: Floats) -> Floats:
    """Binomial probabilities."""
    from scipy.special import gammaln, xlog1py, xlogy

    choose = gammaln(rows + 1) - gammaln(outcome + 1) - gammaln(rows - outcome + 1)
    probability: Floats = np.exp(choose + xlogy(outcome, score) + xlog1py(rows - outcome, -score))
    return probability

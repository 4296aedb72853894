"""The exact two-sided binomial test of many predictions against their bins' labels [TCE sec. 3]."""

from __future__ import annotations

import math

import numpy as np

from uqcli.counts import Bools, Floats, Ints

_RELATIVE = 1 + 1e-7
"""Outcomes count as extreme up to this factor above the observed one's probability, as in scipy."""


def rejected(score: Floats, start: Ints, positives: Ints, rows: Ints, alpha: float) -> Bools:
    """Whether the labels of a bin speak against each prediction in it.

    For each score Q the hypothesis is that labels are positive with probability Q; it is rejected if
    the sum of the probabilities of all outcomes not more likely than the observed one is at most alpha.
    The p-value is not monotone in Q, so the rejected scores are no interval. Far from the observed rate
    one tail alone decides; only the few scores in between are evaluated one by one.

    Parameters
    ----------
    score : float64, shape (m,)
        In [0, 1], ascending.
    start : int64, shape (B+1,)
        Bin b holds scores ``start[b]`` to ``start[b+1]-1``, at least one.
    positives, rows : int64, shape (B,)
        k of the bin's n labels are positive; n at least 1.
    alpha
        Level in (0, 1].

    Returns
    -------
    bool, shape (m,)
    """
    above_low, above_high = _undecided_above(positives, rows, alpha)
    below_low, below_high = _undecided_above(rows - positives, rows, alpha)
    result = np.ones(len(score), dtype=np.bool_)
    near = []
    for number in range(len(rows)):
        begin, inside = int(start[number]), score[start[number] : start[number + 1]]
        first, last = (
            inside.searchsorted(1 - below_high[number]),
            inside.searchsorted(above_high[number], "right"),
        )
        accepted = inside.searchsorted(1 - below_low[number], "right")
        accepted_to = inside.searchsorted(above_low[number])
        if accepted < accepted_to:
            result[begin + accepted : begin + accepted_to] = False
            near += [(number, begin + first, begin + accepted), (number, begin + accepted_to, begin + last)]
        else:
            near.append((number, begin + first, begin + last))
    of_bin = np.concatenate([np.full(max(0, stop - first), number) for number, first, stop in near])
    at = np.concatenate([np.arange(first, stop) for _, first, stop in near])
    if len(at):
        result[at] = p_values(score[at], positives[of_bin], rows[of_bin]) <= alpha
    return result


def _undecided_above(k: Ints, n: Ints, alpha: float) -> tuple[Floats, Floats]:
    """Scores above k/n that are neither surely accepted (below low) nor surely rejected (above high)."""
    from scipy.special import betaincinv

    margin = 1e-9 + 1e-14 * n  # the logarithms of binomial coefficients lose digits as n grows
    low = betaincinv(k + 1, np.maximum(n - k, 1), max(1 - alpha, 0.0)) * (1 - margin) - margin
    # pieces between the scores where outcomes j and j + 1 stop being extreme; bisect for the first piece
    # on which the p-value stays at or below alpha
    first, last = k + 1, n + 1
    open_ = np.flatnonzero(first < last)
    while len(open_):
        j = (first[open_] + last[open_]) // 2
        stays_above = _highest_on_piece(j, k[open_], n[open_]) > alpha
        first[open_] = np.where(stays_above, j + 1, first[open_])
        last[open_] = np.where(stays_above, last[open_], j)
        open_ = open_[first[open_] < last[open_]]
    high = np.where(first <= n, _leaves(np.minimum(first, n), k, n), 1.0)
    high = np.minimum(1.0, high * (1 + margin) + margin)
    none = k == n
    return np.where(none, 2.0, low), np.where(none, 2.0, high)


def _highest_on_piece(j: Ints, k: Ints, n: Ints) -> Floats:
    """Bound on the p-value where outcomes above j, and those up to k, are extreme."""
    from scipy.special import bdtr, bdtrc

    highest = np.zeros(len(j))
    for end in (_leaves(j, k, n), np.where(j < n, _leaves(np.minimum(j + 1, n), k, n), 1.0)):
        tail = np.where(j < n, bdtrc(j.astype(np.float64), n, end), 0.0)
        highest = np.maximum(highest, bdtr(k.astype(np.float64), n, end) + tail)
    return highest


def _leaves(j: Ints, k: Ints, n: Ints) -> Floats:
    """Score above which outcome j > k is more likely than outcome k and so no longer extreme."""
    from scipy.special import expit

    gap = _log_choose(n, k) - _log_choose(n, j) + math.log1p(1e-7)
    score: Floats = expit(gap / np.maximum(j - k, 1))
    return score


def p_values(score: Floats, positives: Ints, rows: Ints) -> Floats:
    """Two-sided exact p-values of outcomes under scores, element by element.

    Parameters
    ----------
    score : float64, shape (m,)
    positives, rows : int64, shape (m,)

    Returns
    -------
    float64, shape (m,)
    """
    from scipy.special import bdtr, bdtrc

    p = np.ones(len(score))
    expected = score * rows
    below, above = positives < expected, positives > expected
    if below.any():
        q, k, n = score[below], positives[below], rows[below]
        upper = _first_extreme_above(q, n, _pmf(k, n, q) * _RELATIVE)
        p[below] = bdtr(k.astype(np.float64), n, q) + np.where(upper > n, 0.0, bdtrc(upper - 1.0, n, q))
    if above.any():
        q, k, n = score[above], positives[above], rows[above]
        lower = n - _first_extreme_above(1 - q, n, _pmf(k, n, q) * _RELATIVE)
        p[above] = bdtrc(k - 1.0, n, q) + np.where(lower < 0, 0.0, bdtr(np.maximum(lower, 0.0), n, q))
    result: Floats = np.minimum(p, 1.0)
    return result


def _first_extreme_above(score: Floats, rows: Ints, bound: Floats) -> Ints:
    """Smallest outcome from the mean up whose probability is at most the bound; rows + 1 if none."""
    low = np.ceil(score * rows).astype(np.int64)
    high = rows + 1
    open_ = np.flatnonzero(low < high)
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        n = rows[open_]
        extreme = _pmf(np.minimum(middle, n), n, score[open_]) <= bound[open_]
        high[open_] = np.where(extreme, middle, high[open_])
        low[open_] = np.where(extreme, low[open_], middle + 1)
        open_ = open_[low[open_] < high[open_]]
    return low


def _pmf(outcome: Ints, rows: Ints, score: Floats) -> Floats:
    """Binomial probabilities."""
    from scipy.special import xlog1py, xlogy

    log_p = _log_choose(rows, outcome) + xlogy(outcome, score) + xlog1py(rows - outcome, -score)
    probability: Floats = np.exp(log_p)
    return probability


def _log_choose(n: Ints, k: Ints) -> Floats:
    from scipy.special import gammaln

    result: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result

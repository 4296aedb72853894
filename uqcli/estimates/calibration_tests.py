"""Exact binomial tests and t-tests of many predictions given the labels of their bins [TCE sec. 3]."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from scipy.special import bdtr, bdtrc, betainc, betaincc, gammaln, stdtr, xlog1py, xlogy

from uqcli.base.blockwise import VALUES_PER_PART
from uqcli.base.counts import Bools, Floats, Ints, distinct_numbers
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Runs of sorted scores that are rejected, or not: adjacent scores mostly have the same result.

    ``start``, of shape (r+1,), has the start of each run, ascending; its last element is the number of
    scores. ``rejected`` has shape (r,).
    """

    start: Ints
    rejected: Bools

    @classmethod
    def from_runs(cls, runs: Iterable[tuple[Ints, Bools]], scores: int) -> Verdicts:
        """Sort and merge runs, given by their starts and results; each ends where the next begins."""
        start, rejected = (np.concatenate(column) for column in zip(*runs, strict=True))
        order = np.argsort(start)
        start, rejected = start[order], rejected[order]
        starts_run = np.ones(len(start), dtype=np.bool_)
        starts_run[1:] = rejected[1:] != rejected[:-1]
        return cls(start=np.append(start[starts_run], scores), rejected=rejected[starts_run])

    def take(self, index: Ints) -> Bools:
        """Whether the scores at given positions are rejected."""
        return self.rejected[self.start.searchsorted(index, side="right") - 1]

    def of_scores(self) -> Bools:
        """Whether each score is rejected; bool, shape (m,)."""
        return np.repeat(self.rejected, np.diff(self.start))


def changes(rejected: Bools, index: Ints) -> tuple[Ints, Bools]:
    """Merge the results of single scores, at ascending indices, into runs: their starts and results."""
    starts_run = np.ones(len(index), dtype=np.bool_)
    starts_run[1:] = (rejected[1:] != rejected[:-1]) | (index[1:] != index[:-1] + 1)
    return index[starts_run], rejected[starts_run]


_EXTREME_FACTOR = 1 + 1e-7
"""Factor on the observed outcome's probability up to which others count as extreme, as in scipy."""

_LEVEL_FACTOR = 1 + 1e-12
"""Factor on the level up to which a p-value counts as equal to it, since tails are rounded."""

_MAX_UNSPLIT, _MAX_UNSPLIT_TOTAL, _PIECES_PER_SPLIT = 16, 1024, 4
"""Maximum scores of a range that is tested one by one, the same over all bins, and pieces per split."""

_MAX_SCIPY_ROWS = 1 << 20
"""Rows up to which scipy's binomial tails are accurate; beyond, they lose digits near the mean, then all."""

_ENOUGH = 2.0
"""Multiple of the level from which p-values are not computed in full; margins do not change their verdict."""

_MIN_BOUNDED_ALPHA = 1e-200
"""Level down to which bounds are used; below, probabilities lose digits and underflow."""


def binomial_rejected(score: Floats, start: Ints, positives: Ints, rows: Ints, alpha: float) -> Verdicts:
    """Test each prediction given the labels of its bin.

    The null hypothesis for a score Q is that labels are positive with probability Q. It is rejected if the
    p-value is at most alpha: the total probability of all outcomes at most as likely as the observed one. The
    p-value is not monotone in Q, so the rejected scores need not form an interval. Its tails are monotone on
    either side of the observed rate, so the ends of a range of scores bound all p-values within it. Ranges
    that the bounds do not decide are split, and small ranges are tested score by score.

    Scores ascend in [0, 1], shape (m,). Bin b holds scores ``start[b]`` to ``start[b+1]-1``, at least one; k
    of its n labels are positive, with n at least 1.
    """
    if alpha * _LEVEL_FACTOR >= 1:
        return Verdicts.from_runs([(start[:1], np.ones(1, dtype=np.bool_))], len(score))
    max_unsplit = (
        max(_MAX_UNSPLIT, _MAX_UNSPLIT_TOTAL // len(rows)) if alpha > _MIN_BOUNDED_ALPHA else len(score)
    )
    ranges = _split_at_rate(score, start, positives, rows)
    runs, small = [], []
    while True:
        is_small = ranges[2] - ranges[1] <= max_unsplit
        small.append(ranges[:, is_small])
        if is_small.all():
            break
        ranges = ranges[:, ~is_small]
        accepts, rejects = _decided(score, ranges, positives, rows, alpha)
        decided = accepts | rejects
        runs.append((ranges[1, decided], rejects[decided]))
        ranges = _cut(ranges[:, ~decided])
    return Verdicts.from_runs([*runs, *_one_by_one(score, small, positives, rows, alpha)], len(score))


_ScoreRanges: TypeAlias = Ints
"""Ranges of scores, each on one side of its bin's rate: bin, first score and end, shape (3, s)."""


def _cut(ranges: _ScoreRanges) -> _ScoreRanges:
    """Split every range into pieces; each has at least as many scores as pieces."""
    bin_index, first, stop = ranges
    length = stop - first
    cuts = [first + length * piece // _PIECES_PER_SPLIT for piece in range(_PIECES_PER_SPLIT + 1)]
    return np.stack(
        [np.tile(bin_index, _PIECES_PER_SPLIT), np.concatenate(cuts[:-1]), np.concatenate(cuts[1:])]
    )


def _split_at_rate(score: Floats, start: Ints, positives: Ints, rows: Ints) -> _ScoreRanges:
    """Return two ranges per bin: the scores below its rate, and the others."""
    bin_index = np.arange(len(rows))
    middle = np.clip(np.searchsorted(score, positives / rows), start[:-1], start[1:])
    ranges = np.stack(
        [
            np.concatenate([bin_index, bin_index]),
            np.concatenate([start[:-1], middle]),
            np.concatenate([middle, start[1:]]),
        ]
    )
    return ranges[:, ranges[1] < ranges[2]]


def _decided(
    score: Floats, ranges: _ScoreRanges, positives: Ints, rows: Ints, alpha: float
) -> tuple[Bools, Bools]:
    """Return the masks of ranges that are entirely accepted, and entirely rejected."""
    bin_index, first, stop = ranges
    k, n = positives[bin_index], rows[bin_index]
    low, high = score[first], score[stop - 1]
    accepts, rejects = np.zeros((2, len(k)), dtype=np.bool_)
    # far larger than the rounding error of logarithms and tails
    margin: Floats = 1e-9 + 1e-13 * n.astype(np.float64)
    enough = _ENOUGH * alpha
    above = k <= low * n
    for p_value, side, inner, outer in (
        (_p_above, above, low, high),
        (_p_below, ~above & (k >= high * n), high, low),
    ):
        index = np.flatnonzero(side)
        if not len(index):
            continue
        factor = _EXTREME_FACTOR * (1 + margin[index])
        upper_bound = p_value(inner[index], outer[index], k[index], n[index], factor, enough=enough)
        rejects[index] = upper_bound * (1 + margin[index]) < alpha
        index = index[~rejects[index]]
        if not len(index):
            continue
        factor = _EXTREME_FACTOR * (1 - margin[index])
        lower_bound = p_value(outer[index], inner[index], k[index], n[index], factor, enough=enough)
        accepts[index] = lower_bound * (1 - margin[index]) > alpha
    return accepts, rejects


def _one_by_one(
    score: Floats, small: list[_ScoreRanges], positives: Ints, rows: Ints, alpha: float
) -> list[tuple[Ints, Bools]]:
    """Test the scores of small ranges one by one."""
    bin_index, first, stop = np.concatenate(small, axis=1)
    size = stop - first
    order = np.argsort(first)
    bin_index, first, size = bin_index[order], first[order], size[order]
    cumulative = np.cumsum(size)
    cuts = distinct_numbers(np.searchsorted(cumulative, np.arange(0, size.sum(), VALUES_PER_PART)))
    runs = []
    for a, b in itertools.pairwise([*cuts.tolist(), len(size)]):
        sizes = size[a:b]
        index = np.repeat(first[a:b] - (cumulative[a:b] - sizes), sizes)
        index += np.arange(cumulative[a] - sizes[0], cumulative[b - 1])
        bins = np.repeat(bin_index[a:b], sizes)
        p_value = p_values(score[index], positives[bins], rows[bins], _ENOUGH * alpha)
        runs.append(changes(p_value <= alpha * _LEVEL_FACTOR, index))
    return runs


def p_values(score: Floats, positives: Ints, rows: Ints, enough: float = 1.0) -> Floats:
    """Compute the exact two-sided p-values of outcomes under scores, elementwise; float64, shape (m,).

    Of p-values above ``enough``, only the tail with the outcome is computed, if that is above it too.
    """
    p = np.ones(len(score))
    expected = score * rows
    for p_value, mask in ((_p_above, positives < expected), (_p_below, positives > expected)):
        if mask.any():
            q, k, n = score[mask], positives[mask], rows[mask]
            p[mask] = p_value(q, q, k, n, np.full(len(q), _EXTREME_FACTOR), enough=enough)
    result: Floats = np.minimum(p, 1.0)
    return result


def _p_above(score: Floats, far: Floats, k: Ints, n: Ints, factor: Floats, *, enough: float) -> Floats:
    """Add ``P(X <= k)`` under scores above the rate and the extreme upper outcomes under scores ``far``.

    The first term decreases with its own score, the second increases. More outcomes are extreme for lower
    scores, and for a larger factor on the observed probability. Where the first term is above ``enough``,
    the second is left out.
    """
    p = _at_most(k, n, score)
    index = np.flatnonzero(p <= enough)
    if len(index):
        k, n, score = k[index], n[index], score[index]
        first = _first_extreme_above(k, n, score, _pmf(k, n, score) * factor[index])
        p[index] += _at_least(first, n, far[index])
    return p


def _p_below(score: Floats, far: Floats, k: Ints, n: Ints, factor: Floats, *, enough: float) -> Floats:
    """Mirror ``_p_above``: ``P(X >= k)`` under scores below the rate, plus the extreme lower outcomes."""
    p = _at_least(k, n, score)
    index = np.flatnonzero(p <= enough)
    if len(index):
        k, n, score = k[index], n[index], score[index]
        lower = n - _first_extreme_above(n - k, n, 1 - score, _pmf(k, n, score) * factor[index])
        p[index] += np.where(lower < 0, 0.0, _at_most(np.maximum(lower, 0), n, far[index]))
    return p


def _at_most(k: Ints, n: Ints, score: Floats) -> Floats:
    """Compute ``P(X <= k)`` for k from 0 to n."""
    p: Floats = bdtr(k.astype(np.float64), np.minimum(n, _MAX_SCIPY_ROWS), score)
    many = np.flatnonzero(n > _MAX_SCIPY_ROWS)
    if len(many):
        k, n = k[many], n[many]
        p[many] = np.where(k == n, 1.0, betaincc(k + 1.0, np.maximum(n - k, 1.0), score[many]))
    return p


def _at_least(k: Ints, n: Ints, score: Floats) -> Floats:
    """Compute ``P(X >= k)`` for k from 0 to n + 1."""
    p: Floats = np.where(k > n, 0.0, bdtrc(k - 1.0, np.minimum(n, _MAX_SCIPY_ROWS), score))
    many = np.flatnonzero((n > _MAX_SCIPY_ROWS) & (k <= n))
    if len(many):
        k, n = k[many], n[many]
        p[many] = np.where(k == 0, 1.0, betainc(np.maximum(k, 1.0), n - k + 1.0, score[many]))
    return p


def _first_extreme_above(k: Ints, rows: Ints, score: Floats, bound: Floats) -> Ints:
    """Find the smallest outcome from the mean up whose probability is at most the bound, else rows + 1.

    The bound is about the probability of k, below the mean. The outcome is mostly near its mirror image,
    where the search begins.
    """
    of_rows = gammaln(rows + 1)

    def is_extreme(outcome: Ints) -> Bools:
        return _pmf(outcome, rows, score, of_rows) <= bound

    mean = score * rows
    low, high = np.ceil(mean).astype(np.int64), rows + 1
    outcome = (2 * mean).astype(np.int64) - k
    step = (outcome - k) // 16 + 2
    while True:  # up in growing steps, to the first of them that is extreme
        outcome = np.clip(outcome, low, rows)
        extreme = is_extreme(outcome)
        high = np.where(extreme, outcome, high)
        low = np.where(extreme, low, outcome + 1)
        if (extreme | (outcome == rows)).all():
            break
        outcome, step = np.where(extreme, outcome, outcome + step), 2 * step
    while (unresolved := low < high).any():
        middle = np.minimum((low + high) // 2, rows)
        extreme = is_extreme(middle)
        high = np.where(extreme & unresolved, middle, high)
        low = np.where(extreme | ~unresolved, low, middle + 1)
    return low


def _pmf(outcome: Ints, rows: Ints, score: Floats, log_factorial: Floats | None = None) -> Floats:
    """Compute the binomial probabilities; the logarithm of ``rows!`` may be known."""
    if log_factorial is None:
        log_factorial = gammaln(rows + 1)
    log_choose = log_factorial - gammaln(outcome + 1) - gammaln(rows - outcome + 1)
    probability: Floats = np.exp(log_choose + xlogy(outcome, score) + xlog1py(rows - outcome, -score))
    return probability


def t_rejected(score: Floats, start: Ints, positives: Ints, rows: Ints, alpha: float) -> Verdicts:
    """Test each prediction against the mean label of its bin; arguments are those of ``binomial_rejected``.

    Two-sided, with the sample standard deviation of the labels. A single label rejects nothing; equal labels
    reject every other score.
    """
    runs = []
    for bin_index, (k, n) in enumerate(zip(positives.tolist(), rows.tolist(), strict=True)):
        for first in range(int(start[bin_index]), int(start[bin_index + 1]), VALUES_PER_PART):
            index = np.arange(first, min(first + VALUES_PER_PART, start[bin_index + 1]))
            runs.append(changes(_rejected_in_bin(score[index], k, n, alpha), index))
    return Verdicts.from_runs(runs, len(score))


def _rejected_in_bin(score: Floats, k: int, n: int, alpha: float) -> Bools:
    mean = k / n
    if n == 1:
        return np.zeros(len(score), dtype=np.bool_)
    if k in (0, n):
        return np.not_equal(score, mean)
    standard_error = np.sqrt(n * mean * (1 - mean) / (n - 1) / n)
    is_rejected: Bools = 2 * stdtr(n - 1, -np.abs(mean - score) / standard_error) <= alpha
    return is_rejected

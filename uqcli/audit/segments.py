"""Segments of rows, every value of some columns and every pair of values of two columns, and their tests.

A segment's two-sided p-value says how well its number of positives agrees with its scores. It is exact
(Poisson binomial) where few positives or few negatives are expected. Elsewhere it is the saddlepoint
approximation of Lugannani and Rice (1980) with a continuity correction. The normal tail is wrong by up to
eight times at small p-values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri

from uqcli.base.counts import Bools, Feature, Floats, Ints, bin_of
from uqcli.base.draws import hashes
from uqcli.base.records import dataclass
from uqcli.base.wording import ranges
from uqcli.estimates.proportion import POWER
from uqcli.kernels.poisson_binomial import distribution
from uqcli.kernels.sums import indices_of_ranks
from uqcli.kernels.units import dense_ranks

MIN_ROWS: Final = 50
"""Weight below which a segment is not tested."""

MAX_NUMBERS: Final = 10
"""Distinct numbers of a column that are values; more are cut at their quartiles."""

MISSING: Final = -1


@dataclass(frozen=True, kw_only=True)
class Division:
    """Disjoint segments by the values of one column or of two, given by index.

    ``values``, shape (S, columns), is the index of each segment's value in each column; ``segment``, shape
    (n,), that of each row's segment, -1 for none; ``rows``, shape (S,), the weight of each segment. All are
    int64.
    """

    columns: tuple[int, ...]
    values: Ints
    segment: Ints
    rows: Ints


def values_of(feature: Feature, weight: Ints) -> tuple[list[str | None], Ints]:
    """Return the texts of a column's values, and the index of each row's value, int64, shape (n,).

    More than ``MAX_NUMBERS`` numbers are cut at their quartiles. The last text, None, is that of missing
    values, whose index is MISSING. Weights, shape (n,), are positive.
    """
    value = feature.value
    if feature.levels is not None:
        return [*feature.levels, "(other)", None], value.astype(np.int64)
    missing = np.isnan(value)
    numbers, inverse = np.unique(value[~missing] + 0.0, return_inverse=True)
    index = np.full(len(value), MISSING, dtype=np.int64)
    if len(numbers) <= MAX_NUMBERS:
        index[~missing] = inverse
        return [*map(_shortest, numbers.tolist()), None], index
    count = np.zeros(len(numbers), dtype=np.int64)
    np.add.at(count, inverse, weight[~missing])
    ranks = int(count.sum()) * np.array([1, 2, 3]) // 4
    quartiles = np.unique(numbers[indices_of_ranks(count, ranks)])
    quartiles = quartiles[quartiles > numbers[0]]
    index[~missing] = bin_of(value[~missing], quartiles)
    return [*ranges(quartiles.tolist()), None], index


def _shortest(number: float) -> str:
    """Format a number with the digits that it needs."""
    return str(int(number)) if number.is_integer() else repr(number)


def divisions(columns: Sequence[Ints], weight: Ints) -> Iterator[Division]:
    """Divide the rows by each column, then by each pair, into segments of at least ``MIN_ROWS``.

    Columns are given by the index of each row's value. A segment with the same rows as an earlier one is left
    out. Weights, shape (n,), are positive.
    """
    seen: set[tuple[int, int]] = set()
    identity = hashes([np.arange(len(weight))])
    large = []
    for column, index in enumerate(columns):
        division = _division((column,), index[:, None], weight)
        large.append(np.where(division.segment >= 0, index, MISSING - 1))
        yield _unseen(division, identity, seen)
    for first, second in combinations(range(len(columns)), 2):
        pair = np.stack([large[first], large[second]], axis=1)
        yield _unseen(_division((first, second), pair, weight), identity, seen)


def _division(columns: tuple[int, ...], index: Ints, weight: Ints) -> Division:
    """Divide the rows by the indices of their values; rows with an index below MISSING have no segment."""
    shifted = index - MISSING
    present = (shifted >= 0).all(axis=1)
    widths = shifted.max(axis=0, initial=0) + 1
    code = np.zeros(len(index), dtype=np.int64)
    for column, width in zip(shifted.T, widths.tolist(), strict=True):
        code = code * width + column
    codes, position = dense_ranks(code[present])
    rows = np.zeros(len(codes), dtype=np.int64)
    np.add.at(rows, position, weight[present])
    segment = np.full(len(index), -1, dtype=np.int64)
    segment[present] = _renumbered(rows >= MIN_ROWS)[position]
    kept = codes[rows >= MIN_ROWS]
    values = np.stack(np.unravel_index(kept, tuple(widths.tolist())), axis=1).astype(np.int64) + MISSING
    return Division(columns=columns, values=values, segment=segment, rows=rows[rows >= MIN_ROWS])


def _unseen(division: Division, identity: NDArray[np.uint64], seen: set[tuple[int, int]]) -> Division:
    """Keep the segments whose rows are not those of an earlier segment."""
    inside = division.segment >= 0
    digest = np.zeros(len(division.rows), dtype=np.uint64)
    np.add.at(digest, division.segment[inside], identity[inside])
    fresh = np.ones(len(division.rows), dtype=np.bool_)
    for index, key in enumerate(zip(division.rows.tolist(), digest.tolist(), strict=True)):
        fresh[index] = key not in seen
        seen.add(key)
    if fresh.all():
        return division
    segment = np.where(inside, _renumbered(fresh)[division.segment], -1)
    return Division(
        columns=division.columns, values=division.values[fresh], segment=segment, rows=division.rows[fresh]
    )


def _renumbered(kept: NDArray[np.bool_]) -> Ints:
    """Return the new index of each segment; -1 for those that are not kept."""
    return np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int64)


_EXACT_BELOW: Final = 10
"""Expected positives, or negatives, below which the tail is exact."""

_MAX_STATES: Final = 1024
"""States of an exact tail; beyond, the observed number is so far off that the p-value is nearly 0."""

_ITERATIONS: Final = 100


@dataclass(frozen=True, kw_only=True)
class Segmented:
    """Rows of some disjoint segments.

    ``score`` has expected probabilities, in [0, 1], in an order that depends on the rows only; ``segment`` is
    the index of each row's segment; shape (n,). ``observed``, shape (S,), are the positives of each segment,
    by weight.
    """

    score: Floats
    weight: Ints
    segment: Ints
    observed: Ints

    def sums(self, amount: Floats) -> Floats:
        """Sum an amount of each row, times its weight, by segment; float64, shape (S,)."""
        total: Floats = np.bincount(self.segment, amount * self.weight, len(self.observed)).astype(np.float64)
        return total

    def select(self, rows: Bools) -> Segmented:
        """Select rows; the segments stay."""
        return Segmented(
            score=self.score[rows],
            weight=self.weight[rows],
            segment=self.segment[rows],
            observed=self.observed,
        )


def two_sided_p(rows: Segmented) -> Floats:
    """Return twice the smaller tail of each segment, at most 1; float64, shape (S,).

    Scores of 0 and 1 are certain: labels that contradict them have a p-value of 0.
    """
    certain = rows.sums((rows.score == 1).astype(np.float64)).astype(np.int64)
    open_rows = rows.select((rows.score > 0) & (rows.score < 1))
    size = open_rows.sums(np.ones(len(open_rows.score))).astype(np.int64)
    observed = rows.observed - certain
    expected = open_rows.sums(open_rows.score)
    p_value = np.zeros(len(observed))
    possible = (observed >= 0) & (observed <= size)
    is_exact = possible & ((expected < _EXACT_BELOW) | (size - expected < _EXACT_BELOW))
    mirrored = size - expected < expected
    states = np.where(mirrored, size - observed, observed)
    is_exact &= states < _MAX_STATES
    if is_exact.any():
        order = np.argsort(open_rows.segment, kind="stable")
        cuts = np.searchsorted(open_rows.segment[order], np.arange(len(observed) + 1))
        for index in np.flatnonzero(is_exact).tolist():
            inside = order[cuts[index] : cuts[index + 1]]
            score = open_rows.score[inside]
            p_value[index] = _exact_p(
                1 - score if mirrored[index] else score, open_rows.weight[inside], int(states[index])
            )
    smooth = possible & ~is_exact
    if smooth.any():
        p_value[smooth] = _saddlepoint_p(open_rows, observed, size, expected, smooth)[smooth]
    return np.minimum(p_value, 1.0)


def detectable_gaps(error: Floats, level: float) -> Floats:
    """Return the deviation of the rate that a test would show with probability ``POWER``, by segment.

    ``error``, shape (S,), is the standard error of the rate of each segment, if the scores are right;
    ``level`` that of the test.
    """
    gap: Floats = (-ndtri(level / 2) + ndtri(POWER)) * error
    return gap


def _exact_p(score: Floats, weight: Ints, observed: int) -> float:
    mass = distribution(score, weight, observed + 1)
    return 2 * min(float(mass[: observed + 1].sum()), float(mass[observed:].sum()))


def _saddlepoint_p(rows: Segmented, observed: Ints, size: Ints, expected: Floats, wanted: Bools) -> Floats:
    """Approximate twice the tail on the side of the observed positives; exchange labels for the lower one."""
    lower = observed < expected
    inside = wanted[rows.segment]
    rows = rows.select(inside)
    score = np.where(lower[rows.segment], 1 - rows.score, rows.score)
    rows = Segmented(score=score, weight=rows.weight, segment=rows.segment, observed=rows.observed)
    target = np.where(wanted, np.where(lower, size - observed, observed), 1).astype(np.float64)
    total = np.where(wanted, size, 2).astype(np.float64)
    mean = np.where(wanted, np.where(lower, size - expected, expected), 1.0)
    variance = np.where(wanted, rows.sums(score * (1 - score)), 0.5)
    inner = wanted & (target < total)
    tilt = _tilts(rows, target, total, mean, inner)
    log_growth = rows.sums(np.log1p(score * np.expm1(tilt[rows.segment])))
    tilted = _tilted(rows, tilt)
    spread = np.where(inner, rows.sums(tilted * (1 - tilted)), 1.0)
    signed = np.sqrt(np.maximum(2 * (tilt * target - log_growth), 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = 1 / (-np.expm1(-tilt) * np.sqrt(spread)) - 1 / signed
        near = signed < 1e-3  # the limit at the mean, where both terms are infinite
        skew = rows.sums(score * (1 - score) * (1 - 2 * score))
        limit = 1 / (2 * np.sqrt(variance)) - skew / (6 * variance**1.5)
        correction = np.where(near, limit, correction)
        log_density = -(signed**2) / 2 - np.log(2 * np.pi) / 2
        tail = np.exp(log_ndtr(-signed)) + np.exp(log_density) * correction
    all_positive = np.exp(rows.sums(np.log(score)))
    return np.where(inner, 2 * np.maximum(tail, 0), 2 * all_positive)


def _tilts(rows: Segmented, target: Floats, total: Floats, mean: Floats, wanted: Bools) -> Floats:
    """Solve for the tilt at which the mean of each segment is the target, by Newton steps on the log-odds."""

    def log_odds(count: Floats) -> Floats:
        return np.log(count) - np.log(total - count)

    goal = np.where(wanted, target, mean)
    low, high = np.zeros(len(target)), np.full(len(target), np.inf)
    tilt = np.maximum(log_odds(goal) - log_odds(mean), 0)
    for _ in range(_ITERATIONS):
        tilted = _tilted(rows, tilt)
        reached, slope = rows.sums(tilted), rows.sums(tilted * (1 - tilted))
        open_ = wanted & (np.abs(reached - goal) > 1e-12 * total) & (high - low > 1e-14 * low)
        if not open_.any():
            break
        low, high = np.where(reached < goal, tilt, low), np.where(reached >= goal, tilt, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = tilt + (log_odds(goal) - log_odds(reached)) * reached * (total - reached) / (total * slope)
        bisected = np.where(np.isinf(high), 2 * tilt + 1, (low + high) / 2)
        tilt = np.where(open_, np.where((step > low) & (step < high), step, bisected), tilt)
    return tilt


def _tilted(rows: Segmented, tilt: Floats) -> Floats:
    """Return the probability of each row under the tilt of its segment."""
    odds = np.exp(tilt)[rows.segment]
    tilted: Floats = rows.score * odds / (1 + rows.score * (odds - 1))
    return tilted

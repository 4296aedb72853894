"""Test whether the scores of all rows, of each group and of each class are true probabilities.

A part has two statistics. The range of the running sum of label - score finds errors wherever they are. The
score test of intercept and slope finds scores that are all too high, too low or too extreme, to which the
range is nearly blind. The smaller p-value is doubled, and those of all parts are adjusted together (Holm).

If the labels carry much information, the range of the sum is that of a Brownian motion (Feller 1951), and the
score test chi-squared. Otherwise labels are drawn from the scores until the statistic is reached ten times
(Besag and Clifford 1991). If rows depend on each other within clusters, the signs of their residuals are
drawn instead, all of a cluster alike.

Calibrated scores are called miscalibrated in at most 5 % of files, however many parts there are. The largest
share of rejected scores over the parts, which has no level, was large in 5 to 100 % of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from uqcli.base.blockwise import FEW_VALUES, sums_by_part
from uqcli.base.counts import Floats, Ints, ValueCounts
from uqcli.base.draws import Purpose, generator
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import parallel_map
from uqcli.estimates.proportion import Name, holm
from uqcli.kernels.sums import running_extremes

LEVEL: Final = 0.05
"""Level of the tests of all parts together, whatever the level of single scores."""

MIN_ROWS: Final = 50
"""Rows below which a part is not tested."""

_MUCH_INFORMATION: Final = 100.0
"""Variance of the number of positives from which on the limit laws hold."""

_REACHED: Final = 10
"""Draws that reach a statistic after which no more are made."""

_FEWEST_DRAWS: Final = 999
_DRAWS_PER_PART: Final = 80
"""Draws for each part tested: with fewer, the smallest p-value would not survive the adjustment."""

_FIRST_BLOCK: Final = 64
_DOUBLINGS: Final = 6
"""Draws of the first block, and how often their number is doubled for the next."""

_KEPT_BLOCKS: Final = 4
"""Blocks of draws that are kept from one statistic for the other; of most parts, all."""

_CUT: Final = 1e-9
"""Log-odds are those of scores cut to this and 1 less this."""

_NO_SPREAD: Final = 1e-9
"""Information about the slope below which it is not tested, since all log-odds are equal."""

_LEAST_CHANCE: Final = 40
"""Halvings of the chance of the rarer label beyond which scores are drawn together."""


@dataclass(frozen=True, kw_only=True)
class PartTest:
    """Test of a part: the doubled smaller p-value of two tests, and whether it is from draws."""

    p_value: float
    is_drawn: bool


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Both statistics of a part, and the information about intercept and slope."""

    range: float
    score: float
    intercept_information: float
    slope_information: float
    is_impossible: bool

    @classmethod
    def of(cls, counts: ValueCounts) -> Statistics:
        """Compute the statistics of tie-pooled scores in [0, 1]."""
        highest, lowest = running_extremes(counts)
        centre, information = _centre(counts)

        def terms(part: slice) -> tuple[Floats, Floats, Floats]:
            count, value = counts.count[part], counts.value[part]
            residual = counts.positives[part] - count * value
            position = _log_odds(value) - centre
            return residual, residual * position, count * value * (1 - value) * position * position

        total, sloped, spread = (math.fsum(sums) for sums in sums_by_part(terms, len(counts.value)))
        return cls(
            range=highest - lowest,
            score=_score(total, sloped, information, spread),
            intercept_information=information,
            slope_information=spread,
            is_impossible=_has_impossible_label(counts),
        )

    def score_of(self, total: float, sloped: float) -> float:
        """Return the score statistic of other labels, by the sums of residuals and of those by log-odds."""
        return _score(total, sloped, self.intercept_information, self.slope_information)

    def limit_p_values(self) -> tuple[float, float]:
        """Compute the p-values of the range and of the score test by their limit laws."""
        terms = 1 if self.slope_information <= _NO_SPREAD else 2
        score_p = math.exp(-self.score / 2) if terms == 2 else math.erfc(math.sqrt(self.score / 2))
        return brownian_range_p_value(self.range / math.sqrt(self.intercept_information)), score_p


def _centre(counts: ValueCounts) -> tuple[float, float]:
    """Return the mean log-odds, by information, and the information about the intercept."""

    def terms(part: slice) -> tuple[Floats, Floats]:
        value = counts.value[part]
        information = counts.count[part] * value * (1 - value)
        return information, information * _log_odds(value)

    information, weighted = (math.fsum(sums) for sums in sums_by_part(terms, len(counts.value)))
    return weighted / information if information else 0.0, information


def _log_odds(value: Floats) -> Floats:
    cut = np.clip(value, _CUT, 1 - _CUT)
    odds: Floats = np.log(cut / (1 - cut))
    return odds


def centred_log_odds(counts: ValueCounts, value: Floats) -> Floats:
    """Return the log-odds of some scores less their mean over the rows of a part."""
    centre, _ = _centre(counts)
    return _log_odds(value) - centre


def _score(total: float, sloped: float, information: float, spread: float) -> float:
    if not information:
        return 0.0
    return total * total / information + (sloped * sloped / spread if spread > _NO_SPREAD else 0.0)


def _has_impossible_label(counts: ValueCounts) -> bool:
    """Whether a row is positive at a score of 0, or negative at 1; scores ascend."""
    first, last = counts.value[0] == 0, counts.value[-1] == 1
    return bool((first and counts.positives[0]) or (last and counts.positives[-1] < counts.count[-1]))


def brownian_range_p_value(reach: float) -> float:
    """Return the probability that a Brownian motion on [0, 1] has a larger range (Feller 1951).

    Examples
    --------
    >>> round(brownian_range_p_value(2.5), 6), brownian_range_p_value(0.2)
    (0.049673, 1.0)
    """
    if reach < 0.3:  # the series is 1 to all digits
        return 1.0
    tails, sign, index = 0.0, 1, 1
    while (tail := index * math.erfc(index * reach / math.sqrt(2)) / 2) > 1e-18 * abs(tails):
        tails, sign, index = tails + sign * tail, -sign, index + 1
    return min(1.0, 8 * tails)


def calibration_p_values(
    parts: Mapping[Name, ValueCounts], keys: Mapping[Name, tuple[int, ...]], seed: int
) -> dict[Name, PartTest]:
    """Test each part that has enough rows.

    Parameters
    ----------
    parts
        Tie-pooled scores in [0, 1] and labels, by name.
    keys
        Key of the draws of each part.

    Returns
    -------
    The tests by name; those with fewer than ``MIN_ROWS`` rows are left out.
    """
    tested = {name: counts for name, counts in parts.items() if counts.rows >= MIN_ROWS}
    draws = most_draws(len(tested))

    def test(name: Name) -> PartTest:
        return _tested(tested[name], keys[name], seed, draws)

    # the many short steps of few values would wait longer for Python's lock than threads save
    many = [name for name, counts in tested.items() if len(counts.value) > FEW_VALUES]
    tests = dict(zip(many, parallel_map(test, many), strict=True))
    return {name: tests[name] if name in tests else test(name) for name in tested}


def most_draws(parts: int) -> int:
    """Return the largest number of draws for each of some parts."""
    return max(_FEWEST_DRAWS, _DRAWS_PER_PART * parts)


def adjusted_p_values(tests: Mapping[Name, PartTest]) -> dict[Name, float]:
    """Adjust the p-values of all parts together (Holm)."""
    return holm({name: test.p_value for name, test in tests.items()})


def _tested(counts: ValueCounts, key: tuple[int, ...], seed: int, draws: int) -> PartTest:
    found = Statistics.of(counts)
    is_drawn = found.intercept_information < _MUCH_INFORMATION
    if is_drawn:
        least = min(drawn_p_values(found, DrawnLabels.of(counts, found, key, seed), draws))
    else:
        least = min(found.limit_p_values())
    if found.is_impossible:
        least = min(least, 1 / (draws + 1))
    return PartTest(p_value=min(1.0, 2 * least), is_drawn=is_drawn)


class Draws(Protocol):
    """Draws of the two statistics under calibration, in blocks of a number and a size."""

    def scores(self, block: int, size: int) -> Floats:
        """Return statistics of the score test; shape (size,)."""

    def ranges(self, block: int, size: int) -> Floats:
        """Return ranges of the same draws; shape (size,)."""


def drawn_p_values(found: Statistics, drawn: Draws, draws: int) -> tuple[float, float]:
    """Compute the p-values of the range and of the score test, each by as many draws as it needs.

    The range is not drawn where the other p-value is the least possible, and no further than until it cannot
    be less than the other: its p-value is then not the smaller one, and only bounded from below.
    """
    score_p = _sequential(found.score, drawn.scores, draws, enough=1.0)
    if score_p * (draws + 1) <= 1:
        return 1.0, score_p
    return _sequential(found.range, drawn.ranges, draws, enough=score_p), score_p


def _sequential(value: float, drawn: Callable[[int, int], Floats], draws: int, *, enough: float) -> float:
    """Draw until a value is reached ten times; stop as soon as the p-value cannot be below ``enough``."""
    least, reached, made, block = value * (1 - 1e-9) - 1e-9, 0, 0, 0
    while made < draws:
        whole = _FIRST_BLOCK << min(block, _DOUBLINGS)
        size = min(whole, draws - made)
        # a block is drawn whole, so that its draws do not depend on how many are needed
        reaches = np.flatnonzero(drawn(block, whole)[:size] >= least)
        if reached + len(reaches) >= _REACHED:
            return _REACHED / (made + int(reaches[_REACHED - reached - 1]) + 1)
        reached, made, block = reached + len(reaches), made + size, block + 1
        if (1 + reached) / (draws + 1) >= enough:
            break
    return (1 + reached) / (draws + 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnLabels:
    """Labels drawn from the scores, of which only the rarer ones are kept: there are few.

    Rows are pooled by score, in ascending order; arrays have shape (v,). Every row has the likelier label of
    its score, up to 0.5 the negative one, but for the drawn ones.

    Attributes
    ----------
    running
        Running sum of the residuals if each row has the likelier label, from 0; shape (v+1,).
    sloped
        Sum of these residuals times the position.
    low
        Number of scores up to 0.5: the running sum falls there, and then rises, but for drawn rows.
    chance
        Chance of the rarer label.
    position
        Log-odds less their mean.
    information, spread
        Information about intercept and slope.
    """

    running: Floats
    sloped: float
    low: int
    chance: Floats
    count: Ints
    position: Floats
    information: float
    spread: float
    key: tuple[int, ...]
    seed: int
    _blocks: dict[int, tuple[Ints, Ints]] = field(default_factory=dict)

    @classmethod
    def of(cls, counts: ValueCounts, found: Statistics, key: tuple[int, ...], seed: int) -> DrawnLabels:
        """Prepare the draws of a part."""
        value, count = counts.value, counts.count.astype(np.int64)
        position = centred_log_odds(counts, value)
        base = np.where(value <= 0.5, -count * value, count * (1 - value))
        return cls(
            running=np.concatenate([[0.0], np.cumsum(base)]),
            sloped=float((base * position).sum()),
            low=int(np.searchsorted(value, 0.5, side="right")),
            chance=np.minimum(value, 1 - value),
            count=count,
            position=position,
            information=found.intercept_information,
            spread=found.slope_information,
            key=key,
            seed=seed,
        )

    def scores(self, block: int, size: int) -> Floats:
        """See Draws."""
        draw, index = self._drawn(block, size)
        sign = np.where(index < self.low, 1.0, -1.0)
        total = self.running[-1] + np.bincount(draw, weights=sign, minlength=size)
        if not self.information:
            return np.zeros(size)
        scores: Floats = total * total / self.information
        if self.spread > _NO_SPREAD:
            sloped = self.sloped + np.bincount(draw, weights=sign * self.position[index], minlength=size)
            scores += sloped * sloped / self.spread
        return scores

    def ranges(self, block: int, size: int) -> Floats:
        """See Draws."""
        draw, index = self._drawn(block, size)
        values = len(self.count)
        ends = np.array([0, self.low, values])  # the sum turns at the score of 0.5
        place = np.concatenate(
            [draw * (values + 1) + index, *(np.arange(size) * (values + 1) + end for end in ends)]
        )
        step = np.concatenate([np.where(index < self.low, 1, -1), np.zeros(3 * size, dtype=np.int64)])
        order = np.argsort(place, kind="stable")
        place, drawn_before = place[order], np.cumsum(step[order])
        # rows of one score are never cut apart: the sum stands before and after all of them
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        after = drawn_before[np.append(starts[1:], len(place)) - 1]
        before = np.concatenate([[0], after[:-1]])
        owner, value = np.divmod(place[starts], values + 1)
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        offset = np.repeat(before[first], np.diff(first, append=len(owner)))
        sums = np.stack(
            [
                self.running[value] + before - offset,
                self.running[np.minimum(value + 1, values)] + after - offset,
            ]
        )
        highest = np.maximum.reduceat(sums.max(axis=0), first)
        lowest = np.minimum.reduceat(sums.min(axis=0), first)
        spread: Floats = np.maximum(highest, 0.0) - np.minimum(lowest, 0.0)
        return spread

    def _drawn(self, block: int, size: int) -> tuple[Ints, Ints]:
        """Return the draws of a block; first blocks are small, and kept for the other statistic."""
        if block not in self._blocks:
            drawn = self._draw(block, size)
            if block >= _KEPT_BLOCKS:
                return drawn
            self._blocks[block] = drawn
        return self._blocks[block]

    def _draw(self, block: int, size: int) -> tuple[Ints, Ints]:
        """Draw the rows with the rarer label; return the draw and the score of each, in no order.

        Rows whose chances are within a factor of two are tried at the larger chance, by gaps of geometric
        length over the rows of all draws, and kept in proportion to their own.
        """
        random = generator(self.seed, Purpose.CALIBRATED, *self.key, block)
        draws, indices = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for chance, members, through in self._by_chance:
            rows = int(through[-1])
            tried = _successes(random, rows * size, chance)
            draw, row = np.divmod(tried, rows)
            index = members[np.searchsorted(through, row, side="right")]
            kept = random.random(len(index)) * chance < self.chance[index]
            draws.append(draw[kept])
            indices.append(index[kept])
        return np.concatenate(draws), np.concatenate(indices)

    @cached_property
    def _by_chance(self) -> list[tuple[float, Ints, Ints]]:
        """Scores by the halving of 1 to which their chance of the rarer label is rounded up.

        Each has the running number of rows.
        """
        possible = np.flatnonzero(self.chance > 0)
        halvings = np.minimum(np.floor(-np.log2(self.chance[possible])).astype(np.int64), _LEAST_CHANCE)
        order = np.argsort(halvings, kind="stable")
        starts = np.flatnonzero(np.diff(halvings[order], prepend=-1))
        groups = np.split(possible[order], starts[1:]) if len(order) else []
        return [
            (0.5 ** int(halvings[order[start]]), group, np.cumsum(self.count[group]))
            for start, group in zip(starts, groups, strict=True)
        ]


def _successes(random: np.random.Generator, trials: int, chance: float) -> Ints:
    """Return which of independent trials succeed; int64, ascending."""
    found, last = [np.empty(0, dtype=np.int64)], -1
    while last < trials:
        expected = (trials - last) * chance
        gaps = random.geometric(chance, int(expected + 4 * math.sqrt(expected) + 16))
        places = last + np.cumsum(gaps)
        found.append(places)
        last = int(places[-1])
    places = np.concatenate(found)
    return places[places < trials]

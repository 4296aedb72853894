"""Proportions: their intervals and exact tests, their differences, net benefit, and predictions.

P-values of several groups are adjusted together (Holm).

A difference of shares of the same rows is the share of rows gained less the share of rows lost. Each share
has its exact Clopper-Pearson interval. Their margins are squared and added, with the correlation of the two
shares (MOVER: Newcombe 1998, method 10; Zou and Donner 2008). Its coverage is valid down to a single row,
unlike that of normal intervals and score intervals (Tango 1998).

The net benefit is ``TP / n - odds * FP / n`` (Vickers and Elkin 2006): the share of true positives, less that
of the false positives in units of true positives. It is a weighted sum of shares of disjoint sets of rows,
and so is a difference; its interval is made in the same way. A squared sum is too short above a confidence of
0.95 if few rows have a large weight. An example is a single false positive at odds of 19. There, the level is
divided by the number of shares, and the margins are added (Bonferroni). This is valid for any counts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import combinations
from typing import Final, TypeVar

import numpy as np

from uqcli.base.counts import Floats, Matrix
from uqcli.base.records import dataclass
from uqcli.base.wording import range_of
from uqcli.estimates.estimate import Estimate
from uqcli.kernels.binomial import FEW_TRIALS, rate_of_tail

POWER: Final = 0.8
"""Probability with which a detectable rate or deviation is detected."""


def range_of_few(hits: int, flagged: int) -> str:
    """Return the exact 95 % range of the rate at which few flagged rows are right, if rows are independent.

    Examples
    --------
    >>> range_of_few(9, 12)
    '43 to 95 %'
    """
    return range_of(*clopper_pearson(hits, flagged, 0.95))


def right_of(hits: int, flagged: int, *, independent: bool = True) -> str:
    """Tell in a sentence how many of few flagged rows are right, with their range if rows are independent.

    Examples
    --------
    >>> right_of(9, 12), right_of(9, 12, independent=False)
    ('9 of 12 right (95 % interval 43 to 95 %)', '9 of 12 right')
    """
    found = f"{hits:,} of {flagged:,} right"
    return f"{found} (95 % interval {range_of_few(hits, flagged)})" if independent else found


def clopper_pearson(successes: float, trials: float, confidence: float) -> tuple[float, float]:
    """Compute the exact two-sided binomial confidence interval (Clopper and Pearson 1934).

    Zero trials give (0, 1). Effective numbers may be fractions.

    Examples
    --------
    >>> clopper_pearson(0, 0, 0.95)
    (0.0, 1.0)
    """
    tail, failures = (1 - confidence) / 2, trials - successes
    if trials <= FEW_TRIALS and float(successes).is_integer() and float(trials).is_integer():
        low = rate_of_tail(int(successes), int(trials), tail) if successes else 0.0
        high = 1 - rate_of_tail(int(failures), int(trials), tail) if failures else 1.0
        return low, high
    from scipy.special import betaincinv

    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def proportion_estimate(successes: int, trials: int, confidence: float) -> Estimate:
    """Return a proportion with its exact interval; the value is None without trials."""
    low, high = clopper_pearson(successes, trials, confidence)
    return Estimate(value=successes / trials if trials else None, low=low, high=high)


def wilson(share: float, trials: float, z: float) -> tuple[float, float]:
    """Compute the score interval of a proportion (Wilson 1927).

    Trials are above 0, and may be fractions as effective numbers. ``z`` is half the width of the interval in
    standard errors.

    Examples
    --------
    >>> low, high = wilson(0.5, 100, 1.645)
    >>> round(low, 3), round(high, 3)
    (0.419, 0.581)
    """
    denominator = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / denominator
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / denominator
    low = 0.0 if share <= 0 else max(0.0, centre - half)
    high = 1.0 if share >= 1 else min(1.0, centre + half)
    return low, high  # exactly 0 and 1 there, whatever rounding does


@dataclass(frozen=True, kw_only=True)
class BoundedRate:
    """Successes of a group, whose rate must be at least the bound, or at most if ``upper``.

    Where rows do not count alike, ``tail`` takes the place of the exact test: the p-value of a rate with few
    successes (or many, if ``upper``), None if there are too few of them. If the bound is kept on average
    only, ``chances`` are equally likely values of the rate, shape (m,), over which the exact test is
    averaged.
    """

    successes: int
    trials: int
    bound: Fraction
    upper: bool = False
    tail: tuple[float | None] | None = None
    chances: Floats | None = field(default=None, compare=False, repr=False)

    def p_value(self) -> float | None:
        """Return the exact one-sided p-value that the rate breaks the bound; None without trials."""
        if self.tail is not None:
            return self.tail[0]
        if not self.trials:
            return None
        return self._at_most(self.trials - self.successes if self.upper else self.successes)

    def _at_most(self, kept: int) -> float:
        """Return the probability that at most so many trials are as they must be."""
        from scipy.special import bdtr

        if self.chances is None:
            return float(bdtr(float(kept), self.trials, self._least))
        return math.fsum(bdtr(float(kept), self.trials, self.chances).tolist()) / len(self.chances)

    @property
    def _least(self) -> float:
        """The least share of trials that must be as they must be."""
        return float(1 - self.bound if self.upper else self.bound)

    def detectable(self, level: float) -> float | None:
        """Return the rate nearest to the bound that the test of a level detects with probability POWER.

        None if no rate is detected, or if rows do not count alike.
        """
        from scipy.special import bdtri

        if not self.trials or self.tail is not None:
            return None
        most = bisect_right(range(self.trials + 1), level, key=self._at_most) - 1
        if most < 0:
            return None
        rate = 0.0 if most == self.trials else float(bdtri(float(most), self.trials, POWER))
        return 1 - rate if self.upper else rate


Name = TypeVar("Name", str, int)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-values for the family-wise error rate (Holm 1979).

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04})
    {'a': 0.02, 'b': 0.04}
    """
    adjusted: dict[Name, float] = {}
    highest = 0.0
    for index, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        highest = max(highest, min(1.0, (len(p_values) - index) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Weighted numbers of positive and negative flagged rows."""

    positives: int
    negatives: int

    @property
    def rows(self) -> int:
        """All flagged rows."""
        return self.positives + self.negatives


@dataclass(frozen=True, kw_only=True)
class _Spread:
    """An estimate with its lower and upper margin."""

    value: float
    down: float
    up: float


def mcnemar(gained: int, lost: int) -> float:
    """Compute the exact two-sided p-value of gained against lost rows (McNemar 1947; binomial).

    Examples
    --------
    >>> mcnemar(6, 0), mcnemar(0, 0)
    (0.03125, 1.0)
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(float(min(gained, lost)), gained + lost, 0.5)))


def shares_interval(gained: int, lost: int, trials: int, confidence: float) -> tuple[float, float]:
    """Compute the interval of the difference of two shares of the same rows.

    Rows are ``gained`` that are in the second share only, and ``lost`` that are in the first only. No trials
    give (-1, 1).

    Examples
    --------
    >>> shares_interval(0, 0, 0, 0.95)
    (-1.0, 1.0)
    """
    if trials == 0:
        return -1.0, 1.0
    return _within_one(_weighted_difference((gained, lost), (1.0, 1.0), trials, confidence))


def precisions_interval(lost: Chosen, kept: Chosen, gained: Chosen, confidence: float) -> tuple[float, float]:
    """Compute the interval of the precision of the second selection less the first; (-1, 1) if one is empty.

    Rows are in the first selection only (lost), in both (kept), or in the second only (gained). Let r be the
    rate of the rows in both selections. A precision less r is the mean of (label - r) over a selection. The
    difference of precisions is the contribution of the rows gained to the second selection, less that of the
    rows lost to the first. Either contribution is again a weighted difference of two shares, and the rows in
    both selections correlate the two. The error of r also contributes, unless lost rows have the same share
    in the first selection as gained rows in the second. The three margins are squared and added.
    """
    first, second = lost.rows + kept.rows, gained.rows + kept.rows
    if first == 0 or second == 0:
        return -1.0, 1.0
    rate = _rate(kept, confidence)
    weights = (1 - rate.value, rate.value)
    added = _weighted_difference((gained.positives, gained.negatives), weights, second, confidence)
    removed = _weighted_difference((lost.positives, lost.negatives), weights, first, confidence)
    common = _scaled(rate, lost.rows / first - gained.rows / second)
    correlation = _correlation((gained, lost), kept.rows, weights)
    down = math.hypot(_root_of_squares(added.down, removed.up, -correlation), common.down)
    up = math.hypot(_root_of_squares(added.up, removed.down, -correlation), common.up)
    value = (gained.positives + kept.positives) / second - (lost.positives + kept.positives) / first
    return _within_one(_Spread(value=value, down=down, up=up))


def _weighted_difference(
    counts: tuple[int, int], weights: tuple[float, float], trials: int, confidence: float
) -> _Spread:
    """Compute the weighted difference of the shares of two disjoint sets of rows in the same trials."""
    (count, count_against), (weight, against) = counts, weights
    low, high = clopper_pearson(count, trials, confidence)
    low_against, high_against = clopper_pearson(count_against, trials, confidence)
    share, share_against = count / trials, count_against / trials
    together = negated_correlation(count, count_against, trials)
    return _Spread(
        value=weight * share - against * share_against,
        down=_root_of_squares(weight * (share - low), against * (high_against - share_against), together),
        up=_root_of_squares(weight * (high - share), against * (share_against - low_against), together),
    )


def negated_correlation(count: float, other: float, trials: int) -> float:
    """Compute the negated correlation of the shares of two disjoint sets of rows in the same trials.

    One row is added to each count, so that it is 1 if every row is in one of the two sets.
    """
    return math.sqrt((count + 1) / (trials + 1 - other) * ((other + 1) / (trials + 1 - count)))


def _rate(chosen: Chosen, confidence: float) -> _Spread:
    low, high = clopper_pearson(chosen.positives, chosen.rows, confidence)
    value = chosen.positives / chosen.rows if chosen.rows else 0.5
    return _Spread(value=value, down=value - low, up=high - value)


def _scaled(spread: _Spread, factor: float) -> _Spread:
    down, up = (spread.down, spread.up) if factor > 0 else (spread.up, spread.down)
    return _Spread(value=factor * spread.value, down=abs(factor) * down, up=abs(factor) * up)


def _correlation(singles: tuple[Chosen, Chosen], kept: int, weights: tuple[float, float]) -> float:
    """Compute the correlation of the two contributions, which stems from the rows in both selections."""
    parts = []
    for single in singles:
        rows = single.rows + kept
        added = (weights[0] * single.positives - weights[1] * single.negatives) / rows
        squares = (weights[0] ** 2 * single.positives + weights[1] ** 2 * single.negatives) / rows
        deviation = math.sqrt(max(0.0, squares - added**2) * rows)
        parts.append(added / deviation if deviation > 0 else 0.0)
    return max(-1.0, min(1.0, parts[0] * parts[1] * kept))


def _root_of_squares(first: float, second: float, correlation: float) -> float:
    """Compute the margin of a sum of two correlated errors."""
    return math.sqrt(max(0.0, first**2 + second**2 + 2 * correlation * first * second))


def _within_one(spread: _Spread) -> tuple[float, float]:
    return max(-1.0, spread.value - spread.down), min(1.0, spread.value + spread.up)


_TERMS = 4096
"""Terms of a tail that are summed at a time."""

_NEGLIGIBLE = 1e-12
"""Share of a tail below which its other terms are not summed."""


def flagged_interval(fit_selected: int, fit_rows: int, new_rows: int, level: float) -> tuple[int, int]:
    """Return the smallest and the largest number of flagged new rows that the fit's share explains.

    For exchangeable rows, the new ones among all that are flagged have a hypergeometric distribution
    (Thatcher 1964). The interval has the numbers that neither of its tails rejects. Its coverage is at least
    ``level`` for every share and any sizes.

    Examples
    --------
    >>> flagged_interval(50, 1000, 1000, 0.95)
    (32, 71)
    >>> flagged_interval(0, 1000, 1000, 0.95)
    (0, 5)
    """
    tail = (1 - level) / 2
    low = _fewest(fit_selected, fit_rows, new_rows, tail)
    return low, new_rows - _fewest(fit_rows - fit_selected, fit_rows, new_rows, tail)


def _fewest(fit_selected: int, fit_rows: int, new_rows: int, tail: float) -> int:
    """Return the smallest number of new rows that the lower tail does not reject."""
    rejected, kept = -1, new_rows
    while kept - rejected > 1:
        middle = (rejected + kept) // 2
        if _lower_tail(middle, fit_selected + middle, fit_rows, new_rows) > tail:
            kept = middle
        else:
            rejected = middle
    return kept


def _lower_tail(new_selected: int, selected: int, fit_rows: int, new_rows: int) -> float:
    """Return the probability of at most ``new_selected`` new rows among the selected of all rows.

    The sum starts at its largest term. The answer is 1/2 where that is a lower bound.
    """
    rows = fit_rows + new_rows
    if new_selected * rows >= selected * new_rows + rows:  # beyond the mean, so beyond the median
        return 0.5
    first = max(0, selected - fit_rows)
    total, term, start = 0.0, _probability(new_selected, selected, fit_rows, new_rows), new_selected
    while start >= first:
        stop = max(first, start - _TERMS + 1)
        total += term
        k = np.arange(start, stop, -1, dtype=np.float64)
        ratios = k * (fit_rows - selected + k) / ((new_rows - k + 1) * (selected - k + 1))
        terms = term * np.cumprod(ratios)
        total += float(terms.sum())
        last = float(terms[-1]) if len(terms) else term
        if last <= _NEGLIGIBLE * total or stop == first:
            break
        term = last * stop * (fit_rows - selected + stop) / ((new_rows - stop + 1) * (selected - stop + 1))
        start = stop - 1
    return total


def _probability(new_selected: int, selected: int, fit_rows: int, new_rows: int) -> float:
    """Return the hypergeometric probability of a number of new rows among the selected ones."""
    chosen_of = (
        (new_rows, new_selected, 1),
        (fit_rows, selected - new_selected, 1),
        (fit_rows + new_rows, selected, -1),
    )
    logarithm = sum(
        sign * (math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0))
        for n, k, sign in chosen_of
    )
    return math.exp(logarithm)


_MAX_SQUARED: Final = 0.95
"""Highest confidence at which margins are squared and added."""


IntervalAt = Callable[[float], tuple[float, float, float] | None]
"""Function from a confidence to the number of rows of a share, and the interval of the share, if any."""


def net_benefit(selected: Chosen, rows: int, odds: Fraction) -> float:
    """Compute the net benefit of a selection among at least one row, rounded once.

    The odds are the true positives that are worth one false positive, above 0; s / (1 - s) for a threshold
    probability s.

    Examples
    --------
    >>> net_benefit(Chosen(positives=7, negatives=2), 100, Fraction(7, 3))
    0.023333333333333334
    """
    return float((selected.positives - odds * selected.negatives) / rows)


def net_benefit_interval(
    shares: Sequence[tuple[IntervalAt, float]],
    rows: int,
    confidence: float,
    correlation: Matrix | None = None,
) -> tuple[float, float] | None:
    """Compute the interval of a net benefit, or of a difference of two, from those of its shares.

    There is none if a share has none. Shares of disjoint sets of rows have weights: they are the true
    positives, and the false positives; in a difference those gained and those lost, since rows in both
    selections contribute nothing. Rows count by weight, at least one. There may be correlations of the errors
    of the shares over clusters of dependent rows.
    """
    is_added = confidence > _MAX_SQUARED
    level = 1 - (1 - confidence) / len(shares) if is_added else confidence
    intervals = [interval_at(level) for interval_at, _ in shares]
    known = [interval for interval in intervals if interval is not None]
    if len(known) < len(shares):
        return None
    counts, weights = [count for count, _, _ in known], [weight for _, weight in shares]
    parts = [_weighted(interval, weight, rows) for interval, weight in zip(known, weights, strict=True)]
    value = math.fsum(part.value for part in parts)
    margins = [part.down for part in parts], [part.up for part in parts]
    if is_added:
        down, up = map(math.fsum, margins)
    else:
        down, up = (_margin_of_sum(counts, weights, margin, rows, correlation) for margin in margins)
    return value - down, value + up


def _margin_of_sum(
    counts: Sequence[float],
    weights: Sequence[float],
    margins: Sequence[float],
    rows: int,
    correlation: Matrix | None,
) -> float:
    """Compute the margin of the sum of weighted shares from one margin of each.

    Shares of disjoint sets of rows correlate negatively. If their weights differ in sign, the errors of the
    two parts add up. If not, the errors cancel in part, but few rows do not show this, so it is ignored. What
    clusters show counts only where it makes the sum vary more.
    """
    total = math.fsum(margin**2 for margin in margins)
    for one, other in combinations(range(len(counts)), 2):
        opposite = weights[one] * weights[other] < 0
        together = negated_correlation(counts[one], counts[other], rows) if opposite else 0.0
        if correlation is not None:
            shown = float(correlation[one, other])
            together = max(together, -shown if opposite else shown)
        total += 2 * together * margins[one] * margins[other]
    return math.sqrt(total)


def _weighted(interval: tuple[float, float, float], weight: float, rows: int) -> _Spread:
    """Return a weighted share of the rows; negative weights swap the ends of its interval."""
    count, low, high = interval
    ends = sorted((weight * low, weight * high))
    value = weight * (count / rows)
    return _Spread(value=value, down=value - ends[0], up=ends[1] - value)

"""Difference of two selections of the same rows, with intervals of valid coverage.

A difference of shares is the share of rows gained less the share of rows lost. Each share has its exact
Clopper-Pearson interval. Their margins are squared and added, with the correlation of the two shares (MOVER:
Newcombe 1998, method 10; Zou and Donner 2008). Its coverage is valid down to a single row, unlike that of
normal intervals and score intervals (Tango 1998).
"""

from __future__ import annotations

import math

from uqcli.base.records import dataclass
from uqcli.estimates.proportion import clopper_pearson


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

    Parameters
    ----------
    gained, lost
        Rows in the second share only, and in the first only.
    trials
        Denominator of the shares; 0 gives (-1, 1).

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

    Let r be the rate of the rows in both selections. A precision less r is the mean of (label - r) over a
    selection. The difference of precisions is the contribution of the rows gained to the second selection,
    less that of the rows lost to the first. Either contribution is again a weighted difference of two shares,
    and the rows in both selections correlate the two. The error of r also contributes, unless lost rows have
    the same share in the first selection as gained rows in the second. The three margins are squared and
    added.

    Parameters
    ----------
    lost, kept, gained
        Rows in the first selection only, in both, and in the second only.
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

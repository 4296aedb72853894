"""Net benefit of one selection, and its difference between two selections of the same rows.

The net benefit is ``TP / n - odds * FP / n`` (Vickers and Elkin 2006): the share of true positives, less that
of the false positives in units of true positives. It is a weighted sum of shares of disjoint sets of rows,
and so is a difference. Each share has its exact Clopper-Pearson interval. The margins are squared and added,
with the correlations of the shares (MOVER: Zou and Donner 2008).

A squared sum is too short above a confidence of 0.95 if few rows have a large weight. An example is a single
false positive at odds of 19. There, the level is divided by the number of shares, and the margins are added
(Bonferroni). This is valid for any counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

from uqcli.document import Estimate
from uqcli.methods.evaluate.difference import Chosen, PairedSelections
from uqcli.methods.proportion import clopper_pearson

_MAX_SQUARED: Final = 0.95
"""Highest confidence at which margins are squared and added."""


IntervalAt = Callable[[float], tuple[float, float, float]]
"""Function from a confidence to the number of rows of a share, and the interval of the share."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Margins of a weighted share of the rows; negative weights swap the ends of its interval."""

    count: float
    weight: float
    value: float
    down: float
    up: float


def net_benefit(selected: Chosen, rows: int, odds: Fraction) -> float:
    """Compute the net benefit of a selection, rounded once.

    Parameters
    ----------
    rows
        All rows, at least 1.
    odds
        True positives that are worth one false positive, above 0; s / (1 - s) for a threshold probability s.

    Examples
    --------
    >>> net_benefit(Chosen(positives=7, negatives=2), 100, Fraction(7, 3))
    0.023333333333333334
    """
    return float((selected.positives - odds * selected.negatives) / rows)


def net_benefit_interval(
    selected: Chosen, rows: int, odds: Fraction, confidence: float
) -> tuple[float, float]:
    """Compute the interval of the net benefit of a selection, within (-odds, 1); see ``net_benefit``.

    Examples
    --------
    >>> net_benefit_interval(Chosen(positives=1, negatives=0), 1, Fraction(1), 0.95)
    (-0.95, 1.0)
    """
    counts = (selected.positives, selected.negatives)
    return net_benefit_interval_of((_counted(count, rows) for count in counts), rows, odds, confidence)


def net_benefit_interval_of(
    shares: Iterable[IntervalAt], rows: int, odds: Fraction, confidence: float
) -> tuple[float, float]:
    """Compute the interval of a net benefit from those of the shares of true and of false positives.

    Parameters
    ----------
    shares
        Share of the true positives among all rows, and of the false positives.
    """
    weight = float(odds)
    low, high = _weighted_sum(list(zip(shares, (1.0, -weight), strict=True)), rows, confidence)
    return max(-weight, low), min(1.0, high)


def net_benefits_interval(
    pair: PairedSelections, rows: int, odds: Fraction, confidence: float
) -> tuple[float, float]:
    """Compute the interval of the net benefit of the second selection less that of the first.

    Rows in both selections contribute nothing. The contribution of the rows lost is subtracted from that of
    the rows gained. The interval is within the largest contribution of a row, 1 or the odds.
    """
    counts = (pair.gained.positives, pair.gained.negatives, pair.lost.positives, pair.lost.negatives)
    return net_benefits_interval_of((_counted(count, rows) for count in counts), rows, odds, confidence)


def net_benefits_interval_of(
    shares: Iterable[IntervalAt], rows: int, odds: Fraction, confidence: float
) -> tuple[float, float]:
    """Compute the interval of a difference of net benefits from those of four shares.

    Parameters
    ----------
    shares
        Shares among all rows: positive rows gained, negative rows gained, positive rows lost, negative rows
        lost.
    """
    weight, limit = float(odds), max(1.0, float(odds))
    weights = (1.0, -weight, -1.0, weight)
    low, high = _weighted_sum(list(zip(shares, weights, strict=True)), rows, confidence)
    return max(-limit, low), min(limit, high)


def _counted(count: int, rows: int) -> IntervalAt:
    """Return the exact interval of a share by confidence."""
    return lambda confidence: (count, *clopper_pearson(count, rows, confidence))


def _weighted_sum(
    shares: Sequence[tuple[IntervalAt, float]], rows: int, confidence: float
) -> tuple[float, float]:
    """Compute the interval of a weighted sum of shares of disjoint sets of rows.

    Parameters
    ----------
    shares
        Interval and weight of each set.
    """
    is_added = confidence > _MAX_SQUARED
    level = 1 - (1 - confidence) / len(shares) if is_added else confidence
    parts = [_part(interval_at(level), weight, rows) for interval_at, weight in shares]
    value = math.fsum(part.value for part in parts)
    down, up = ([part.down for part in parts], [part.up for part in parts])
    if is_added:
        return value - math.fsum(down), value + math.fsum(up)
    return value - _root_of_squares(parts, down, rows), value + _root_of_squares(parts, up, rows)


def _root_of_squares(parts: Sequence[_Part], margins: Sequence[float], rows: int) -> float:
    """Compute the margin of the sum of parts from one margin of each.

    Shares of disjoint sets of rows correlate negatively. If their weights differ in sign, the errors of the
    two parts add up. If not, the errors cancel in part, but few rows do not show this, so it is ignored.
    """
    total = math.fsum(margin**2 for margin in margins)
    for (one, first), (other, second) in combinations(zip(parts, margins, strict=True), 2):
        if one.weight * other.weight < 0:
            total += 2 * _negated_correlation(one.count, other.count, rows) * first * second
    return math.sqrt(total)


def _part(interval: tuple[float, float, float], weight: float, rows: int) -> _Part:
    count, low, high = interval
    ends = sorted((weight * low, weight * high))
    value = weight * (count / rows)
    return _Part(count=count, weight=weight, value=value, down=value - ends[0], up=ends[1] - value)


def _negated_correlation(count: float, other: float, rows: int) -> float:
    """Compute the negated correlation of two shares; one row is added to each count.

    It is therefore 1 if every row is in one of the two sets.
    """
    return math.sqrt((count + 1) / (rows + 1 - other) * ((other + 1) / (rows + 1 - count)))


def net_benefit_estimate(flagged: Chosen, rows: int, odds: Fraction, confidence: float) -> Estimate:
    """Compute the net benefit of the flagged rows, with its interval.

    Parameters
    ----------
    rows
        All rows (at least one), by weight.
    """
    low, high = net_benefit_interval(flagged, rows, odds, confidence)
    return Estimate(value=net_benefit(flagged, rows, odds), low=low, high=high)


def net_benefit_difference(pair: PairedSelections, rows: int, odds: Fraction, confidence: float) -> Estimate:
    """Compute the net benefit of the second selection less that of the first, with its interval."""
    low, high = net_benefits_interval(pair, rows, odds, confidence)
    more = Chosen(
        positives=pair.gained.positives - pair.lost.positives,
        negatives=pair.gained.negatives - pair.lost.negatives,
    )
    return Estimate(value=net_benefit(more, rows, odds), low=low, high=high)

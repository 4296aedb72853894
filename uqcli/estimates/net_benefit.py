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
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final

from uqcli.base.counts import Matrix
from uqcli.base.records import dataclass
from uqcli.estimates.proportion import Chosen, negated_correlation

_MAX_SQUARED: Final = 0.95
"""Highest confidence at which margins are squared and added."""


IntervalAt = Callable[[float], tuple[float, float, float] | None]
"""Function from a confidence to the number of rows of a share, and the interval of the share, if any."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Margins of a weighted share of the rows; negative weights swap the ends of its interval."""

    count: float
    weight: float
    value: float
    down: float
    up: float


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
    parts = [
        _part(interval, weight, rows)
        for interval, (_, weight) in zip(intervals, shares, strict=True)
        if interval is not None
    ]
    if len(parts) < len(shares):
        return None
    value = math.fsum(part.value for part in parts)
    margins = [part.down for part in parts], [part.up for part in parts]
    if is_added:
        down, up = map(math.fsum, margins)
    else:
        down, up = (_root_of_squares(parts, margin, rows, correlation) for margin in margins)
    return value - down, value + up


def _root_of_squares(
    parts: Sequence[_Part], margins: Sequence[float], rows: int, correlation: Matrix | None
) -> float:
    """Compute the margin of the sum of parts from one margin of each.

    Shares of disjoint sets of rows correlate negatively. If their weights differ in sign, the errors of the
    two parts add up. If not, the errors cancel in part, but few rows do not show this, so it is ignored. What
    clusters show counts only where it makes the sum vary more.
    """
    total = math.fsum(margin**2 for margin in margins)
    for (place, one), (other_place, other) in combinations(enumerate(parts), 2):
        opposite = one.weight * other.weight < 0
        together = negated_correlation(one.count, other.count, rows) if opposite else 0.0
        if correlation is not None:
            shown = float(correlation[place, other_place])
            together = max(together, -shown if opposite else shown)
        total += 2 * together * margins[place] * margins[other_place]
    return math.sqrt(total)


def _part(interval: tuple[float, float, float], weight: float, rows: int) -> _Part:
    count, low, high = interval
    ends = sorted((weight * low, weight * high))
    value = weight * (count / rows)
    return _Part(count=count, weight=weight, value=value, down=value - ends[0], up=ends[1] - value)

"""Bounds in integers, so that no decision depends on rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np

from uqcli.base.counts import Bools, Ints
from uqcli.base.records import dataclass

_ROUNDING_TOLERANCE: Final = 1e-6
"""Relative distance from equality below which the comparison is exact instead of in doubles."""


@dataclass(frozen=True, kw_only=True)
class LinearBound:
    """``precision >= numerator / denominator``, or another bound that is linear in the counts.

    The surplus of a selection is ``denominator * true_positives - numerator * selected + allowance``; the
    bound is met iff the surplus is non-negative. With numerator 1 the allowance is the most selected rows
    (denominator 0) or the most false positives (denominator 1).
    """

    numerator: int
    denominator: int
    allowance: int = 0

    def surplus(self, true_positives: Ints, selected: Ints) -> Ints:
        """Compute the surplus of each selection; int64."""
        return self.denominator * true_positives - self.numerator * selected + self.allowance


@dataclass(frozen=True, kw_only=True)
class Margin:
    """Margin of the true positives over those at the bound, in standard errors.

    Attributes
    ----------
    target
        Precision bound, in (0, 1].
    standard_errors
        Size of the margin in standard errors.
    """

    target: Fraction
    standard_errors: Fraction

    def is_met(self, true_positives: Ints, selected: Ints) -> Bools:
        """Whether each selection meets the bound with the margin; exact.

        With precision ``a/b``, ``Z^2 = c/d`` and surplus ``w = b TP - a n``, it does if ``w >= 0`` and ``d
        w^2 >= c a (b - a) n``.
        """
        a, b, square = self.target.numerator, self.target.denominator, self.standard_errors**2
        factor = Fraction(square.numerator * a * (b - a), square.denominator)
        surplus = float(b) * true_positives - float(a) * selected
        left, right = surplus**2, float(factor) * selected
        feasible: Bools = (surplus >= 0) & (left >= right)
        is_close = np.abs(left - right) <= _ROUNDING_TOLERANCE * (left + right)
        is_close |= np.abs(surplus) <= _ROUNDING_TOLERANCE * float(a) * selected
        for index in np.flatnonzero(is_close).tolist():
            positives, rows = int(true_positives[index]), int(selected[index])
            exact = b * positives - a * rows
            feasible[index] = exact >= 0 and exact**2 >= factor * rows
        return feasible


def precision_bound(target: Fraction, rows: int) -> LinearBound:
    """Convert a precision to an integer bound for a data set of a given size.

    A precision with many digits would overflow 64-bit surpluses. It is replaced by the smallest fraction at
    or above it with a denominator of at most ``rows``. Selections of at most ``rows`` rows meet both or
    neither, and surpluses stay below ``rows**2``.

    Parameters
    ----------
    target
        In (0, 1].
    rows
        Total weight, less than 3e9.

    Examples
    --------
    >>> precision_bound(Fraction("0.7"), 1000)
    LinearBound(numerator=7, denominator=10, allowance=0)
    >>> precision_bound(Fraction("0.66666666"), 10)
    LinearBound(numerator=2, denominator=3, allowance=0)
    """
    tight = target if target.denominator <= rows else _ceiling_fraction(target, max(rows, 1))
    return LinearBound(numerator=tight.numerator, denominator=tight.denominator)


def next_fraction(value: Fraction, limit: int) -> Fraction:
    """Find the smallest fraction above a value, with denominators of both at most ``limit``.

    Examples
    --------
    >>> next_fraction(Fraction(1, 2), 5)
    Fraction(3, 5)
    """
    if value >= 1:
        return Fraction(value.numerator * limit + value.denominator, value.denominator * limit)
    return _ceiling_fraction(value + Fraction(1, 2 * limit * limit), limit)


def _ceiling_fraction(target: Fraction, limit: int) -> Fraction:
    """Find the smallest fraction >= target, in (0, 1], whose denominator is at most ``limit`` (Stern-Brocot).

    low < target <= high are neighbours; their mediant is the fraction between them with the smallest
    denominator. Consecutive mediants on one side are taken in one step.
    """
    low_n, low_d, high_n, high_d = 0, 1, 1, 1
    while True:
        below = target.numerator * low_d - low_n * target.denominator
        above = high_n * target.denominator - target.numerator * high_d
        by_limit = (limit - low_d) // high_d
        up = min(by_limit, (below - 1) // above) if above else by_limit
        low_n, low_d = low_n + up * high_n, low_d + up * high_d
        below -= up * above
        down = min((limit - high_d) // low_d, above // below)
        high_n, high_d = high_n + down * low_n, high_d + down * low_d
        if up <= 0 and down <= 0:
            return Fraction(high_n, high_d)

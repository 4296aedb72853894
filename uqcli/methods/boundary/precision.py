"""The precision bound as integers, so that no decision depends on rounding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from uqcli.counts import Ints
from uqcli.errors import UsageError

_DECIMAL: Final = re.compile(r"\d{0,30}\.?\d{0,30}([eE][+-]?\d{1,2})?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class PrecisionBound:
    """``precision >= numerator / denominator``.

    The surplus of a selection is ``denominator * true_positives - numerator * selected``; the bound
    holds if and only if it is not negative.
    """

    numerator: int
    denominator: int

    def surplus(self, true_positives: Ints, selected: Ints) -> Ints:
        """Surplus of each selection, in int64."""
        return self.denominator * true_positives - self.numerator * selected


def parse_precision(text: str) -> Fraction:
    """Read a precision as an exact fraction of the decimal that was typed.

    Raises
    ------
    UsageError
        Not a decimal number in (0, 1].

    Examples
    --------
    >>> parse_precision("0.7")
    Fraction(7, 10)
    """
    try:
        value = Fraction(text) if _DECIMAL.fullmatch(text) else Fraction(0)
    except ValueError:
        value = Fraction(0)
    if not 0 < value <= 1:
        raise UsageError(
            f"precision '{text}'", expected="a decimal number above 0 and at most 1, such as 0.7"
        )
    return value


def precision_bound(target: Fraction, rows: int) -> PrecisionBound:
    """Express a precision target for a data set of a given size.

    A target with many digits would overflow 64-bit surpluses. Among selections of at most ``rows``
    rows it is met exactly when the smallest fraction at or above it with a denominator of at most
    ``rows`` is met, so that fraction takes its place; surpluses then stay below ``rows**2``.

    Parameters
    ----------
    target
        In (0, 1].
    rows
        Number of rows, by weight; below 3e9.

    Examples
    --------
    >>> precision_bound(Fraction("0.7"), 1000)
    PrecisionBound(numerator=7, denominator=10)
    >>> precision_bound(Fraction("0.66666666"), 10)
    PrecisionBound(numerator=2, denominator=3)
    """
    tight = target if target.denominator <= rows else _ceiling_fraction(target, max(rows, 1))
    return PrecisionBound(numerator=tight.numerator, denominator=tight.denominator)


def _ceiling_fraction(target: Fraction, limit: int) -> Fraction:
    """Smallest fraction >= target, in (0, 1], whose denominator is at most limit (Stern-Brocot).

    low < target <= high are neighbours; the fraction between them with the smallest denominator is
    their mediant. Runs of mediants on one side are taken in one step.
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

"""Monetary amounts as integers of ten-thousandths, so that sums are exact in any order."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.errors import DataError, Words, words

UNITS: Final = 10_000
"""Units per 1; amounts have at most four decimals."""

LARGEST_SUM: Final = float(2**62)
"""Maximum absolute sum of a column, in units."""

_LARGEST: Final = 2.0**53
"""Maximum of an amount, in units: larger ones need not be whole numbers of units."""


def units(amount: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> Ints:
    """Round amounts to units.

    Examples
    --------
    >>> units(np.array([12.5, -0.0001])).tolist()
    [125000, -1]
    """
    nearest: Ints = np.rint(amount.astype(np.float64, copy=False) * UNITS).astype(np.int64)
    return nearest


def amounts_of(units: Ints) -> Floats:
    """Convert units to amounts; equal to those that were rounded, if these had no more decimals.

    Examples
    --------
    >>> amounts_of(np.array([125000, -1])).tolist()
    [12.5, -0.0001]
    """
    amount: Floats = units / UNITS
    return amount


def is_unusable(amount: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> Bools:
    """Whether finite amounts are negative, not whole numbers of units, or exceed ``_LARGEST``.

    Examples
    --------
    >>> is_unusable(np.array([0.1, 0.00001, -1.0])).tolist()
    [False, True, True]
    """
    wide = amount.astype(np.float64, copy=False)
    unusable: Bools = is_no_amount(wide, np.rint(wide * UNITS))
    return unusable


def is_no_amount(amount: Any, nearest: Any) -> Any:
    """See ``is_unusable``, for numpy and for Spark; ``nearest`` is the nearest whole number of units."""
    return (nearest / UNITS != amount) | (nearest > _LARGEST) | (amount < 0)


def refuse_amounts(found: str, amount: float) -> DataError:
    """Create the error for an amount that is negative, too large or has too many decimals."""
    remedy: Words
    expected = "amounts of at least 0 with at most 4 decimals"
    if amount < 0:
        remedy = words("name losses in --cost, as positive amounts")
    elif amount * UNITS > _LARGEST:
        expected = f"amounts of at most {_LARGEST / UNITS:,.0f}"
        remedy = "convert them to a larger unit, such as thousands"
    else:
        remedy = "round them: 32-bit numbers have more decimals"
    return DataError(found, expected=expected, remedy=remedy)


def refuse_sum(column: str) -> DataError:
    """Create the error for amounts whose sum would not be exact."""
    return DataError(
        f"the amounts in column '{column}' add up to more than 4.6e14", expected="smaller amounts"
    )

"""Monetary amounts as integers of ten-thousandths, so that sums are exact in any order."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from uqcli.counts import Bools, Ints
from uqcli.errors import DataError

UNITS: Final = 10_000
"""Units per 1; amounts have at most four decimals."""

LARGEST_SUM: Final = float(2**62)
"""Maximum absolute sum of a column, in units."""


def units(amount: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> Ints:
    """Round amounts to units.

    Examples
    --------
    >>> units(np.array([12.5, -0.0001])).tolist()
    [125000, -1]
    """
    nearest: Ints = np.rint(amount.astype(np.float64, copy=False) * UNITS).astype(np.int64)
    return nearest


def has_more_decimals(amount: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> Bools:
    """Whether finite amounts are not whole numbers of units, or exceed 2**53 units.

    Examples
    --------
    >>> has_more_decimals(np.array([0.1, 0.00001])).tolist()
    [False, True]
    """
    wide = amount.astype(np.float64, copy=False)
    nearest = np.rint(wide * UNITS)
    more: Bools = (nearest / UNITS != wide) | (np.abs(nearest) > 2**53)
    return more


def refuse_decimals(found: str) -> DataError:
    """Create the error for an amount with too many decimals."""
    return DataError(
        found,
        expected="amounts with at most 4 decimals",
        remedy="round them: 32-bit numbers have more decimals",
    )


def refuse_sum(column: str) -> DataError:
    """Create the error for amounts whose sum would not be exact."""
    return DataError(
        f"the amounts in column '{column}' add up to more than 4.6e14", expected="smaller amounts"
    )

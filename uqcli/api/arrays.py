"""Checks of arrays that come through the library instead of files."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from uqcli.counts import Bools, Floats, Ints
from uqcli.defaults import MOST_ROWS
from uqcli.errors import DataError


def checked_numbers(name: str, values: ArrayLike, rows: int | None = None) -> Floats:
    """Finite float64 of shape (n,), without negative zeros.

    Raises
    ------
    DataError
        Another shape, another length than ``rows``, or a NaN or infinity.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or (rows is not None and len(array) != rows):
        wanted = "(n,) with n > 0" if rows is None else f"({rows},)"
        raise DataError(f"{name} has shape {array.shape}", expected=f"shape {wanted}")
    finite = np.isfinite(array)
    if not finite.all():
        at = int(np.argmin(finite))
        raise DataError(f"{name} holds {array[at]} at position {at}", expected="finite numbers")
    return array + 0.0


def checked_labels(name: str, values: ArrayLike, rows: int) -> Bools:
    """Labels as bool of shape (rows,).

    Raises
    ------
    DataError
        A value other than 0 and 1.
    """
    array = checked_numbers(name, values, rows)
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(f"{name} holds {array[at]:g} at position {at}", expected="0 and 1 only")
    positive: Bools = array == 1
    return positive


def checked_weights(weight: ArrayLike | None, rows: int) -> Ints | None:
    """Weights, if there are any, as int64 of shape (rows,): not all 0.

    Raises
    ------
    DataError
        A negative or fractional value, or every weight is 0.
    """
    if weight is None:
        return None
    array = checked_numbers("weight", weight, rows)
    wrong = (array < 0) | (array != np.floor(array)) | (array > 2**53)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(f"weight holds {array[at]:g} at position {at}", expected="non-negative integers")
    if array.sum() > MOST_ROWS:
        raise DataError(f"weight adds up to more than {MOST_ROWS}", expected="fewer rows by weight")
    if not array.any():
        raise DataError("every row has weight 0", expected="a positive weight in some row")
    return array.astype(np.int64)


def checked_probabilities(name: str, values: ArrayLike) -> Floats:
    """Finite float64 of shape (n,) in [0, 1].

    Raises
    ------
    DataError
        See ``checked_numbers``, or a value out of range.
    """
    array = checked_numbers(name, values)
    low, high = float(array.min()), float(array.max())
    if low < 0 or high > 1:
        raise DataError(
            f"{name} holds values from {low:g} to {high:g}", expected="probabilities between 0 and 1"
        )
    return array

"""Thresholds that decide alike for 32-bit numbers, their texts and 64-bit numbers.

A score is often a 32-bit number in one file, and its shortest text in another: 0.7 as text is above the
32-bit number nearest to it. Both round to the same 32-bit number, and so do all numbers from the lowest such
double on. A comparison with that double therefore decides alike for both.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BEYOND: Final = 2.0**128
"""Magnitude of the number that would follow the largest 32-bit number."""

_FEWEST_DIGITS: Final = 6
"""Digits of a printed threshold, unless more are needed to decide alike."""

_TENS: Final = np.array([float(f"1e{power}") for power in range(309)])
"""Powers of ten that are doubles."""

_TEXT_DIGITS: Final = 9
"""Digits of the longest of the shortest texts of 32-bit numbers."""

_DIGITS: Final = range(_FEWEST_DIGITS, 16)
"""Digits to which thresholds are rounded, up to those of a whole number that every double holds exactly."""


def lowest_alike(numbers: Floats) -> Floats:
    """Return the lowest doubles that round to the same 32-bit numbers, with the sign of zero or more.

    A number beyond all 32-bit numbers stays as it is.

    Examples
    --------
    >>> low = lowest_alike(np.array([0.7, 0.0]))
    >>> low.tolist(), low[0] <= float(np.float32(0.7)) < 0.7
    ([0.6999999582767488, 0.0], True)
    """
    with np.errstate(over="ignore"):
        nearest = numbers.astype(np.float32)
        below = np.nextafter(nearest, np.float32(-np.inf)).astype(np.float64)
        inner = np.where(np.isinf(below), -_BEYOND, below)
        middle = inner / 2 + nearest / np.float64(2)
        rounds_up = middle.astype(np.float32) == nearest  # a tie goes to the even one
        low = np.where(rounds_up, middle, np.nextafter(middle, np.inf))
    low = np.where(numbers >= 0, np.maximum(low, 0.0), low)  # no 32-bit number between changes its sign
    alike: Floats = np.where(np.isfinite(nearest), low, numbers)
    return alike


def highest_alike(numbers: Floats) -> Floats:
    """Return the highest doubles that round to the same 32-bit numbers (see ``lowest_alike``)."""
    return 0.0 - lowest_alike(0.0 - numbers)


def unless_between(edges: Floats, moved: Floats, values: Floats) -> Floats:
    """Move edges, but none over another of the ascending values."""
    lower, upper = np.minimum(edges, moved), np.maximum(edges, moved)
    inside = np.searchsorted(values, upper, side="right") - np.searchsorted(values, lower)
    own = np.searchsorted(values, edges, side="right") - np.searchsorted(values, edges)
    alone: Floats = np.where(inside == own, moved, edges)
    return alone


def lowered(edges: Floats, values: Floats) -> Floats:
    """Move edges to the lowest doubles alike, unless another of the ascending values lies in between.

    A value reaches a moved edge if and only if it reaches the edge.
    """
    return unless_between(edges, lowest_alike(edges), values)


def all_lowered(values: Floats, starts: NDArray[np.int64] | None = None) -> Floats:
    """Move edges at all of some distinct ascending values, as ``lowered`` does, without a search.

    ``starts`` are the first positions of several such sequences; None for a single one.
    """
    low = lowest_alike(values)
    before = np.empty_like(values)
    before[1:] = values[:-1]
    before[slice(1) if starts is None else starts] = -np.inf
    return np.where(before < low, low, values)


def lowered_fixed(edges: Floats, values: Floats) -> Floats:
    """Move edges that are no values themselves: the 32-bit number nearest to 0.7 is below it."""
    with np.errstate(over="ignore"):
        low, nearest = lowest_alike(edges), edges.astype(np.float32).astype(np.float64)
    others = np.searchsorted(values, edges) - np.searchsorted(values, low)
    own = np.searchsorted(values, nearest, side="right") - np.searchsorted(values, nearest)
    alone: Floats = np.where(others <= np.where(nearest < edges, own, 0), low, edges)
    return alone


def of_texts(values: Floats) -> Floats:
    """Replace the shortest texts of 32-bit numbers by these numbers; other values stay.

    Examples
    --------
    >>> of_texts(np.array([0.7, 2 / 3])).tolist() == [float(np.float32(0.7)), 2 / 3]
    True
    """
    with np.errstate(over="ignore"):
        nearest = values.astype(np.float32)
        number = nearest.astype(np.float64)
        is_normal = np.isfinite(nearest) & (np.abs(nearest) >= np.finfo(np.float32).tiny)
        place = np.flatnonzero(is_normal & (number != values))
        place = place[_same(_rounded(values[place], _TEXT_DIGITS), values[place])]
        short = _same(_rounded(values[place], _FEWEST_DIGITS), values[place])
        result, texts = values.copy(), place[short]  # six digits always are the shortest text
        result[texts], place = number[texts], place[~short]
        for digits in range(_FEWEST_DIGITS, _TEXT_DIGITS + 1):
            text = _rounded(number[place], digits)
            is_text = text.astype(np.float32) == nearest[place]  # and so the shortest one
            own = place[is_text & _same(text, values[place])]
            result[own] = number[own]
            place = place[~is_text]
    return result


def _rounded(numbers: Floats, digits: int) -> Floats:
    """Round numbers other than 0 to significant digits."""
    places = digits - 1 - np.floor(np.log10(np.abs(numbers))).astype(np.int64)
    return _times_ten(np.rint(_times_ten(numbers, places)), -places)


def _same(numbers: Floats, others: Floats) -> NDArray[np.bool_]:
    """Whether numbers are equal, but for the rounding of a power of ten."""
    same: NDArray[np.bool_] = np.abs(numbers - others) <= 1e-15 * np.abs(others)
    return same


def near_edges(edges: Floats) -> Floats:
    """Return the numbers near which values must be known to move edges up or down; shape (4n,)."""
    with np.errstate(over="ignore"):
        nearest = edges.astype(np.float32).astype(np.float64)
    return np.concatenate([edges, nearest, lowest_alike(edges), highest_alike(edges)])


def near_thresholds(values: Floats) -> Floats:
    """Return the numbers near which values must be known to move and to show thresholds; shape (12n,)."""
    return np.concatenate([values, lowest_alike(values), rounded_down(values).ravel()])


def rounded_down(numbers: Floats) -> Floats:
    """Round numbers down to 6, 7, ... significant digits; shape (10, n).

    Examples
    --------
    >>> rounded_down(np.array([2 / 3, 0.7, -1.5]))[0].tolist()
    [0.666666, 0.7, -1.5]
    """
    return _rounded_down(numbers, np.array(_DIGITS)[:, np.newaxis])


def _rounded_down(numbers: Floats, digits: int | NDArray[np.int64]) -> Floats:
    """Round numbers down to significant digits."""
    size = np.abs(np.where(numbers == 0, 1.0, numbers))
    place = np.clip(digits - 1 - np.floor(np.log10(size)).astype(np.int64), -300, 300)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = _times_ten(numbers, place)
        candidates = [_times_ten(np.floor(scaled) + step, -place) for step in (-1, 0, 1)]
    rounded = candidates[0]
    for candidate in candidates[1:]:
        rounded = np.where(candidate <= numbers, candidate, rounded)
    return np.where(np.isfinite(rounded) & (rounded <= numbers), rounded, numbers)


def _times_ten(numbers: Floats, powers: NDArray[np.int64]) -> Floats:
    """Multiply by powers of ten, exactly rounded if these are at most 22."""
    last = len(_TENS) - 1
    positive, negative = (np.minimum(np.maximum(some, 0), last) for some in (powers, -powers))
    product: Floats = numbers * _TENS[positive] / _TENS[negative]
    return product


def shown(thresholds: Floats, values: Floats) -> Floats:
    """Round thresholds down to six digits, or to as many as the same of the ascending values reach.

    A threshold that was moved below a value is shown as that value.
    """
    place = np.minimum(np.searchsorted(values, thresholds), max(0, len(values) - 1))
    stands_for = values[place] if len(values) else thresholds
    exact = np.where(
        (thresholds <= stands_for) & (lowest_alike(stands_for) == thresholds), stands_for, thresholds
    )
    below = np.searchsorted(values, exact)
    result, longer = exact.copy(), np.arange(len(exact))
    for digits in _DIGITS:
        candidate = _rounded_down(exact[longer], digits)
        is_same = np.searchsorted(values, candidate) == below[longer]
        result[longer[is_same]] = candidate[is_same]
        longer = longer[~is_same]
        if len(longer) == 0:
            break
    return result

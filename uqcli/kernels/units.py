"""Number values by their first occurrence, and sum rows by unit (a group, a day, a customer) and column."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.base.whole_numbers import fitting, largest
from uqcli.kernels.compile import kernel_beside
from uqcli.kernels.pooling import Keys

Numbers = NDArray[np.int32]
Signs = NDArray[np.int8]

_FIRST_SLOTS: Final = 1 << 10
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
"""Multiplier of Fibonacci hashing (Knuth, volume 3, section 6.4): the product's high bits are the slot."""


def first_rows(place: Ints, marks: Numbers) -> Ints:
    """Return the first row of each place that occurs, ascending; ``marks`` has a mark of each possible place.

    The marks of the places that occur are overwritten.

    Examples
    --------
    >>> first_rows(np.array([5, 0, 5, 2, 0]), np.zeros(6, dtype=np.int32)).tolist()
    [0, 1, 3]
    """
    row = np.arange(len(place), dtype=np.int32)
    marks[place[::-1]] = row[::-1]  # of several rows the one that is assigned last stays
    return np.flatnonzero(marks[place] == row)


class Numbering:
    """Numbers of 64-bit values, by their first occurrence, in a hash table that is at most half full."""

    def __init__(self) -> None:
        self._value: Ints = np.empty(_FIRST_SLOTS, dtype=np.int64)
        self._number: Numbers = np.full(_FIRST_SLOTS, -1, dtype=np.int32)
        self._parts: list[Ints] = []
        self._size = 0

    def __len__(self) -> int:
        """Return how many values have a number."""
        return self._size

    @property
    def values(self) -> Ints:
        """The values by number; int64."""
        self._parts = [np.concatenate([np.zeros(0, dtype=np.int64), *self._parts])]
        return self._parts[0]

    def of(self, value: Ints) -> tuple[Numbers, Ints]:
        """Return the number of each value, of shape (n,), and the rows of those that are new, ascending."""
        room = 2 * (self._size + len(value))
        if room > len(self._number):
            known, self._size = self.values, 0
            slots = 1 << (room - 1).bit_length()
            del self._value, self._number  # both tables at once would take half as much again
            self._value, self._number = np.empty(slots, dtype=np.int64), np.full(slots, -1, dtype=np.int32)
            self._filled(known)
        number, rows = self._filled(value)
        self._parts.append(value[rows])
        return number, rows

    def _filled(self, value: Ints) -> tuple[Numbers, Ints]:
        bits = np.uint64(65 - len(self._number).bit_length())
        slot = ((value.view(np.uint64) * _FACTOR) >> bits).view(np.int64)
        number, row = np.empty(len(value), dtype=np.int32), np.empty(len(value), dtype=np.int64)
        new = number_values.run(len(value), value, slot, self._value, self._number, number, row, self._size)
        self._size += new
        return number, row[:new].copy()


_PLACES_PER_ROW: Final = 4
"""Places of a table for each row up to which it is filled faster than numbers are hashed."""

_FEW_PLACES: Final = 1 << 12

_ROWS_TOGETHER: Final = 1 << 18
"""Rows that are numbered together: a table has room for all of them to be new."""


def dense_ranks(values: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the distinct whole numbers, ascending, and the place of each value among them; int64.

    They are those of ``np.unique``, which sorts the rows.

    Examples
    --------
    >>> distinct, rank = dense_ranks(np.array([70, -2, 70, 1 << 60]))
    >>> distinct.tolist(), rank.tolist()
    ([-2, 70, 1152921504606846976], [1, 0, 1, 2])
    """
    values = values.astype(np.int64, copy=False)
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, -1)
    if high - low < max(_FEW_PLACES, _PLACES_PER_ROW * len(values)):
        place = values - low
        is_present = np.zeros(high - low + 1, dtype=np.bool_)
        is_present[place] = True
        return np.flatnonzero(is_present) + low, (np.cumsum(is_present) - 1)[place]
    numbering = Numbering()
    parts = np.split(values, range(_ROWS_TOGETHER, len(values), _ROWS_TOGETHER))
    number = np.concatenate([numbering.of(part)[0] for part in parts])
    order = np.argsort(numbering.values)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return numbering.values[order], rank[number]


def _number_arrays(
    value: Ints, slot: Ints, values: Ints, numbers: Numbers, number: Numbers, row: Ints, start: int
) -> int:
    distinct, first, inverse = np.unique(value, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number_of = np.empty(len(distinct), dtype=np.int32)
    size = 0
    for index in order.tolist():
        place = int(slot[first[index]])
        while numbers[place] >= 0 and values[place] != distinct[index]:
            place = (place + 1) % len(values)
        if numbers[place] < 0:
            values[place], numbers[place], row[size] = distinct[index], start + size, first[index]
            size += 1
        number_of[index] = numbers[place]
    number[:] = number_of[inverse]
    return size


@kernel_beside(_number_arrays)
def number_values(
    value: Ints, slot: Ints, values: Ints, numbers: Numbers, number: Numbers, row: Ints, start: int
) -> int:
    """Number 64-bit values by first occurrence, from ``start`` on; return how many are new.

    ``values`` and ``numbers`` are a hash table with open addressing, of a power of two of slots, of which
    those that are free have the number -1; ``slot`` is where each value is looked for first. Fill in the
    number of each value, and the row of each new one.
    """
    size = 0
    for index in range(len(value)):
        place = slot[index]
        found = numbers[place]
        while found >= 0 and values[place] != value[index]:
            place = (place + 1) & (len(values) - 1)
            found = numbers[place]
        if found < 0:
            found = start + size
            values[place] = value[index]
            numbers[place] = found
            row[size] = index
            size += 1
        number[index] = found
    return size


class UnitTable:
    """Sums of whole numbers by unit and column; it grows as both are met.

    They are int64, and Python's integers (``object``) once all that was added might exceed 64 bits.
    """

    def __init__(self) -> None:
        self.sums: Ints = np.zeros((1, 1), dtype=np.int64)
        self._most = 0

    def add(self, unit: Ints | None, column: NDArray[Any], number: Ints | None) -> None:
        """Add a number of each row, or 1, to a unit and a column; arrays of shape (n,)."""
        if not len(column):
            return
        if unit is None and number is None:
            counts = np.bincount(column)
            self._reach(0, len(counts) - 1)
            self.sums[0, : len(counts)] += counts
            return
        unit = np.zeros(len(column), dtype=np.int64) if unit is None else unit
        self._reach(int(unit.max()), int(column.max()))
        self._most += len(column) * (1 if number is None else largest(number))
        self.sums = self.sums.astype(fitting(self._most), copy=False)
        columns, sums = self.sums.shape[1], self.sums.reshape(-1)
        if number is None and sums.dtype == np.int64:
            count_columns.run(len(column) // ROWS_PER_STEP, unit, column, columns, sums)
            return
        np.add.at(sums, unit.astype(np.int64) * columns + column, 1 if number is None else number)

    def of(self, unit: Ints | None, columns: int) -> Ints:
        """Return the sums of units, None for all, in the first columns: 0 where nothing was added.

        They have the shape (U, columns), and are int64 if they fit: what was added may be less than expected.
        """
        unit = np.arange(len(self.sums)) if unit is None else unit
        known = unit < len(self.sums)
        sums = np.zeros((len(unit), columns), dtype=self.sums.dtype)
        sums[known, : self.sums.shape[1]] = self.sums[unit[known], :columns]
        return sums if sums.dtype == np.int64 else sums.astype(fitting(largest(sums)))

    def _reach(self, unit: int, column: int) -> None:
        """Make room, twice as much as there is if there is not enough."""
        missing = [
            max(0, last + 1 - size) and max(last + 1 - size, size)
            for last, size in zip((unit, column), self.sums.shape, strict=True)
        ]
        if any(missing):
            self.sums = np.ascontiguousarray(np.pad(self.sums, [(0, more) for more in missing]))


def _count_arrays(unit: NDArray[Any], column: NDArray[Any], columns: int, sums: Ints) -> None:
    np.add.at(sums, unit.astype(np.int64) * columns + column, 1)


@kernel_beside(_count_arrays)
def count_columns(unit: NDArray[Any], column: NDArray[Any], columns: int, sums: Ints) -> None:
    """Add 1 for each row to the column of its unit; the sums have so many columns, and the shape (n,)."""
    for row in range(len(unit)):
        sums[unit[row] * columns + column[row]] += 1


def _places_arrays(
    score: Keys,
    uncertainty: Keys,
    code: Numbers,
    unit: Ints,
    ends: Ints,
    edges: Ints,
    _starts: Ints,
    _low: int,
    _shift: int,
    column: Ints,
    columns: int,
    negatives: int,
    weight: Ints,
    sums: NDArray[Any],
) -> None:
    uncertainty_bin = np.searchsorted(ends, uncertainty, side="right")
    score_bin = np.empty(len(score), dtype=np.int64)
    for number, edges_of_bin in enumerate(np.split(edges, len(ends) + 1)):
        inside = uncertainty_bin == number
        score_bin[inside] = np.searchsorted(edges_of_bin, score[inside], side="right")
    place = column[uncertainty_bin * (len(column) // (len(ends) + 1)) + score_bin]
    index = 2 * (unit[code] * columns + place) + (np.arange(len(score)) >= negatives)
    np.add.at(sums, index, (weight if len(weight) == len(score) else weight[:1]).astype(sums.dtype))


@kernel_beside(_places_arrays)
def count_places(
    score: Keys,
    uncertainty: Keys,
    code: Numbers,
    unit: Ints,
    ends: Ints,
    edges: Ints,
    starts: Ints,
    low: int,
    shift: int,
    column: Ints,
    columns: int,
    negatives: int,
    weight: Ints,
    sums: NDArray[Any],
) -> None:
    """Add the weight of each row to its unit, its column and its label; negative rows come first.

    A row has the unit of its code, and the column of its uncertainty bin (the number of ``ends`` at or below
    its uncertainty) and its score bin there. Each uncertainty bin has as many score edges, and one more
    column. Its edges are looked for from a start on that depends on the score only: on how often
    ``2 ** shift`` fits between ``low`` and the score. The last start is that of all higher scores. ``weight``
    has a weight of each row, or a single one of all rows.
    """
    per_bin = len(edges) // (len(ends) + 1)
    buckets = len(starts) // (len(ends) + 1)
    last = np.uint64(buckets - 1)
    for row in range(len(score)):
        uncertainty_bin = 0
        for index in range(len(ends)):
            uncertainty_bin += uncertainty[row] >= ends[index]
        bucket = min(np.uint64(max(score[row], low) - low) >> np.uint64(shift), last)
        place = starts[uncertainty_bin * buckets + np.int64(bucket)]
        while place < per_bin and edges[uncertainty_bin * per_bin + place] <= score[row]:
            place += 1
        place = column[uncertainty_bin * (per_bin + 1) + place]
        sums[2 * (unit[code[row]] * columns + place) + (row >= negatives)] += weight[
            min(row, len(weight) - 1)
        ]


_FEW_ROWS: Final = 64
"""Rows of a unit up to which they are sorted by insertion."""


def _sort_arrays(unit: Ints, key: Ints, _starts: Ints, _next_place: Ints, _few: int, ordered: Ints) -> None:
    ordered[:] = key[np.lexsort((key, unit))]


@kernel_beside(_sort_arrays)
def sort_in_units(unit: Ints, key: Ints, starts: Ints, next_place: Ints, few: int, ordered: Ints) -> None:
    """Fill in the keys of rows by unit, ascending in each unit that has at most ``few`` rows.

    ``starts`` are the first places of the units, and their end; ``next_place`` is a copy that is changed.
    """
    for row in range(len(unit)):
        place = next_place[unit[row]]
        ordered[place] = key[row]
        next_place[unit[row]] = place + 1
    for index in range(len(starts) - 1):
        first = starts[index]
        if starts[index + 1] - first <= few:
            for row in range(first + 1, starts[index + 1]):
                value = ordered[row]
                place = row
                while place > first and ordered[place - 1] > value:
                    ordered[place] = ordered[place - 1]
                    place -= 1
                ordered[place] = value


def sorted_in_units(unit: Ints, units: int, key: Ints) -> tuple[Ints, Ints]:
    """Return the keys of rows by unit, ascending in each, and the first places of the units and their end.

    Examples
    --------
    >>> ordered, starts = sorted_in_units(np.array([1, 0, 1]), 2, np.array([5, 7, 3]))
    >>> ordered.tolist(), starts.tolist()
    ([7, 3, 5], [0, 1, 3])
    """
    starts = np.zeros(units + 1, dtype=np.int64)
    np.cumsum(np.bincount(unit, minlength=units), out=starts[1:])
    ordered = np.empty(len(unit), dtype=np.int64)
    sort_in_units.run(len(unit), unit, key, starts, starts[:-1].copy(), _FEW_ROWS, ordered)
    for index in np.flatnonzero(np.diff(starts) > _FEW_ROWS).tolist():
        ordered[starts[index] : starts[index + 1]].sort()
    return ordered, starts


def signed_ranges(residual: Floats, unit: Numbers, signs: Signs, ends: Ints) -> Floats:
    """Return the range of the running sum of residuals, each times a sign of its unit, and 0; shape (draws,).

    Signs have the shape (units, draws). Only the sums after the rows of ``ends``, ascending, count.

    Examples
    --------
    >>> signs = np.array([[1, 1], [-1, 1]], dtype=np.int8)
    >>> signed_ranges(np.array([0.5, 0.25]), np.array([0, 1]), signs, np.array([0, 1])).tolist()
    [0.5, 0.75]
    """
    draws = signs.shape[1]
    total, low, high = np.zeros(draws), np.zeros(draws), np.zeros(draws)
    steps = len(residual) * draws // ROWS_PER_STEP
    find_extremes.run(steps, residual, unit, np.ascontiguousarray(signs).ravel(), ends, total, low, high)
    return high - low


def _extreme_arrays(
    residual: Floats, unit: Numbers, signs: Signs, ends: Ints, total: Floats, low: Floats, high: Floats
) -> None:
    for draw, sign in enumerate(signs.reshape(-1, len(total)).T):
        cumulative = np.cumsum(residual * sign[unit])[ends]
        low[draw], high[draw] = min(0.0, float(cumulative.min())), max(0.0, float(cumulative.max()))


@kernel_beside(_extreme_arrays)
def find_extremes(
    residual: Floats, unit: Numbers, signs: Signs, ends: Ints, total: Floats, low: Floats, high: Floats
) -> None:
    """Fill in the lowest and the highest running sum of each draw (see ``signed_ranges``)."""
    draws = len(total)
    place = 0
    for row in range(len(residual)):
        first = unit[row] * draws
        for draw in range(draws):
            total[draw] += residual[row] * signs[first + draw]
        if row == ends[place]:
            for draw in range(draws):
                low[draw] = min(low[draw], total[draw])
                high[draw] = max(high[draw], total[draw])
            place = min(place + 1, len(ends) - 1)

"""Number values by their first occurrence, and sum rows by unit (a group, a day, a customer) and column."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Ints
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.base.whole_numbers import fitting, largest
from uqcli.kernels.compile import kernel_beside

Numbers = NDArray[np.int32]

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
            slots = 1 << (2 * room - 1).bit_length()
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

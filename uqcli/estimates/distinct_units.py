"""Sums over units (clusters, days) that do not depend on their order, with equal units added up together."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Ints
from uqcli.base.records import dataclass

Sums: TypeAlias = "NDArray[np.int64] | NDArray[np.float64]"
"""A sum for each unit, shape (U,): rows by weight, or sums of sampling weights."""

_MIN_UNITS: Final = 1000
"""Units below which equal ones are not pooled, which would take longer than to add them up."""

_CELLS_PER_UNIT: Final = 8
_MOST_CELLS: Final = 1 << 20
"""Possible units beyond which few are equal, or their table leaves the CPU cache."""

_ONCE: Final[Ints] = np.ones(1, dtype=np.int64)

_SPLIT: Final = 2.0**27 + 1
"""Factor by which a double is split into two of 26 bits (Dekker, 1971)."""


_FEW_VALUES: Final = 200
"""Values up to which Python adds up faster."""

_LARGEST_EXPONENT: Final = 900
"""Binary exponent, of both signs, beyond which parts of values might be no doubles."""

_DIGITS: Final = 53
"""Binary digits of a double."""


def rounded_sum(values: NDArray[Any]) -> float:
    """Add up numbers, rounded once, as ``math.fsum`` does, which makes an object of each.

    The leading digits of all numbers, so few that their sums are exact, are split off and added up until
    nothing is left (Rump, Ogita and Oishi 2008, SIAM Journal on Scientific Computing 31, algorithm 3.2).

    Examples
    --------
    >>> rounded_sum(np.array([1e16, 1.0, -1e16] * 100))
    100.0
    """
    digits = _DIGITS - 1 - len(values).bit_length()
    sums, rest = list[float](), values
    while len(values) > _FEW_VALUES and values.dtype == np.float64:  # else whole numbers of any size
        largest = float(np.abs(rest).max())
        _, exponent = math.frexp(largest)
        if not largest:
            return math.fsum(sums)
        if not math.isfinite(largest) or abs(exponent) > _LARGEST_EXPONENT:
            break
        unit = math.ldexp(
            1.5, exponent - digits + _DIGITS - 1
        )  # whose last digit is the last of what is split
        leading = (rest + unit) - unit
        sums.append(float(leading.sum()))
        rest = rest - leading
    return math.fsum([*sums, *rest.tolist()])


@dataclass(frozen=True, kw_only=True, eq=False)
class DistinctUnits:
    """Units that differ in a column, and how many there are of each.

    Attributes
    ----------
    columns : each of shape (D,)
        Sums of each distinct unit.
    times : int64, shape (D,)
        Number of equal units; a single 1 if they are not pooled.
    """

    columns: tuple[Sums, ...]
    times: Ints
    is_pooled: bool

    @classmethod
    def of(cls, *columns: Sums) -> DistinctUnits:
        """Pool units that are equal in all columns, if these are few whole numbers; shape (U,) each."""
        sizes = list[int]()
        if len(columns[0]) >= _MIN_UNITS and all(column.dtype == np.int64 for column in columns):
            sizes = [int(column.max()) + 1 if column.min() >= 0 else _MOST_CELLS + 1 for column in columns]
        most = min(_MOST_CELLS, _CELLS_PER_UNIT * len(columns[0]))
        if len(sizes) < len(columns) or math.prod(sizes) > most:
            return cls(columns=columns, times=_ONCE, is_pooled=False)
        code = columns[0].astype(np.int64, copy=False)
        for column, size in zip(columns[1:], sizes[1:], strict=True):
            code = code * size + column.astype(np.int64, copy=False)
        times = np.bincount(code)
        codes = np.flatnonzero(times)
        values = tuple(np.unravel_index(codes, sizes))
        return cls(columns=values, times=times[codes], is_pooled=True)

    @property
    def number(self) -> int:
        """Number of units."""
        return int(self.times.sum()) if self.is_pooled else len(self.columns[0])

    def count(self, mask: NDArray[np.bool_]) -> int:
        """Return the number of units of some distinct ones, by mask."""
        return int(self.times[mask].sum()) if self.is_pooled else int(np.count_nonzero(mask))

    def sum(self, values: NDArray[Any]) -> float:
        """Add up a value of each unit, given those of the distinct ones; rounded once, whatever the order."""
        if values.dtype.kind == "i":
            return float((values * self.times if self.is_pooled else values).sum())
        if not self.is_pooled:
            return rounded_sum(values)
        scaled = _SPLIT * values
        high = scaled - (scaled - values)  # half of the digits, whose product with a number of units is exact
        return rounded_sum(np.concatenate([high * self.times, (values - high) * self.times]))

    def squares(self, values: NDArray[Any]) -> float:
        """Add up the squares of a value of each unit, as floating-point numbers."""
        return self.sum(np.square(values.astype(np.float64)))

    def effective(self, values: NDArray[Any]) -> float:
        """Return how many units of equal size as many of these sizes count as; 0 for none."""
        squares = self.squares(values)
        return self.sum(values) ** 2 / squares if squares else 0.0

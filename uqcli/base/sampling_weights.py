"""Sampling weights as integers of 2**-20, so that sums are exact in any order.

A sampling weight is 1 / (probability that a row is in the file). It is not the number of equal rows.
"""

from __future__ import annotations

import math
from typing import Final, Self

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.defaults import MAX_ROWS
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.whole_numbers import sum_of_products, total

UNITS: Final = 1 << 20
"""Units per 1."""

LARGEST: Final = float(1 << 22)
"""Largest weight."""


def units(weight: Floats) -> Ints:
    """Round weights to units.

    Examples
    --------
    >>> units(np.array([1.0, 0.1])).tolist()
    [1048576, 104858]
    """
    nearest: Ints = np.rint(weight * UNITS).astype(np.int64)
    return nearest


def refuse_unusable(weight: Floats) -> None:
    """Refuse weights that are negative or too large."""
    if len(weight) and not 0 <= weight.min() <= weight.max() <= LARGEST:
        raise DataError(
            f"sampling weights from {weight.min():g} to {weight.max():g}",
            expected=f"1 / the probability of each row, from 0 to {LARGEST:g}",
        )


def inverse(probability: Floats) -> Floats:
    """Return the weights of rows by their probabilities, which are above 0; whole numbers of units."""
    weight: Floats = np.rint(UNITS / probability) / UNITS
    return weight


def as_counts(weight: Floats, count: Ints | None = None) -> Ints:
    """Scale weights by a power of two to numbers of rows, as many as counts allow, for metrics without tests.

    At least one weight is above 0. A count is the number of equal rows that each stands for; None for 1.
    """
    rows = math.fsum((weight if count is None else weight * count).tolist())
    scale = min(float(UNITS), 2.0 ** math.floor(math.log2(MAX_ROWS / 2 / rows)))
    scaled: Ints = np.rint(weight * scale).astype(np.int64)
    return scaled if count is None else scaled * count


@dataclass(frozen=True, kw_only=True)
class WeightSums:
    """Exact sums over some rows: how many have a positive weight, and powers of the weights, in units.

    The least and the largest weight are 0 without rows.
    """

    rows: int = 0
    total: int = 0
    squares: int = 0
    cubes: int = 0
    least: int = 0
    largest: int = 0

    @classmethod
    def of(cls, weight: Ints, mask: Bools, count: Ints | None = None) -> Self:
        """Add up the rows of a mask, with weights in units.

        A count is the number of equal rows that each stands for; None for 1.
        """
        chosen = mask & (weight > 0)
        if count is not None:
            chosen &= count > 0
        inside = weight[chosen]
        ends = (int(inside.min()), int(inside.max())) if len(inside) else (0, 0)
        times = [] if count is None else [count[chosen]]
        return cls(
            rows=total(*times) if times else len(inside),
            total=sum_of_products(inside, *times),
            squares=sum_of_products(inside, inside, *times),
            cubes=sum_of_products(inside, inside, inside, *times),
            least=ends[0],
            largest=ends[1],
        )

    @classmethod
    def alike(cls, rows: int, weight: int) -> Self:
        """Return the sums of rows with the same weight, in units."""
        ends = weight if rows else 0
        sums, squares, cubes = (rows * weight**power for power in (1, 2, 3))
        return cls(rows=rows, total=sums, squares=squares, cubes=cubes, least=ends, largest=ends)

    def __add__(self, other: WeightSums) -> WeightSums:
        """Add the sums of other rows."""
        return WeightSums(
            rows=self.rows + other.rows,
            total=self.total + other.total,
            squares=self.squares + other.squares,
            cubes=self.cubes + other.cubes,
            least=min(filter(None, (self.least, other.least)), default=0),
            largest=max(self.largest, other.largest),
        )

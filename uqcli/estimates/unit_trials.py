"""Trials and successes of the units (clusters, days) of dependent rows, by the part that the rows are of."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np

from uqcli.base.counts import Bools, Ints
from uqcli.kernels.units import Numbering, UnitTable, dense_ranks

_BITS: Final = 32
"""Bits of the number of a unit; that of a part is above them."""


class UnitTrials:
    """Successes and trials, by weight, of each unit within each part: a class, a set size, a segment, a day.

    Examples
    --------
    >>> trials, cluster = UnitTrials(), np.array([7, 7, 5])
    >>> trials.add(np.array([0, 0, 0]), cluster, None, np.array([True, False, True]))
    >>> [column.tolist() for column in trials.of(0)]
    [[1, 1], [1, 2]]
    """

    def __init__(self) -> None:
        self._pairs, self._table = Numbering(), UnitTable()

    def add(self, part: Ints, unit: Ints, weight: Ints | None, succeeds: Bools) -> None:
        """Count rows of a part and a unit, each from 0 on; shape (n,) each, weight None for 1 each."""
        self.__dict__.pop("pairs", None)
        pair, _ = self._pairs.of((part << _BITS) | unit)
        self._table.add(pair.astype(np.int64), succeeds.astype(np.int64), weight)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Part, unit, successes and trials of each pair that occurs, in order; int64, shape (m,)."""
        pair = self._pairs.values
        order = np.argsort(pair)
        failures, successes = self._table.of(order, 2).T
        pair = pair[order]
        return pair >> _BITS, pair & ((1 << _BITS) - 1), successes, successes + failures

    def of(self, part: int | None) -> tuple[Ints, Ints]:
        """Return the successes and trials of the units, in order, within a part, or of all; shape (U,)."""
        of_pair, unit, *counts = self.pairs
        if part is not None:
            first, last = np.searchsorted(of_pair, [part, part + 1])
            return counts[0][first:last], counts[1][first:last]
        units, place = dense_ranks(unit)
        table = UnitTable()
        for column, numbers in enumerate(counts):
            table.add(place, np.full(len(place), column), numbers)
        successes, trials = table.of(np.arange(len(units)), 2).T
        return successes, trials

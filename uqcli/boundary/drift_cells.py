"""Count rows by day or cluster in the few cells of a test of drift over dependent rows."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Ints
from uqcli.boundary.rule import drift_cells
from uqcli.shift.mixture import UnitCounts


class DriftCells:
    """Rows by unit (a day or a cluster) and cell.

    Parameters
    ----------
    bins
        Uncertainty bins of the rule.
    """

    def __init__(self, bins: int) -> None:
        self._cells = drift_cells(bins)
        self._count = np.zeros((0, int(self._cells.max()) + 1), dtype=np.int64)

    def add(self, unit: Ints, places: tuple[Ints, Ints], weight: Ints) -> None:
        """Count rows.

        Parameters
        ----------
        unit, weight : int64, shape (n,)
        places
            Uncertainty bin and score bin of each row.
        """
        missing = int(unit.max(initial=-1)) + 1 - len(self._count)
        if missing > 0:
            self._count = np.pad(self._count, ((0, max(missing, len(self._count))), (0, 0)))
        np.add.at(self._count, (unit, self._cells[places]), weight)

    def counts(self, unit_of: Ints | None = None) -> UnitCounts:
        """Return the rows by unit and cell, of a single class.

        Parameters
        ----------
        unit_of : int64, shape (units,), optional
            Another number for each unit, such as its day.
        """
        unit, cell = np.nonzero(self._count)
        return UnitCounts(
            unit=unit if unit_of is None else unit_of[unit],
            class_index=np.zeros(len(unit), dtype=np.int64),
            cell=cell,
            count=self._count[unit, cell],
            shape=(len(self._count), 1, self._count.shape[1]),
        )

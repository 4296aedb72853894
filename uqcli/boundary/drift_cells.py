"""Count rows by day or cluster in the few cells of a test of drift over dependent rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec
import numpy as np

from uqcli.base.counts import Ints
from uqcli.boundary.rule import BoundaryArtifact, SavedBetween, drift_cells
from uqcli.boundary.rule_groups import as_decided
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.rules.columns import ColumnOverrides
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


_MAX_ROWS: Final = 10_000_000
"""Rows up to which they are read once more; a cluster cannot send the distinct ones of many more."""


def with_between(rule: BoundaryArtifact, data: DataRequest) -> BoundaryArtifact:
    """Add the covariance between clusters to the reference of a rule, if its rows depend on each other."""
    key, reference = data.roles.cluster, rule.reference
    if key is None or isinstance(reference, msgspec.UnsetType) or rule.source.rows > _MAX_ROWS:
        return rule
    roles = replace(rule.reads(ColumnOverrides()), weight=data.roles.weight)
    request = as_decided(replace(data, roles=roles, positive_value=None), rule)
    request = request.clustered_by(key, days=data.roles.days)
    counted, edges = DriftCells(len(rule.thresholds)), np.array(rule.uncertainty_edges, dtype=np.float64)
    for rows in open_engine(request.engine).batches(request):
        places = reference.places(edges, rows.score, rows.uncertainty)
        counted.add(rows.groups[key], places, rows.weights())
    counts = counted.counts()
    if counts.present < 2:
        return rule
    between = SavedBetween(units=counts.present, covariance=counts.covariance()[0, 0].tolist())
    return msgspec.structs.replace(rule, reference=msgspec.structs.replace(reference, between=between))

"""Read all calibration rows of a boundary once more, for counts that only its rule defines.

A rule is fitted on labelled rows, while new rows have no label. If the labels are those of reviewed rows, the
rule flags another share of all rows than of labelled ones. If rows depend on each other, their days or
clusters show how much new ones will differ.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec
import numpy as np

from uqcli.base.counts import Ints
from uqcli.boundary.rule import ZONES, BoundaryArtifact, SavedBetween, SavedEnds, drift_cells
from uqcli.boundary.rule_groups import as_decided
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.rules.columns import ColumnOverrides
from uqcli.rules.saved import given
from uqcli.shift.mixture import UnitCounts


def _without_labels(rule: BoundaryArtifact, data: DataRequest) -> DataRequest:
    """Return the request for the columns of the rule, and the weight."""
    roles = replace(rule.reads(ColumnOverrides()), weight=data.roles.weight)
    return as_decided(replace(data, roles=roles, positive_value=None), rule)


def with_all_rows(rule: BoundaryArtifact, data: DataRequest) -> BoundaryArtifact:
    """Count all rows of the calibration set, with which new rows are compared, if some have no label."""
    if not data.may_lack_labels or not rule.source.dropped:
        return rule
    request, reference = _without_labels(rule, data), given(rule.reference)
    edges = np.array(rule.uncertainty_edges, dtype=np.float64)
    counts = np.zeros_like([] if reference is None else reference.count, dtype=np.int64)
    ends = {} if reference is None else dict(reference.ranges)
    total = selected = 0
    for rows in open_engine(request.engine).batches(request):
        weight = rows.weights()
        total += int(weight.sum())
        selected += int(weight[rule.zones(rows) == ZONES.index("flag")].sum())
        if reference is not None:
            np.add.at(counts, reference.places(edges, rows.score, rows.uncertainty), weight)
        for role, (low, high) in ends.items():
            numbers = rows.numbers[role][weight > 0]
            ends[role] = float(numbers.min(initial=low)), float(numbers.max(initial=high))
    if total == rule.fit.rows:  # rows were dropped for other reasons
        return rule
    rule = msgspec.structs.replace(
        rule, fit=msgspec.structs.replace(rule.fit, all_rows=total, all_selected=selected)
    )
    if reference is None:
        return rule
    lowest, highest = (SavedEnds(**{role: pair[side] for role, pair in ends.items()}) for side in (0, 1))
    reference = msgspec.structs.replace(reference, count=counts.tolist(), lowest=lowest, highest=highest)
    return msgspec.structs.replace(rule, reference=reference)


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
    key, reference = data.roles.cluster, given(rule.reference)
    if key is None or reference is None or rule.source.rows > _MAX_ROWS:
        return rule
    request = _without_labels(rule, data).clustered_by(key, days=data.roles.days)
    counted, edges = DriftCells(len(rule.thresholds)), np.array(rule.uncertainty_edges, dtype=np.float64)
    for rows in open_engine(request.engine).batches(request):
        places = reference.places(edges, rows.score, rows.uncertainty)
        counted.add(rows.groups[key], places, rows.weights())
    counts = counted.counts()
    if counts.present < 2:
        return rule
    between = SavedBetween(units=counts.present, covariance=counts.covariance()[0, 0].tolist())
    return msgspec.structs.replace(rule, reference=msgspec.structs.replace(reference, between=between))

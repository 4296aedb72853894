"""All calibration rows of a boundary, also those without a label.

A rule is fitted on labelled rows, while new rows have no label. If the labels are those of reviewed rows, the
rule flags another share of all rows than of labelled ones.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from uqcli.base.rows import Rows
from uqcli.boundary.rule import ZONES, BoundaryArtifact, SavedEnds, SavedReference
from uqcli.boundary.rule_groups import as_decided
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.rules.columns import ColumnOverrides


def with_all_rows(rule: BoundaryArtifact, data: DataRequest) -> BoundaryArtifact:
    """Count all rows of the calibration set, with which new rows are compared, if some have no label."""
    if not data.may_lack_labels or not rule.source.dropped:
        return rule
    roles = replace(rule.reads(ColumnOverrides()), weight=data.roles.weight)
    request = as_decided(replace(data, roles=roles, positive_value=None), rule)
    reference = None if isinstance(rule.reference, msgspec.UnsetType) else _Counts(rule, rule.reference)
    total = selected = 0
    for rows in open_engine(request.engine).batches(request):
        weight = rows.weights()
        total += int(weight.sum())
        selected += int(weight[rule.zones(rows) == ZONES.index("flag")].sum())
        if reference is not None:
            reference.add(rows)
    if total == rule.fit.rows:  # rows were dropped for other reasons
        return rule
    fit = msgspec.structs.replace(rule.fit, all_rows=total, all_selected=selected)
    saved = msgspec.UNSET if reference is None else reference.saved()
    return msgspec.structs.replace(rule, fit=fit, reference=saved)


class _Counts:
    """Counts of rows in the cells of a reference, and the ends of their numbers."""

    def __init__(self, rule: BoundaryArtifact, reference: SavedReference) -> None:
        self._edges = np.array(rule.uncertainty_edges, dtype=np.float64)
        self._reference = reference
        self._count = np.zeros_like(np.array(reference.count, dtype=np.int64))
        self._ends = dict(reference.ranges)

    def add(self, rows: Rows) -> None:
        """Add rows, by weight."""
        weight = rows.weights()
        np.add.at(self._count, self._reference.places(self._edges, rows.score, rows.uncertainty), weight)
        for role, (low, high) in self._ends.items():
            numbers = rows.numbers[role][weight > 0]
            self._ends[role] = (numbers.min(initial=low), numbers.max(initial=high))

    def saved(self) -> SavedReference:
        """Return the reference of these rows."""
        lowest, highest = (
            SavedEnds(**{role: float(ends[side]) for role, ends in self._ends.items()}) for side in (0, 1)
        )
        return msgspec.structs.replace(
            self._reference, count=self._count.tolist(), lowest=lowest, highest=highest
        )

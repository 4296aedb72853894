"""How much calibration rows vary between clusters such as days, with which new rows are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec
import numpy as np

from uqcli.boundary.drift_cells import DriftCells
from uqcli.boundary.rule import BoundaryArtifact, SavedBetween
from uqcli.boundary.rule_groups import as_decided
from uqcli.engines.open import open_engine
from uqcli.engines.request import DataRequest
from uqcli.rules.columns import ColumnOverrides

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

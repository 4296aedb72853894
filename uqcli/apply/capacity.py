"""A capacity: the first rows of each group are flagged, up to a number, in a second pass over the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uqcli.base.errors import DataError, words
from uqcli.base.rows import Rows
from uqcli.boundary.capacity import find_capacity
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.thresholds import Cuts
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import DataRequest


def decide_by_capacity(
    data: DataRequest, rule: BoundaryArtifact, added: AddedColumns, top: int, per: str | None
) -> tuple[DataRequest, AddedColumns, Cuts]:
    """Find the cuts of the groups in a first pass.

    Returns the request for the second pass, where groups are read as a feature of known levels; the columns
    to add there, with the decision by capacity; and the cuts.
    """
    capacity = find_capacity(data, rule, top, per)
    cuts = capacity.cuts
    if cuts.splits_tie:
        raise DataError(
            words("rows with equal scores are at the cut of --top, and rows on a cluster have no order"),
            expected="scores that differ there",
            remedy=words("use --engine polars"),
        )
    capacity.caution_of_ties()
    (decision,) = added.types

    def decided(rows: Rows) -> dict[str, np.ndarray]:
        return {decision: capacity.takes(rows)}

    return capacity.second_pass(data), replace(added, compute=decided), cuts

"""``apply --top``: the rows that a rule flags first, up to a number in each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from uqcli.base.choices import OnInvalid
from uqcli.base.counts import Ints
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.capacity import Cuts, FirstRows
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.refusals import NoRowsError
from uqcli.engines.request import DataRequest, FeatureRequest


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """Cuts of the groups of a request's rows.

    Attributes
    ----------
    levels
        Group index by text; the key is empty without groups.
    """

    cuts: Cuts
    levels: Mapping[str, int]
    per: str | None

    def reads(self, data: DataRequest) -> DataRequest:
        """Return the request for the second pass: groups are read as a feature of known levels."""
        if self.per is None:
            return data
        feature = FeatureRequest(name=self.per, text=True, levels=tuple(self.levels))
        roles = data.roles
        keyed = replace(roles, keys=(*roles.keys, self.per), features=(*roles.features, feature))
        return replace(data, roles=keyed)

    def adds(self, rule: BoundaryArtifact, added: AddedColumns) -> AddedColumns:
        """Return the columns to add: the decision by capacity."""
        (decision,) = added.types
        order = np.array([*self.levels.values(), -1], dtype=np.int64)  # the last is any other text

        def decided(rows: Rows) -> dict[str, np.ndarray]:
            place, score = rule.place_of(rows)
            group = np.zeros(len(rows), dtype=np.int64)
            if self.per is not None:
                level = rows.features[self.per].value.astype(np.int64)
                group = order[level]
            return {decision: self.cuts.takes(group, place, score, rows.position)}

        return replace(added, compute=decided)


def capacity_of(data: DataRequest, rule: BoundaryArtifact, top: int, per: str | None) -> Capacity:
    """Find the cuts in a first pass.

    Raises
    ------
    UsageError, DataError
        The rule does not order rows, these cannot be read, or the engine cannot order rows at a cut.
    """
    usable = OnInvalid.ERROR if data.on_invalid is OnInvalid.ERROR else OnInvalid.DROP
    keys = () if per is None else (per,)
    request = replace(data, roles=replace(data.roles, keys=keys), on_invalid=usable)
    first, batches = FirstRows(top), open_engine(data.engine).batches(request)
    try:
        with key_named_by(per, "--per"):
            for rows in batches:
                place, score = rule.place_of(rows)
                group: Ints = np.zeros(len(rows), dtype=np.int64) if per is None else rows.groups[per]
                first.add(group, place, score, rows.position, rows.weights())
    except NoRowsError:  # as without a capacity, the header is written
        levels: Mapping[str, int] = {"": 0} if per is None else {}
    else:
        levels = {"": 0} if per is None else batches.levels[per]
    cuts = first.cuts(len(levels))
    if cuts.splits_tie:
        raise DataError(
            "rows with equal scores are at the cut of --top, and rows on a cluster have no order",
            expected="scores that differ there",
            remedy="use --engine polars",
        )
    return Capacity(cuts=cuts, levels=levels, per=per)

"""A capacity: the first rows of each group are flagged, up to a number, whatever the thresholds.

The cuts of the groups are found in a first pass over all rows, and rows are decided in a second one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from uqcli.base.choices import OnInvalid
from uqcli.base.counts import Bools, Ints
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.wording import count, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import CheckedBatches
from uqcli.engines.refusals import NoRowsError
from uqcli.engines.request import DataRequest, FeatureRequest


@dataclass(frozen=True, kw_only=True, eq=False)
class Capacity:
    """Cuts of the groups, which are the values of a column, or all rows together without one.

    ``order`` has the group of each value, in the order in which the second pass numbers them.
    """

    rule: BoundaryArtifact
    top: int
    per: str | None
    levels: Mapping[str, int]
    order: Ints
    cuts: Cuts

    def takes(self, rows: Rows) -> Bools:
        """Whether rows of the second pass are flagged."""
        place, score = self.rule.place_of(rows)
        group: Ints = np.zeros(len(rows), dtype=np.int64)
        if self.per is not None:
            level = rows.features[self.per].value.astype(np.int64)
            group = self.order[level]
        return self.cuts.takes(group, place, score, rows.position)

    def second_pass(self, data: DataRequest) -> DataRequest:
        """Return the request for the rows to decide, in which groups are a feature of known levels."""
        per, roles = self.per, data.roles
        if per is None:
            return data
        feature = FeatureRequest(
            name=per, text=True, levels=tuple(self.levels), option="per", dated=True
        )
        keys = roles.keys if per in roles.keys else (*roles.keys, per)
        keyed = replace(roles, keys=keys, per=per, features=(*roles.features, feature))
        return replace(data, roles=keyed)

    @property
    def tied(self) -> int:
        """Rows that are not flagged only since they come after equal ones."""
        return int(self.cuts.tied.sum())

    def caution_of_ties(self) -> None:
        """Add a caution of rows that are not flagged only since they come after equal ones, if any are."""
        rows, groups = self.tied, int(np.count_nonzero(self.cuts.tied))
        if not rows:
            return
        ranks, are = ("ranks", "is") if rows == 1 else ("rank", "are")
        where = "" if self.per is None else f", in {count(groups)} group{'' if groups == 1 else 's'}"
        caution(
            "ties-at-the-cut",
            f"{rows_of(rows)} {ranks} as the last flagged row does{where}, and {are} not flagged: of rows of "
            "equal scores the first ones in the input are taken. Use scores of more digits, or another --top.",
        )


def find_capacity(data: DataRequest, rule: BoundaryArtifact, top: int, per: str | None) -> Capacity:
    """Find the cuts of the groups in a first pass over the rows, of which no label is read."""
    usable = OnInvalid.ERROR if data.on_invalid is OnInvalid.ERROR else OnInvalid.DROP
    keys = () if per is None else (per,)
    request = replace(data, roles=replace(data.roles, keys=keys, per=per), on_invalid=usable)
    first, batches = FirstRows(top), open_engine(data.engine).batches(request)
    try:
        with key_named_by(per, "--per"):
            for rows in batches:
                place, score = rule.place_of(rows)
                group: Ints = np.zeros(len(rows), dtype=np.int64) if per is None else rows.groups[per]
                first.add(group, place, score, rows.position, rows.weights())
    except NoRowsError:  # the second pass says so, or writes a header
        levels: Mapping[str, int] = {"": 0} if per is None else {}
    else:
        levels = _levels(batches, per)
    order = np.array([*levels.values(), -1], dtype=np.int64)  # the last is any other text
    return Capacity(
        rule=rule, top=top, per=per, levels=levels, order=order, cuts=first.cuts(len(levels))
    )


def _levels(batches: CheckedBatches, per: str | None) -> Mapping[str, int]:
    return {"": 0} if per is None else batches.levels[per]

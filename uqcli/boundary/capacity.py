"""A capacity: the first rows of each group are flagged, up to a number, whatever the thresholds.

The cuts of the groups are found in a first pass over all rows, and rows are decided in a second one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.choices import OnInvalid
from uqcli.base.counts import Bools, Ints
from uqcli.base.dates import date_of
from uqcli.base.errors import Opt
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.wording import count, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine
from uqcli.engines.refusals import NoRowsError
from uqcli.engines.request import DataRequest, FeatureRequest


@dataclass(frozen=True, kw_only=True, eq=False)
class Capacity:
    """Cuts of the groups, which are the values of a column, or all rows together without one.

    ``order`` has the group of each of the ``names``, as which the second pass numbers them; -1 for others.
    """

    rule: BoundaryArtifact
    top: int
    per: str | None
    levels: Mapping[str, int]
    names: Sequence[str]
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

    def in_order_of(self, names: Sequence[str]) -> Capacity:
        """Return it for a second pass that numbers groups in the order of names, which may be more."""
        order = np.array([*(self.levels.get(name, -1) for name in names), -1], dtype=np.int64)
        return replace(self, names=names, order=order)

    def second_pass(self, data: DataRequest) -> DataRequest:
        """Return the request for the rows to decide, in which groups are a feature of known levels."""
        per, roles = self.per, data.roles
        if per is None:
            return data
        feature = FeatureRequest(name=per, text=True, levels=tuple(self.names), option="per", dated=True)
        keys = roles.keys if per in roles.keys else (*roles.keys, per)
        keyed = replace(roles, keys=keys, per=per, features=(*roles.features, feature))
        return replace(data, roles=keyed)

    @property
    def units(self) -> str:
        """What the groups are called: days, if all of them are dates."""
        return "days" if all(date_of(name) is not None for name in self.levels) else "groups"

    @property
    def first_rows(self) -> str:
        """The rows that are flagged, in words."""
        rows = "highest-ranked row" if self.top == 1 else f"{count(self.top)} highest-ranked rows"
        if self.per is None:
            return f"the {rows}"
        if len(self.levels) == 1:
            return f"the {rows} of 1 {self.units.removesuffix('s')}"
        return f"the {rows} of each of {count(len(self.levels))} {self.units}"

    @property
    def fewer(self) -> str:
        """A sentence on the groups that have fewer rows; empty if there are none."""
        below, groups = int(np.count_nonzero(self.cuts.taken < self.top)), len(self.levels)
        if not below:
            return ""
        if self.per is None:
            return f"All usable rows are flagged, since there are fewer than {count(self.top)}."
        has = "has" if below == 1 else "have"
        return f"{count(below)} of {count(groups)} {self.units} {has} fewer than {count(self.top)} rows."

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
            f"{rows_of(rows)} {ranks} as the last flagged row does{where}, and {are} not flagged: of rows "
            "of equal scores the first ones in the input are taken. Use scores of more digits, or another "
            "--top.",
        )


def find_capacity(data: DataRequest, rule: BoundaryArtifact, top: int, per: str | None) -> Capacity:
    """Find the cuts of the groups in a first pass over the rows, of which no label is read."""
    usable = OnInvalid.ERROR if data.on_invalid is OnInvalid.ERROR else OnInvalid.DROP
    keys = () if per is None else (per,)
    request = replace(data, roles=replace(data.roles, keys=keys, per=per), on_invalid=usable)
    first, batches = FirstRows(top), open_engine(data.engine).batches(request)
    try:
        with key_named_by(per, Opt("per")):
            for rows in batches:
                place, score = rule.place_of(rows)
                group: Ints = np.zeros(len(rows), dtype=np.int64) if per is None else rows.groups[per]
                first.add(group, place, score, rows.position, rows.weights())
    except NoRowsError:  # the second pass says so, or writes a header
        levels: Mapping[str, int] = {"": 0} if per is None else {}
    else:
        levels = {"": 0} if per is None else batches.levels[per]
    order = np.array([*levels.values(), -1], dtype=np.int64)
    cuts = first.cuts(len(levels))
    return Capacity(rule=rule, top=top, per=per, levels=levels, names=tuple(levels), order=order, cuts=cuts)

"""A capacity: the first rows of each group are flagged, up to a number, in a second pass over the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from uqcli.base.choices import OnInvalid
from uqcli.base.counts import Ints
from uqcli.base.errors import DataError, Opt, words
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.wording import count, rows_of
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.refusals import NoRowsError
from uqcli.engines.request import DataRequest, FeatureRequest


def decide_by_capacity(
    data: DataRequest, rule: BoundaryArtifact, added: AddedColumns, top: int, per: str | None
) -> tuple[DataRequest, AddedColumns, Cuts]:
    """Find the cuts of the groups in a first pass.

    Returns the request for the second pass, where groups are read as a feature of known levels; the columns
    to add there, with the decision by capacity; and the cuts.
    """
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
    except NoRowsError:  # as without a capacity, the header is written
        levels: Mapping[str, int] = {"": 0} if per is None else {}
    else:
        levels = {"": 0} if per is None else batches.levels[per]
    cuts = first.cuts(len(levels))
    if cuts.splits_tie:
        raise DataError(
            words("rows with equal scores are at the cut of --top, and rows on a cluster have no order"),
            expected="scores that differ there",
            remedy=words("use --engine polars"),
        )
    if tied := int(cuts.tied.sum()):
        caution("ties-at-the-cut", _tied(tied, int(np.count_nonzero(cuts.tied)), per))
    (decision,) = added.types
    order = np.array([*levels.values(), -1], dtype=np.int64)  # the last is any other text

    def decided(rows: Rows) -> dict[str, np.ndarray]:
        place, score = rule.place_of(rows)
        group = np.zeros(len(rows), dtype=np.int64)
        if per is not None:
            level = rows.features[per].value.astype(np.int64)
            group = order[level]
        return {decision: cuts.takes(group, place, score, rows.position)}

    if per is not None:
        feature = FeatureRequest(name=per, text=True, levels=tuple(levels), dated=True)
        roles = data.roles
        keyed = replace(roles, keys=(*roles.keys, per), per=per, features=(*roles.features, feature))
        data = replace(data, roles=keyed)
    return data, replace(added, compute=decided), cuts


def _tied(rows: int, groups: int, per: str | None) -> str:
    """Caution of rows that are not flagged only since they come after equal ones."""
    ranks, are = ("ranks", "is") if rows == 1 else ("rank", "are")
    where = "" if per is None else f", in {count(groups)} group{'' if groups == 1 else 's'}"
    return (
        f"{rows_of(rows)} {ranks} as the last flagged row does{where}, and {are} not flagged: of rows of "
        "equal scores the first ones in the input are taken. Use scores of more digits, or another --top."
    )

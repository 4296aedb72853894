"""Groups in which a boundary has rules of its own, among rows to count."""

from __future__ import annotations

import numpy as np

from uqcli.base.choices import GroupBound
from uqcli.base.counts import Ints
from uqcli.base.rows import Rows
from uqcli.boundary.rule import OTHER_GROUPS, BoundaryArtifact
from uqcli.engines.request import PREDICTED, DataRequest


def as_decided(data: DataRequest, rule: BoundaryArtifact) -> DataRequest:
    """Let rows be predictions if the rule decides on predicted classes."""
    return data.as_predictions(data.roles.numbers.get("uncertainty")) if rule.class_names else data


def own_key(rule: BoundaryArtifact) -> str | None:
    """Return the key of the groups in each of which a rule promises its bound; None if there is none."""
    if rule.parameters.bound is not GroupBound.EACH:
        return None
    return PREDICTED if rule.class_names else rule.by


def own_levels(rule: BoundaryArtifact) -> dict[str, int]:
    """Return the index of each group of a rule, and of other rows."""
    return {name: index for index, name in enumerate((*rule.group_rules, OTHER_GROUPS))}


def groups_of(rows: Rows, by: str) -> Ints:
    """Return the group of each row: of a key column, or of the rule's own column."""
    if by in rows.groups:
        return rows.groups[by]
    feature = rows.features[by]
    others = len(feature.levels or ())
    return np.where(feature.value < 0, others, feature.value).astype(np.int64)

"""All usable rows as arrays, put together from batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from uqcli.counts import Feature
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.check.features import whole_feature
from uqcli.engines.protocol import CheckedRows, Groups, LabelledRows
from uqcli.engines.request import FeatureRequest

Value = TypeVar("Value", np.bool_, np.int64)


def all_rows(reader: LocalBatches) -> LabelledRows:
    """Read everything that was asked for; memory grows with the rows."""
    batches = list(reader)
    roles = reader.roles
    return LabelledRows(
        numbers={
            role: np.concatenate([rows.numbers[role] for rows in batches]) for role in roles.all_numbers()
        },
        positive=_join([rows.positive for rows in batches]),
        label_class=_join([rows.label_class for rows in batches]),
        classes=tuple(roles.classes),
        weight=_join([rows.weight for rows in batches]),
        groups={column: _groups(batches, column, reader.levels[column]) for column in roles.keys},
        features={
            each.name: _known_feature(batches, each)
            if each.known
            else whole_feature([rows.raw[each.name] for rows in batches], text=each.text)
            for each in roles.features
        },
        unnormalised=reader.unnormalised,
        facts=reader.facts,
    )


def _join(
    parts: Sequence[np.ndarray[Any, np.dtype[Value]] | None],
) -> np.ndarray[Any, np.dtype[Value]] | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if given else None


def _known_feature(batches: Sequence[CheckedRows], request: FeatureRequest) -> Feature:
    value = np.concatenate([rows.features[request.name] for rows in batches])
    return Feature(levels=request.levels, value=value)


def _groups(batches: Sequence[CheckedRows], column: str, levels: Mapping[str, int]) -> Groups:
    """Rows by group, the groups sorted by name, without those that only dropped rows had."""
    number = np.concatenate([rows.keys[column] for rows in batches])
    used = np.bincount(number, minlength=len(levels)) > 0
    names = sorted(name for name, level in levels.items() if used[level])
    rank = np.zeros(len(levels), dtype=np.int64)
    rank[[levels[name] for name in names]] = np.arange(len(names))
    return Groups(names=tuple(names), number=rank[number])

"""Collect all usable rows as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.counts import Feature, Ints
from uqcli.base.rows import Rows
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.check.checked import CheckedRows
from uqcli.engines.local.check.features import whole_feature
from uqcli.engines.protocol import ReadRows
from uqcli.engines.request import FeatureRequest


def all_rows(reader: LocalBatches) -> ReadRows:
    """Read all requested columns of all rows; memory grows with the number of rows."""
    batches = [checked for checked, _ in reader.each(lambda checked: checked)]
    rows, roles = Rows.joined([batch.rows for batch in batches]), reader.roles
    groups = {name: _groups(codes, reader.levels[name]) for name, codes in rows.groups.items()}
    return ReadRows(
        rows=replace(
            rows,
            groups={name: codes for name, (_, codes) in groups.items()},
            features={feature.name: _feature(feature, rows, batches) for feature in roles.features},
        ),
        classes=tuple(roles.classes),
        group_names={name: names for name, (names, _) in groups.items()},
        unnormalised=reader.unnormalised,
        summary=reader.summary,
    )


def _feature(request: FeatureRequest, rows: Rows, batches: Sequence[CheckedRows]) -> Feature:
    if request.known:
        return rows.features[request.name]
    return whole_feature(request.name, [batch.raw[request.name] for batch in batches], text=request.text)


def _groups(codes: Ints, levels: Mapping[str, int]) -> tuple[tuple[str, ...], Ints]:
    """Sort group names, drop those without usable rows, and renumber each row's group."""
    used = np.bincount(codes, minlength=len(levels)) > 0
    names = sorted(name for name, level in levels.items() if used[level])
    rank = np.zeros(len(levels), dtype=np.int64)
    rank[[levels[name] for name in names]] = np.arange(len(names))
    return tuple(names), rank[codes]

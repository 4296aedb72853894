"""Isotonic blocks of more rows than can be sorted at once, slice by slice of the scores.

Rows in one block of a slice's fit are in one block of the full fit. Refitting the blocks of the slices
therefore gives the exact blocks of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.counts import ValueCounts, run_starts
from uqcli.base.defaults import SORTED_ROWS
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.cores import threads
from uqcli.engines.local.count.keys import between, least_keys, ranges_from
from uqcli.engines.local.count.part import Part
from uqcli.engines.local.count.pooling import (
    KeyCounts,
    KeyRows,
    in_order,
    in_ranges,
    keys_by_part,
    merged,
    pooled,
)
from uqcli.engines.local.count.rows import CountedRows
from uqcli.engines.protocol import Partition
from uqcli.kernels.pava import isotonic_sums

_SORTED_ROWS_READ_AGAIN = 3 * SORTED_ROWS
"""Rows of a slice if each reads some of the rows again."""


def isotonic_by(rows: CountedRows, role: str, by: Partition) -> tuple[ValueCounts, ...]:
    """Return the isotonic blocks of a column in each group, then of all rows; each at its first value."""
    width, groups = rows.column(role).width, rows.parts(by)
    blocks: list[list[KeyCounts]] = [[] for _ in range(groups + (groups > 1))]
    slices = _slices(rows, role)
    for ends in slices:

        def slice_rows(part: Part, ends: tuple[int, int] = ends) -> list[KeyRows]:
            if len(slices) > 1:
                part = part.select(np.flatnonzero(between(part.keys[role], *ends)))
            return keys_by_part(part, role)

        collected = list(rows.each(slice_rows, (role,), by))
        rows_by_group = [[by_group[group_index] for by_group in collected] for group_index in range(groups)]
        if groups > 1:  # all rows first, since this takes longest
            rows_by_group.insert(0, [key_rows for group in rows_by_group for key_rows in group])
        few = len(rows_by_group) < threads()  # many groups are shared by threads whole
        divided = [
            (k, part)
            for k, group in enumerate(rows_by_group)
            for part in (in_ranges(group) if few else [group])
        ]
        fits = parallel_map(lambda item: _blocks(item[1], width), divided)
        for (group_index, _), fitted in zip(divided, fits, strict=True):
            blocks[group_index].append(fitted)
    total, *parts = [_fitted(merged(block)).as_values() for block in blocks]
    return (*parts, total) if groups > 1 else (total, total)


def _slices(rows: CountedRows, role: str) -> list[tuple[int, int]]:
    """Return the first and the last key of slices of about equal size."""
    column = rows.column(role)
    parts = -(-rows.size // (_SORTED_ROWS_READ_AGAIN if rows.beyond else SORTED_ROWS))
    inner = np.quantile(column.sample, np.arange(1, parts) / parts, method="nearest")
    return ranges_from(np.unique(least_keys(inner, column.width)).tolist(), column.width)


def _blocks(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> KeyCounts:
    """Return the blocks of some rows; all but an initial block without positives begin at a positive row."""
    if any(part.weight is not None for part in parts):
        return _fitted(pooled(parts, width))
    ordered, positive = in_order(parts, width)
    first = run_starts(positive)
    key = positive[first]
    below = np.searchsorted(ordered, key)
    if len(ordered) and (len(below) == 0 or below[0] > 0):
        key, below, first = (np.append(*pair) for pair in ((ordered[0], key), (0, below), (0, first)))
    return _fitted(
        KeyCounts(
            key=key, count=np.diff(below, append=len(ordered)), positives=np.diff(first, append=len(positive))
        )
    )


def _fitted(counts: KeyCounts) -> KeyCounts:
    """Return the isotonic blocks of counts, without sums of amounts."""
    if len(counts.key) == 0:
        return replace(counts, sums=None)
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    return KeyCounts(key=counts.key[first], count=count, positives=positives)

"""Exact tie-pooled counts by sorting keys of all and of positive rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from mmap import mmap

import numpy as np
from numpy.typing import DTypeLike

from uqcli.base.counts import (
    Bools,
    Ints,
    NarrowInts,
    Sums,
    ValueCounts,
    added_sums,
    joined_sums,
    row_starts,
    run_starts,
    selected_sums,
)
from uqcli.base.defaults import KEPT_BYTES, ROWS_PER_STEP
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.memory import kept_bytes, rows_at_once
from uqcli.engines.local.count.part import Part
from uqcli.engines.local.count.rows import CountableRows
from uqcli.engines.protocol import Partition
from uqcli.kernels.keys import values_of, widened
from uqcli.kernels.pooling import Keys, by_group, merge, pool, ranges_of

ROWS_PER_RANGE, _MOST_RANGES, _SAMPLED_KEYS = 1 << 19, 256, 1 << 14
"""Rows that a thread sorts at once, the most ranges of keys, and the keys that cut the ranges."""

_RANGE_BITS = 16
"""Bits of a key that tell its range."""

WAITING_ROWS, _MOST_TIMES = 1 << 25, 8
"""Rows collected before they are counted, and how many times as many if there is more memory."""

_FEW_ROWS = 1000
"""Rows of a group, on average, below which sorting all groups at once costs less than each by itself."""

_BYTES_WAITING = 96
"""Memory of a row that waits: its key where it was read, by range and sorted, and its counts."""

_KEPT_RANGES = 64
"""Ranges of keys whose counts are kept separately if there are more rows."""

_MAX_INT32_ROWS = 2**31 - 1

_MIN_INT32_VALUES = 1 << 20
"""Number of distinct values from which counts are 32-bit if they fit."""


@dataclass(frozen=True, kw_only=True)
class KeyRows:
    """Keys of a set of rows, by label.

    Attributes
    ----------
    negative, positive
        Keys of the negative and of the positive rows.
    weight
        Weights of the negative and of the positive rows, if there are any.
    amounts
        Each amount likewise.
    """

    negative: Keys
    positive: Keys
    weight: tuple[tuple[Ints, ...], ...] = ()
    amounts: tuple[tuple[Ints, ...], ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.negative) + len(self.positive)

    @property
    def width(self) -> np.dtype[np.signedinteger]:
        """Type of the keys."""
        return self.negative.dtype

    def wide(self) -> KeyRows:
        """Convert to 64-bit keys."""
        return replace(self, negative=widened(self.negative), positive=widened(self.positive))

    def divided(self, low: int, shift: int, ranges: NarrowInts) -> list[KeyRows]:
        """Divide the rows between ranges of keys; see ``ranges_of``."""
        sides = [ranges_of(keys, low, shift, ranges) for keys in (self.negative, self.positive)]
        stops = [[0, *np.cumsum(size).tolist()] for _, size in sides]

        def by_range(columns: tuple[Ints, ...]) -> list[tuple[Ints, ...]]:
            negative, positive = (
                [grouped[first:stop] for first, stop in pairwise(stop)]
                for grouped, stop in zip(
                    (by_group(column, *side) for column, side in zip(columns, sides, strict=True)),
                    stops,
                    strict=True,
                )
            )
            return list(zip(negative, positive, strict=True))

        keys = by_range((self.negative, self.positive))
        weights, amounts = (
            list(zip(*map(by_range, columns), strict=True)) or [()] * len(keys)
            for columns in (self.weight, self.amounts)
        )
        return [
            KeyRows(negative=negative, positive=positive, weight=weight, amounts=amount)
            for (negative, positive), weight, amount in zip(keys, weights, amounts, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class KeyCounts:
    """Counts of distinct keys, ascending; each of shape (m,), except sums (see ``ValueCounts``)."""

    key: Keys
    count: Ints
    positives: Ints
    sums: Sums = ()

    def select(self, keys: Bools | slice) -> KeyCounts:
        """Select keys."""
        return KeyCounts(
            key=self.key[keys],
            count=self.count[keys],
            positives=self.positives[keys],
            sums=selected_sums(self.sums, keys),
        )

    def cut(self, edges: Keys) -> list[KeyCounts]:
        """Return the counts below, between and from some ascending keys on."""
        bounds = pairwise([0, *np.searchsorted(self.key, edges).tolist(), len(self.key)])
        return [self.select(slice(*ends)) for ends in bounds]

    def as_values(self) -> ValueCounts:
        """Convert keys to values."""
        return ValueCounts(
            value=values_of(self.key), count=self.count, positives=self.positives, sums=self.sums
        )


def keys_by_part(part: Part, role: str) -> list[KeyRows]:
    """Return the keys of the rows of each group of a partition."""
    keys = part.keys[role]
    return [
        KeyRows(
            negative=keys[negative],
            positive=keys[positive],
            weight=tuple((weight[negative], weight[positive]) for weight in part.weight),
            amounts=tuple((amount[negative], amount[positive]) for amount in part.amounts.values()),
        )
        for negative, positive in part.sides()
    ]


def pooled_by(rows: CountableRows, role: str, by: Partition) -> tuple[ValueCounts, ...]:
    """Compute the exact tie-pooled counts of a column in each group."""
    if by.divides and rows.size < min(rows_at_once(WAITING_ROWS, _BYTES_WAITING), _FEW_ROWS * rows.parts(by)):
        return _pooled_together(list(rows.each(lambda part: part, (role,), by)), role)
    if by.divides:
        pools = [_Pool() for _ in range(rows.parts(by))]
        parts = rows.each(lambda part: keys_by_part(part, role), (role,), by)
    else:
        pools = [_Pool()]
        parts = (keys_by_part(part, role) for part in rows.undivided((role,)))
    waiting = 0
    # asked once: it reads a dozen files, and Python's lock is waited for after each
    most = rows_at_once(WAITING_ROWS, _BYTES_WAITING) * max(1, min(_MOST_TIMES, kept_bytes() // KEPT_BYTES))
    for divided in parts:
        for group, keys in zip(pools, divided, strict=True):
            group.waiting.append(keys)
            waiting += keys.rows
        if waiting > most:
            for group in pools:
                group.settle()
            waiting = 0
    return tuple(group.as_values() for group in pools)


def _pooled_together(parts: Sequence[Part], role: str) -> tuple[ValueCounts, ...]:
    """Compute the counts of a column in each of many small groups, by one sort of all rows."""
    groups = parts[0].groups
    keys, side, weight = [], [], list[Ints]()
    width = max(part.keys[role].dtype for part in parts)
    for part in parts:
        keys.append(part.keys[role] if part.keys[role].dtype == width else widened(part.keys[role]))
        side.append(np.repeat(np.arange(2 * groups, dtype=np.int32), np.diff(part.cuts)))
        weight.append(*(part.weight or (np.ones(part.rows, dtype=np.int64),)))
    is_positive, group = np.divmod(np.concatenate(side), np.int32(groups))
    key = np.concatenate(keys)
    order = np.lexsort((key, group))
    key, group, is_positive = key[order], group[order], is_positive[order]
    starts = row_starts((key, group), len(key))
    amounts = [np.concatenate([part.amounts[name] for part in parts])[order] for name in parts[0].amounts]
    count, *sums = (
        np.stack([np.add.reduceat(of_rows, starts) for of_rows in (amount, amount * is_positive)])
        for amount in (np.concatenate(weight)[order], *amounts)
    )
    ends = np.searchsorted(group[starts], np.arange(groups + 1)).tolist()
    values = values_of(key[starts])
    return tuple(
        ValueCounts(
            value=values[first:stop],
            count=count[0, first:stop],
            positives=count[1, first:stop],
            sums=tuple(amount[:, first:stop] for amount in sums),
        )
        for first, stop in pairwise(ends)
    )


class _Pool:
    """Counts of the rows so far, and rows that wait to be counted.

    More rows than fit into memory are counted batch by batch. The counts are kept in ranges of keys, so that
    merging and converting them needs little more memory than they do.
    """

    def __init__(self) -> None:
        self.waiting: list[KeyRows] = []
        self._rows = 0
        self._is_large = False  # for 32-bit counts
        self._edges: tuple[Keys, ...] = ()  # one, once some rows are counted
        self._counts: list[KeyCounts] = []

    def settle(self) -> None:
        """Add the waiting rows to the counts."""
        self._rows += sum(part.rows for part in self.waiting)
        self._is_large |= self._rows > _MAX_INT32_ROWS or _are_weighted(self.waiting)
        batch = self._pooled()
        if not self._edges:
            sizes = [len(counts.key) for counts in batch]
            step = max(1, sum(sizes) // _KEPT_RANGES)
            starts = (np.cumsum(sizes) - sizes).tolist()
            edges = np.concatenate(
                [counts.key[-start % step :: step] for counts, start in zip(batch, starts, strict=True)]
            )
            self._edges, self._counts = (edges,), _by_range(batch, edges)
            return

        def merge(pair: tuple[KeyCounts, KeyCounts]) -> KeyCounts:
            return _sum_of(*pair, np.int64 if self._is_large else np.int32)

        added = _by_range(batch, *self._edges)
        self._counts = list(parallel_map(merge, zip(self._drained(), added, strict=True)))

    def as_values(self) -> ValueCounts:
        """Convert the counts of all rows."""
        if self._edges:
            self.settle()
        else:
            self._counts = self._pooled()
        sizes = [len(counts.key) for counts in self._counts]
        widest = max(counts.count.dtype for counts in self._counts)
        count_type = widest if sum(sizes) > _MIN_INT32_VALUES else np.dtype(np.int64)
        sums = joined_sums([counts.sums for counts in self._counts])
        value = np.empty(sum(sizes))
        count, positives = (np.empty(sum(sizes), count_type) for _ in range(2))

        def fill(item: tuple[int, KeyCounts]) -> None:
            start, counts = item
            inside = slice(start, start + len(counts.key))
            value[inside], count[inside] = values_of(counts.key), counts.count
            positives[inside] = counts.positives

        starts = (np.cumsum(sizes) - sizes).tolist()
        each = map if len(sizes) == 1 else parallel_map  # no thread for each of many groups
        for _ in each(fill, zip(starts, self._drained(), strict=True)):
            pass
        return ValueCounts(value=value, count=count, positives=positives, sums=sums)

    def _pooled(self) -> list[KeyCounts]:
        """Pool the waiting rows, with keys as wide as the widest, in ascending slices."""
        waiting, self.waiting = self.waiting, []
        kinds = [*(part.width for part in waiting), *(keys.dtype for keys in self._edges)]
        width = max([np.dtype(np.int32), *kinds])
        if any(keys.dtype != width for keys in self._edges):
            self._edges = tuple(map(widened, self._edges))
            self._counts = [replace(counts, key=widened(counts.key)) for counts in self._counts]
        return _slices([part if part.width == width else part.wide() for part in waiting], width)

    def _drained(self) -> Iterator[KeyCounts]:
        """Yield the counts and free their memory."""
        counts, self._counts = self._counts[::-1], []
        while counts:
            yield counts.pop()


def _by_range(slices: Sequence[KeyCounts], edges: Keys) -> list[KeyCounts]:
    """Cut counts of ascending slices at some keys."""
    return list(parallel_map(_joined, zip(*(counts.cut(edges) for counts in slices), strict=True)))


def pooled(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> KeyCounts:
    """Pool rows with equal keys; all keys have the same width."""
    return _joined(_slices(parts, width))


def _slices(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> list[KeyCounts]:
    """Pool rows with equal keys, in ranges of keys in parallel; return the ranges, ascending."""
    return list(parallel_map(lambda rows: _pooled(rows, width), in_ranges(parts)))


def in_ranges(parts: Sequence[KeyRows]) -> list[Sequence[KeyRows]]:
    """Divide rows between ascending ranges of keys, so that threads can sort them; few rows are one range."""
    rows = sum(part.rows for part in parts)
    most = min(_MOST_RANGES, rows // ROWS_PER_RANGE)
    if most < 2:
        return [parts]
    columns = [keys for part in parts for keys in (part.negative, part.positive) if len(keys)]
    low, high = min(int(keys.min()) for keys in columns), max(int(keys.max()) for keys in columns)
    shift = max(0, (high - low).bit_length() - _RANGE_BITS)
    sample = np.sort(np.concatenate([keys[:: max(1, rows // _SAMPLED_KEYS)] for keys in columns]))
    edges = [(int(key) - low) >> shift for key in sample[np.arange(1, most) * len(sample) // most]]
    ranges = np.searchsorted(sorted({*edges}), np.arange(((high - low) >> shift) + 1), side="right")
    ranges = ranges.astype(np.int16)
    divided = parallel_map(lambda several: _together(several).divided(low, shift, ranges), _large(parts))
    return list(zip(*divided, strict=True))


def _large(parts: Sequence[KeyRows]) -> list[Sequence[KeyRows]]:
    """Divide parts into sequences that a thread divides at once: small parts would become tiny ones."""
    if _are_weighted(parts):
        return [[part] for part in parts]
    before = np.cumsum([0, *(part.rows for part in parts)])[:-1] // ROWS_PER_RANGE
    starts = [*run_starts(before).tolist(), len(parts)]
    return [parts[first:stop] for first, stop in pairwise(starts)]


def _together(parts: Sequence[KeyRows]) -> KeyRows:
    """Return the rows of several parts without weights, or of a single part."""
    if len(parts) == 1:
        return parts[0]
    return KeyRows(
        negative=np.concatenate([part.negative for part in parts]),
        positive=np.concatenate([part.positive for part in parts]),
    )


def _joined(slices: Sequence[KeyCounts]) -> KeyCounts:
    """Concatenate counts of ascending ranges of keys."""
    filled = [part for part in slices if len(part.key)] or slices[:1]
    if len(filled) == 1:
        return filled[0]
    return KeyCounts(
        key=np.concatenate([part.key for part in filled]),
        count=np.concatenate([part.count for part in filled]),
        positives=np.concatenate([part.positives for part in filled]),
        sums=joined_sums([part.sums for part in filled]),
    )


def _pooled(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> KeyCounts:
    """Pool the rows."""
    if _are_weighted(parts):
        return _weighted(parts)
    ordered, positive = in_order(parts, width)
    count_type: type[np.signedinteger] = np.int32 if len(ordered) <= _MAX_INT32_ROWS else np.int64
    count, positives = (np.empty(len(ordered), count_type) for _ in range(2))
    size = pool.run(len(ordered) // ROWS_PER_STEP, ordered, positive, ordered, count, positives)
    return KeyCounts(key=ordered[:size], count=count[:size], positives=positives[:size])


def _are_weighted(parts: Sequence[KeyRows]) -> bool:
    return any(part.weight or part.amounts for part in parts)


def in_order(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> tuple[Keys, Keys]:
    """Return the sorted keys of all rows, and of the positive rows."""
    positive = np.concatenate([np.empty(0, dtype=width), *(part.positive for part in parts)])
    ordered = np.concatenate([positive, *(part.negative for part in parts)])
    ordered.sort()
    positive.sort()
    return ordered, positive


def merged(parts: Sequence[KeyCounts]) -> KeyCounts:
    """Merge counts of unsorted, possibly repeated keys."""
    counts = _joined(parts)
    if len(counts.key) == 0:
        return counts
    order = np.argsort(counts.key, kind="stable")
    ordered = counts.key[order]
    starts = run_starts(ordered)
    count, positives = (
        np.add.reduceat(amount[order], starts, dtype=np.int64) for amount in (counts.count, counts.positives)
    )
    sums = added_sums(counts.sums, order, starts)
    return KeyCounts(key=ordered[starts], count=count, positives=positives, sums=sums)


def _sum_of(counts: KeyCounts, other: KeyCounts, count_type: type[np.signedinteger]) -> KeyCounts:
    """Merge counts of two sets of distinct ascending keys, in memory that returns to the system."""
    if counts.sums or other.sums:
        return merged([counts, other])
    size = len(counts.key) + len(other.key)
    key, count, positives = (_mapped(size, kind) for kind in (counts.key.dtype, count_type, count_type))
    size = merge.run(
        size // ROWS_PER_STEP,
        counts.key,
        counts.count,
        counts.positives,
        other.key,
        other.count,
        other.positives,
        key,
        count,
        positives,
    )
    return KeyCounts(key=key[:size], count=count[:size], positives=positives[:size])


def _mapped(size: int, kind: DTypeLike) -> Ints:
    """Allocate an array apart from the memory that the process keeps; only what is written takes memory."""
    return np.frombuffer(mmap(-1, max(1, size) * np.dtype(kind).itemsize), dtype=kind)[:size]


def _weighted(parts: Sequence[KeyRows]) -> KeyCounts:
    """Pool rows with weights or amounts."""
    rows = []
    for part in parts:
        sides = part.negative, part.positive
        (weights,) = part.weight or (tuple(np.ones(len(keys), dtype=np.int64) for keys in sides),)
        for is_positive, (keys, weight) in enumerate(zip(sides, weights, strict=True)):
            amounts = [by_label[is_positive] for by_label in part.amounts]
            rows.append(
                KeyCounts(
                    key=keys,
                    count=weight,
                    positives=weight if is_positive else np.zeros_like(weight),
                    sums=tuple(np.stack([amount, amount * is_positive]) for amount in amounts),
                )
            )
    return merged(rows)

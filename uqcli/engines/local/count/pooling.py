"""Exact tie-pooled counts by sorting keys of all and of positive rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from mmap import mmap

import numpy as np

from uqcli.counts import Bools, Ints, ValueCounts, joined_sums, run_starts
from uqcli.engines.local.count.keys import Keys, between, values_of, widened
from uqcli.engines.local.count.part import Part
from uqcli.engines.local.count.rows import CountedRows
from uqcli.engines.protocol import Partition
from uqcli.running.concurrency import parallel_map

_KEYS_PER_STEP = 1 << 17
"""Keys per step, to stay in the cache."""

_MAX_SLICES, MIN_ROWS_PER_SLICE, _SAMPLED_KEYS = 4, 1 << 19, 1 << 12
"""Ranges of keys sorted in parallel, the rows that each needs, and the keys that cut them."""

WAITING_ROWS = 1 << 25
"""Rows collected before they are counted."""

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
        Weights of the negative and of the positive rows, or None for 1 each.
    amounts
        Amounts likewise, each of shape (amounts, rows); None without amounts.
    """

    negative: Keys
    positive: Keys
    weight: tuple[Ints, Ints] | None = None
    amounts: tuple[Ints, Ints] | None = None

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

    def between(self, low: int | None, high: int | None) -> KeyRows:
        """Select the rows with keys from ``low`` to below ``high``; None is no limit."""
        negative, positive = (between(keys, low, high) for keys in (self.negative, self.positive))

        def select(sides: tuple[Ints, Ints] | None) -> tuple[Ints, Ints] | None:
            return None if sides is None else (sides[0][..., negative], sides[1][..., positive])

        return KeyRows(
            negative=self.negative[negative],
            positive=self.positive[positive],
            weight=select(self.weight),
            amounts=select(self.amounts),
        )


@dataclass(frozen=True, kw_only=True)
class KeyCounts:
    """Counts of distinct keys, ascending; each of shape (m,), except sums (see ``ValueCounts``)."""

    key: Keys
    count: Ints
    positives: Ints
    sums: Ints | None = None

    def select(self, keys: Bools | slice) -> KeyCounts:
        """Select keys."""
        return KeyCounts(
            key=self.key[keys],
            count=self.count[keys],
            positives=self.positives[keys],
            sums=None if self.sums is None else self.sums[..., keys],
        )

    def cut(self, edges: Keys) -> list[KeyCounts]:
        """Return the counts below, between and from some ascending keys on."""
        bounds = pairwise([0, *np.searchsorted(self.key, edges).tolist(), len(self.key)])
        return [self.select(slice(*ends)) for ends in bounds]

    def apart(self) -> KeyCounts:
        """Copy to memory that returns to the system as soon as it is free."""
        key, count, positives = (_apart(column) for column in (self.key, self.count, self.positives))
        return KeyCounts(key=key, count=count, positives=positives, sums=self.sums)

    def as_values(self) -> ValueCounts:
        """Convert keys to values."""
        return ValueCounts(
            value=values_of(self.key), count=self.count, positives=self.positives, sums=self.sums
        )


def _apart(values: Ints) -> Ints:
    if values.nbytes == 0:
        return values
    copy: Ints = np.frombuffer(mmap(-1, values.nbytes), dtype=values.dtype)
    copy[:] = values
    return copy


def keys_by_part(part: Part, role: str) -> list[KeyRows]:
    """Return the keys of the rows of each group of a partition."""
    keys, weight = part.keys[role], part.weight
    amounts = np.stack(list(part.amounts.values())) if part.amounts else None
    return [
        KeyRows(
            negative=keys[negative],
            positive=keys[positive],
            weight=None if weight is None else (weight[negative], weight[positive]),
            amounts=None if amounts is None else (amounts[:, negative], amounts[:, positive]),
        )
        for negative, positive in part.sides()
    ]


def pooled_by(rows: CountedRows, role: str, by: Partition) -> tuple[ValueCounts, ...]:
    """Compute the exact tie-pooled counts of a column in each group."""
    if by.divides:
        pools = [_Pool() for _ in range(rows.parts(by))]
        parts = rows.each(lambda part: keys_by_part(part, role), (role,), by)
    else:
        pools = [_Pool()]
        parts = (keys_by_part(part, role) for part in rows.undivided((role,)))
    waiting = 0
    for by_group in parts:
        for pool, keys in zip(pools, by_group, strict=True):
            pool.waiting.append(keys)
            waiting += keys.rows
        if waiting > WAITING_ROWS:
            for pool in pools:
                pool.settle()
            waiting = 0
    return tuple(pool.as_values() for pool in pools)


class _Pool:
    """Counts of the rows so far, and rows that wait to be counted.

    More rows than fit into memory are counted batch by batch. The counts are kept in ranges of keys, so that
    merging and converting them needs little more memory than they do.
    """

    def __init__(self) -> None:
        self.waiting: list[KeyRows] = []
        self._rows = 0
        self._is_large = False  # for 32-bit counts
        self._edges: Keys | None = None
        self._counts: list[KeyCounts] = []

    def settle(self) -> None:
        """Add the waiting rows to the counts."""
        self._rows += sum(part.rows for part in self.waiting)
        self._is_large |= self._rows > _MAX_INT32_ROWS or _are_weighted(self.waiting)
        count_type = np.int64 if self._is_large else np.int32
        batch = self._pooled()
        if self._edges is None:
            cuts = np.arange(1, _KEPT_RANGES) * len(batch.key) // _KEPT_RANGES
            self._edges = np.unique(batch.key[cuts]) if len(batch.key) else batch.key
            self._counts = batch.cut(self._edges)
            return

        def merge(pair: tuple[KeyCounts, KeyCounts]) -> KeyCounts:
            return merged(pair, count_type).apart()

        self._counts = list(parallel_map(merge, zip(self._drained(), batch.cut(self._edges), strict=True)))

    def as_values(self) -> ValueCounts:
        """Convert the counts of all rows."""
        if self._edges is None:
            return self._pooled().as_values()
        self.settle()
        size = sum(len(counts.key) for counts in self._counts)
        sums = joined_sums([counts.sums for counts in self._counts])
        value = np.empty(size)
        count, positives = (np.empty(size, self._counts[0].count.dtype) for _ in range(2))
        filled = 0
        for counts in self._drained():
            inside = slice(filled, filled + len(counts.key))
            value[inside], count[inside] = values_of(counts.key), counts.count
            positives[inside] = counts.positives
            filled = inside.stop
        return ValueCounts(value=value, count=count, positives=positives, sums=sums)

    def _pooled(self) -> KeyCounts:
        """Pool the waiting rows, with keys as wide as the widest."""
        waiting, self.waiting = self.waiting, []
        edges = [] if self._edges is None else [self._edges]
        width = max([np.dtype(np.int32), *(part.width for part in waiting), *(keys.dtype for keys in edges)])
        if self._edges is not None and self._edges.dtype != width:
            self._edges = widened(self._edges)
            self._counts = [replace(counts, key=widened(counts.key)) for counts in self._counts]
        return pooled([part if part.width == width else part.wide() for part in waiting], width)

    def _drained(self) -> Iterator[KeyCounts]:
        """Yield the counts and free their memory."""
        counts, self._counts = self._counts[::-1], []
        while counts:
            yield counts.pop()


def pooled(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> KeyCounts:
    """Pool rows with equal keys, a few ranges in parallel; all keys have the same width."""
    rows = sum(part.rows for part in parts)
    slices = min(_MAX_SLICES, rows // MIN_ROWS_PER_SLICE)
    if slices < 2:
        return _pooled(parts, width)
    step = max(1, rows // _SAMPLED_KEYS)
    sample = np.concatenate([keys[::step] for part in parts for keys in (part.negative, part.positive)])
    sample.sort()
    edges = np.unique(sample[np.arange(1, slices) * len(sample) // slices]).tolist()
    bounds = pairwise([None, *edges, None])

    def within(ends: tuple[int | None, int | None]) -> KeyCounts:
        return _pooled([part.between(*ends) for part in parts], width)

    return _joined(list(parallel_map(within, bounds)))


def _joined(slices: Sequence[KeyCounts]) -> KeyCounts:
    """Concatenate counts of ascending ranges of keys."""
    if len(slices) == 1:
        return slices[0]
    return KeyCounts(
        key=np.concatenate([part.key for part in slices]),
        count=np.concatenate([part.count for part in slices]),
        positives=np.concatenate([part.positives for part in slices]),
        sums=joined_sums([part.sums for part in slices]),
    )


def _pooled(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> KeyCounts:
    if _are_weighted(parts):
        return _weighted(parts)
    ordered, positive = in_order(parts, width)
    size = len(ordered) - sum(int(np.count_nonzero(~new)) for _, new in _new_keys(ordered))
    count_type = np.int32 if size > _MIN_INT32_VALUES and len(ordered) < 2**31 else np.int64
    if size == len(ordered):  # no ties: pooling would only copy large arrays
        positives_by_key = _counted_at(ordered, positive, count_type)
        return KeyCounts(key=ordered, count=np.ones(size, dtype=count_type), positives=positives_by_key)
    key = np.empty(size, dtype=ordered.dtype)
    count: Ints = np.empty(size, dtype=count_type)
    filled = 0
    for start, new in _new_keys(ordered):
        indices = np.flatnonzero(new)
        filled_slice = slice(filled, filled + len(indices))
        key[filled_slice] = ordered[start + indices]
        count[filled_slice] = start + indices  # holds the run starts until all are known
        filled = filled_slice.stop
    for start in range(0, size, _KEYS_PER_STEP):
        stop = min(size, start + _KEYS_PER_STEP)
        run_ends = np.append(count[start + 1 : stop], count[stop] if stop < size else len(ordered))
        count[start:stop] = run_ends - count[start:stop]
    return KeyCounts(key=key, count=count, positives=_counted_at(key, positive, count_type))


def _are_weighted(parts: Sequence[KeyRows]) -> bool:
    return any(part.weight is not None or part.amounts is not None for part in parts)


def in_order(parts: Sequence[KeyRows], width: np.dtype[np.signedinteger]) -> tuple[Keys, Keys]:
    """Return the sorted keys of all rows, and of the positive rows."""
    none = np.empty(0, dtype=width)
    positive = np.concatenate([none, *(part.positive for part in parts)])
    ordered = np.concatenate([none, *(part.negative for part in parts), positive])
    ordered.sort()
    positive.sort()
    return ordered, positive


def merged(parts: Sequence[KeyCounts], count_type: type[np.signedinteger] = np.int64) -> KeyCounts:
    """Merge counts of unsorted, possibly repeated keys."""
    counts = _joined(parts)
    if len(counts.key) == 0:
        return counts
    order = np.argsort(counts.key, kind="stable")
    ordered = counts.key[order]
    starts = run_starts(ordered)
    count, positives = (
        np.add.reduceat(amount[order], starts, dtype=count_type)
        for amount in (counts.count, counts.positives)
    )
    sums = None if counts.sums is None else np.add.reduceat(counts.sums[..., order], starts, axis=-1)
    return KeyCounts(key=ordered[starts], count=count, positives=positives, sums=sums)


def _new_keys(ordered: Keys) -> Iterator[tuple[int, Bools]]:
    """Mark, step by step, where a sorted array changes its key."""
    for start in range(0, len(ordered), _KEYS_PER_STEP):
        part = ordered[start : start + _KEYS_PER_STEP]
        new = np.ones(len(part), dtype=np.bool_)
        np.not_equal(part[1:], part[:-1], out=new[1:])
        new[0] = start == 0 or part[0] != ordered[start - 1]
        yield start, new


def _counted_at(key: Keys, sorted_keys: Keys, count_type: type[np.signedinteger]) -> Ints:
    """Count occurrences of each distinct key in a sorted array of the same keys."""
    count = np.zeros(len(key), dtype=count_type)
    for start in range(0, len(sorted_keys), _KEYS_PER_STEP):
        part = sorted_keys[start : start + _KEYS_PER_STEP]
        low, high = np.searchsorted(key, part[[0, -1]])
        index = np.searchsorted(key[low : high + 1], part)
        count[low : high + 1] += np.bincount(index, minlength=high + 1 - low).astype(count_type)
    return count


def _weighted(parts: Sequence[KeyRows]) -> KeyCounts:
    """Pool rows with weights or amounts."""
    rows = []
    for part in parts:
        sides = part.negative, part.positive
        weights = part.weight or tuple(np.ones(len(keys), dtype=np.int64) for keys in sides)
        amounts = part.amounts or (None, None)
        for is_positive, (keys, weight, amount) in enumerate(zip(sides, weights, amounts, strict=True)):
            rows.append(
                KeyCounts(
                    key=keys,
                    count=weight,
                    positives=weight if is_positive else np.zeros_like(weight),
                    sums=None if amount is None else np.stack([amount, amount * is_positive]),
                )
            )
    return merged(rows)

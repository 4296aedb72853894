"""Rows as narrow columns for repeated passes: cached within a memory limit, re-read beyond it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeVar

import numpy as np

from uqcli.counts import Floats, Ints
from uqcli.defaults import KEPT_BYTES, ROWS_PER_PART
from uqcli.engines import refusals
from uqcli.engines.local.ahead import parallel_map
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.check.checked import CheckedRows
from uqcli.engines.local.count.keys import Keys, keys_of, least_keys, values_of, widened
from uqcli.engines.local.count.part import Division, Part, joined, part_of
from uqcli.engines.protocol import ALL_ROWS, Partition, SourceSummary
from uqcli.engines.request import DataRequest

R = TypeVar("R")

_CHUNK_VALUES = 1 << 24
"""Values per allocated chunk."""

_SAMPLE_SIZE = 512
"""Values sampled per part to estimate a column's distribution."""


@dataclass
class ColumnSummary:
    """Range, key width and sample of a column, from the first pass.

    Attributes
    ----------
    low, high
        Minimum and maximum.
    width
        Key type in all parts.
    """

    low: float = math.inf
    high: float = -math.inf
    width: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.int32))
    _samples: list[Floats] = field(default_factory=list)

    @property
    def sample(self) -> Floats:
        """Sample of the column's values."""
        return np.concatenate(self._samples)

    def keys_of(self, value: Floats) -> Keys:
        """Convert values to keys of the column's width."""
        return keys_of(value.astype(np.float32) if self.width == np.int32 else value)

    def note(self, keys: Keys) -> None:
        """Update the summary with the keys of another part."""
        low, high = values_of(np.array([keys.min(), keys.max()], dtype=keys.dtype)).tolist()
        self.low, self.high = min(self.low, low), max(self.high, high)
        self.width = max(self.width, keys.dtype)
        # a view would keep the part in memory
        self._samples.append(values_of(keys[:: max(1, len(keys) // _SAMPLE_SIZE)].copy()))


class _Store:
    """Chunked memory for cached columns, separate from the memory of temporaries."""

    def __init__(self) -> None:
        self._free: dict[int, np.ndarray[Any, Any]] = {}

    def part(self, part: Part) -> Part:
        """Copy a part into this memory; columns have separate chunks, so that each can be freed."""
        column = count()
        return part.with_columns(lambda values: self._array(next(column), values), part.cuts)

    def _array(self, column: int, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        free = self._free.get(column)
        if free is None or free.dtype != values.dtype or len(free) < len(values):
            free = np.empty(max(_CHUNK_VALUES, len(values)), dtype=values.dtype)
        array, self._free[column] = free[: len(values)], free[len(values) :]
        array[:] = values
        return array


@dataclass
class CachedRows:
    """Rows of a request with positive weight.

    Columns are cached up to a number of bytes; inputs that can be read only once are cached whatever their
    size.
    """

    request: DataRequest
    _parts: list[Part] = field(default_factory=list)
    _columns: dict[str, ColumnSummary] = field(default_factory=dict)
    _batches: LocalBatches | None = None
    _cached: int = 0
    _beyond: int = 0
    _by: Partition = ALL_ROWS
    _dropped_uncertainty: bool = False
    _summary: SourceSummary | None = None
    _used: dict[str | None, set[int]] = field(default_factory=dict)

    @property
    def summary(self) -> SourceSummary:
        """Summary of the rows read."""
        return self._read().summary

    @property
    def size(self) -> int:
        """Number of rows, unweighted."""
        self._read()
        return self._beyond + sum(part.rows for part in self._parts)

    def column(self, role: str) -> ColumnSummary:
        """Return the summary of a column's values."""
        self._read()
        return self._columns[role]

    def groups(self, column: str) -> tuple[str, ...]:
        """Return the sorted group texts of a key column that occur in the rows."""
        levels, used = self._read().levels[column], self._used[column]
        return tuple(sorted(text for text, code in levels.items() if code in used))

    def parts(self, by: Partition) -> int:
        """Return the number of parts of a partition."""
        return self._division(by, keep=True).groups

    def each(self, work: Callable[[Part], R], roles: Sequence[str], by: Partition = ALL_ROWS) -> Iterator[R]:
        """Map a function over all parts, in row order.

        Parameters
        ----------
        roles
            Columns that the function uses; parts may hold others.
        by
            Partition of each part's rows.

        Raises
        ------
        DataError
            The rows are unusable, or changed since they were first read.
        """
        if self._dropped_uncertainty and ("uncertainty" in roles or (len(by.edges) and by != self._by)):
            self._forget()
        self._read()
        if by.divides:
            self._divide(by)
        parts = self._all(by)
        return parallel_map(work, parts) if self._beyond or len(self._parts) > 1 else map(work, parts)

    def _divide(self, by: Partition) -> None:
        """Partition the cached rows; drop the uncertainty to save memory if it can be read again."""
        if by == self._by:
            return
        undivided, self._parts = [part.undivided() for part in reversed(self._parts)], []

        def each() -> Iterator[Part]:
            while undivided:
                yield undivided.pop()

        division = self._division(by, keep=not self._read().repeatable)
        self._parts += parallel_map(division.sort, each())
        self._by = by
        self._dropped_uncertainty = self._dropped_uncertainty or (len(by.edges) > 0 and not division.keep)

    def _division(self, by: Partition, *, keep: bool) -> Division:
        """Resolve a partition to keys and group ranks, groups sorted by text."""
        batches = self._read()
        ranks: dict[str | None, tuple[Ints, int]] = {}
        for column in by.groups:
            names = self.groups(column)
            rank = np.zeros(len(batches.levels[column]), dtype=np.int64)
            rank[[batches.levels[column][name] for name in names]] = np.arange(len(names))
            ranks[column] = rank, len(names)
        if by.classes:
            ranks[None] = np.arange(len(batches.roles.classes)), len(batches.roles.classes)
        edges = by.edges
        keys = least_keys(edges, self._columns["uncertainty"].width) if len(edges) else keys_of(edges)
        return Division(edges=keys, ranks=ranks, keep=keep)

    def _forget(self) -> None:
        """Drop the cache, but keep the summary of the first pass."""
        self._summary = self._read().summary
        self._parts, self._columns, self._batches = [], {}, None
        self._cached = self._beyond = 0
        self._by, self._dropped_uncertainty, self._used = ALL_ROWS, False, {}

    def _all(self, by: Partition) -> Iterator[Part]:
        """Iterate over all parts, in row order."""
        yield from self._parts if by.divides else (part.undivided() for part in self._parts)
        if not self._beyond:
            return
        rows_read = 0
        batches = self._read()
        division = self._division(by, keep=False)
        for part, _ in self._parts_of(batches.remaining(self._cached)):
            rows_read += part.rows
            aligned = self._aligned(part)
            yield division.sort(aligned) if by.divides else aligned
        if rows_read != self._beyond:
            raise refusals.inputs_changed()

    def _read(self) -> LocalBatches:
        """Read and check all rows once, and cache what fits."""
        if self._batches is not None:
            return self._batches
        batches, used = LocalBatches(self.request, narrow=True, max_rows=ROWS_PER_PART), 0
        store = _Store()
        for part, end_position in self._parts_of(batches.with_ends()):
            for role, keys in part.keys.items():
                self._columns.setdefault(role, ColumnSummary()).note(keys)
            for key, codes in part.codes.items():
                self._used.setdefault(key, set()).update(np.flatnonzero(np.bincount(codes)).tolist())
            used += part.bytes
            if not self._beyond and (used <= KEPT_BYTES or not batches.repeatable):
                self._parts.append(store.part(part))
                self._cached = end_position
            else:
                self._beyond += part.rows
        if not self._parts and not self._beyond:
            raise refusals.no_weight()
        if self._summary not in (None, batches.summary):
            raise refusals.inputs_changed()
        self._parts = [self._aligned(part) for part in self._parts]
        self._batches = batches
        return batches

    def _parts_of(self, batches: Iterable[tuple[CheckedRows, int]]) -> Iterator[tuple[Part, int]]:
        """Group batches into parts of similar size, each with the end position of its last batch."""
        amount_roles = self.request.roles.amounts
        waiting: list[Part] = []
        end_position = 0
        for part, end_position in parallel_map(
            lambda batch: (part_of(batch[0].rows, amount_roles), batch[1]), batches
        ):
            waiting.append(part)
            if sum(piece.rows for piece in waiting) >= ROWS_PER_PART // 2:
                yield joined(waiting), end_position
                waiting = []
        if sum(piece.rows for piece in waiting):
            yield joined(waiting), end_position

    def _aligned(self, part: Part) -> Part:
        """Widen the keys to the common width of each column."""
        if all(keys.dtype == self._columns[role].width for role, keys in part.keys.items()):
            return part
        wide = {
            role: widened(keys) if self._columns[role].width == np.int64 else keys
            for role, keys in part.keys.items()
        }
        return replace(part, keys=wide)

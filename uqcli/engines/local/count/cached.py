"""Rows as narrow columns for repeated passes: cached within a memory limit, re-read beyond it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import field, replace
from itertools import count
from typing import Any, TypeVar

import numpy as np

from uqcli.base.defaults import ROWS_PER_PART
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import Threads
from uqcli.base.running.machine import threads
from uqcli.base.running.memory import cached_bytes, note_read_again, rows_per_part
from uqcli.engines import refusals
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.check.rows import CheckedRows
from uqcli.engines.local.count.keys import ColumnSummary
from uqcli.engines.local.count.part import Part, joined, part_of
from uqcli.engines.local.count.rows import CountableRows
from uqcli.engines.protocol import ALL_ROWS, Partition, SourceSummary
from uqcli.engines.request import DataRequest
from uqcli.kernels.keys import widened

R = TypeVar("R")

_CHUNK_VALUES = 1 << 24
"""Values per allocated chunk."""

_KEPT_SHARE_OF_USED = 32
"""One part in so many of the limit holds rows that were already used: they are seldom needed again."""

_MAX_COPIES = 32
"""Parts that wait to be copied."""


class _Store:
    """Chunked memory for cached columns, separate from the memory of temporaries.

    Threads copy the columns into it, since the system takes long to provide new memory.
    """

    def __init__(self) -> None:
        self._free: dict[int, np.ndarray[Any, Any]] = {}
        self._threads = Threads(threads())
        self._copies: deque[Future[None]] = deque()

    def part(self, part: Part) -> Part:
        """Copy a part into this memory, filled by ``settle``; each column has chunks that can be freed."""
        column = count()
        stored = part.with_columns(lambda values: self._reserve(next(column), values), part.cuts)
        self._copies.append(self._threads.submit(_fill, stored, part))
        if len(self._copies) > _MAX_COPIES:
            self._copies.popleft().result()
        return stored

    def settle(self) -> None:
        """Wait for the copies."""
        while self._copies:
            self._copies.popleft().result()
        self._threads.shutdown()

    def _reserve(self, column: int, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        free = self._free.get(column)
        if free is None or free.dtype != values.dtype or len(free) < len(values):
            free = np.empty(max(_CHUNK_VALUES, len(values)), dtype=values.dtype)
        array, self._free[column] = free[: len(values)], free[len(values) :]
        return array


def _fill(stored: Part, part: Part) -> None:
    for array, values in zip(stored.columns(), part.columns(), strict=True):
        array[:] = values


@dataclass
class CachedRows(CountableRows):
    """Rows of a request with positive weight.

    Columns are cached up to a number of bytes; inputs that can be read only once are cached whatever their
    size.
    """

    request: DataRequest
    only: Mapping[str, str] = field(default_factory=dict, init=False)
    beyond: int = field(default=0, init=False)
    _parts: list[Part] = field(default_factory=list)
    _columns: dict[str, ColumnSummary] = field(default_factory=dict)
    _batches: list[LocalBatches] = field(default_factory=list)
    _cached: int = 0
    _by: Partition = ALL_ROWS
    _summaries: list[SourceSummary] = field(default_factory=list)

    @property
    def keeps_uncertainty(self) -> bool:
        """Whether the uncertainty cannot be read again, or clusters are also counted by it.

        Otherwise, dropping it saves memory.
        """
        return self.request.roles.cluster is not None or not self.read().repeatable

    def column(self, role: str) -> ColumnSummary:
        """Return the summary of a column's values."""
        self.read()
        return self._columns[role]

    def kept(self) -> Iterator[Part]:
        """Iterate over the cached parts, undivided and with all columns."""
        if self._lacks_uncertainty:
            self._forget()
        self.read()
        return (part.undivided() for part in self._parts)

    def each(self, work: Callable[[Part], R], roles: Sequence[str], by: Partition = ALL_ROWS) -> Iterator[R]:
        """Map a function over all parts, in row order (see CountableRows)."""
        if self._lacks_uncertainty and ("uncertainty" in roles or (len(by.edges) and by != self._by)):
            self._forget()
        return super().each(work, roles, by)

    @property
    def _lacks_uncertainty(self) -> bool:
        """Whether the cached rows lost their uncertainty when they were divided by it."""
        return "uncertainty" in self._columns and any("uncertainty" not in part.keys for part in self._parts)

    def _forget(self) -> None:
        """Drop the cache, but keep the summary of the first pass."""
        self._summaries = [self.read().summary]
        self._parts, self._columns, self._batches = [], {}, []
        self._cached = self.beyond = 0
        self._by = ALL_ROWS

    def remaining(self) -> Iterator[Part]:
        """Read the rows beyond the memory limit again (see CountableRows)."""
        rows_read = 0
        for part, _ in _of_similar_size(
            (part, 0) for part in self.read().remaining(self._cached, self._part)
        ):
            rows_read += part.rows
            yield self._aligned(part)
        if rows_read != self.beyond:
            raise refusals.inputs_changed()

    def read(self) -> LocalBatches:
        """Read and check all rows once, and cache what fits."""
        for _ in self.reading(keep=True):
            pass
        return self._batches[0]

    def undivided(self, roles: Sequence[str]) -> Iterator[Part]:
        """Iterate over all parts; the first time while they are read and checked (see CountableRows)."""
        if not self._batches:
            return self.reading(keep=False)
        return super().undivided(roles)

    def reading(self, *, keep: bool) -> Iterator[Part]:
        """Read and check all rows once, yield them, and cache them if all fit, or with ``keep`` what fits."""
        if self._batches:
            return
        batches, used = LocalBatches(self.request, narrow=True, max_rows=rows_per_part()), 0
        store, limit = _Store(), cached_bytes() // (1 if keep else _KEPT_SHARE_OF_USED)
        for part, end_position in _of_similar_size(self._summarised(batches)):
            used += part.bytes
            if not self.beyond and (used <= limit or not batches.repeatable):
                self._parts.append(store.part(part))
                self._cached = end_position
            else:
                self.beyond += part.rows
                if not keep:
                    store.settle()
                    self.beyond += sum(cached.rows for cached in self._parts)
                    self._parts, self._cached, store = [], 0, _Store()
            yield part
        store.settle()
        if not self._parts and not self.beyond:
            raise refusals.no_weight()
        if any(summary != batches.summary for summary in self._summaries):
            raise refusals.inputs_changed()
        if self.beyond and keep:
            note_read_again(self.beyond, limit)
        self._parts = [self._aligned(part) for part in self._parts]
        self._batches = [batches]

    def _part(self, checked: CheckedRows) -> Part:
        return part_of(checked.rows, self.request.roles.amounts)

    def _summarised(self, batches: LocalBatches) -> Iterator[tuple[Part, int]]:
        """Yield the part of each batch with its end position, and add up the summaries of their columns."""

        def summarise(checked: CheckedRows) -> tuple[Part, dict[str, ColumnSummary]]:
            part = self._part(checked)
            return part, {role: ColumnSummary.of(keys) for role, keys in part.keys.items() if part.rows}

        for (part, summaries), end_position in batches.each(summarise):
            for role, summary in summaries.items():
                self._columns.setdefault(role, ColumnSummary()).add(summary)
            yield part, end_position

    def _aligned(self, part: Part) -> Part:
        """Widen the keys to the common width of each column."""
        if all(keys.dtype == self._columns[role].width for role, keys in part.keys.items()):
            return part
        wide = {
            role: widened(keys) if self._columns[role].width == np.int64 else keys
            for role, keys in part.keys.items()
        }
        return replace(part, keys=wide)


def _of_similar_size(parts: Iterable[tuple[Part, int]]) -> Iterator[tuple[Part, int]]:
    """Join small parts, each with the end position of its last rows."""
    waiting: list[Part] = []
    rows = end_position = 0
    enough = min(ROWS_PER_PART, rows_per_part()) // 2
    for part, end_position in parts:
        waiting.append(part)
        rows += part.rows
        if rows >= enough:
            yield joined(waiting), end_position
            waiting, rows = [], 0
    if rows:
        yield joined(waiting), end_position

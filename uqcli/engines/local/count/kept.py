"""Rows as narrow columns that can be gone through often: kept while they fit, the rest read again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from uqcli.counts import Floats
from uqcli.defaults import KEPT_BYTES, ROWS_PER_PART
from uqcli.engines import refusals
from uqcli.engines.local.ahead import side_by_side
from uqcli.engines.local.check.batches import LocalBatches
from uqcli.engines.local.check.checked import CheckedRows
from uqcli.engines.local.count.keys import Keys, least_keys, values_of, widened
from uqcli.engines.local.count.part import Part, divided, joined, part_of
from uqcli.engines.protocol import SourceFacts
from uqcli.engines.request import DataRequest

R = TypeVar("R")

_PIECE = 1 << 24
"""Numbers in a piece of memory that stays."""

WHOLE = np.empty(0)
"""No uncertainty edges: one bin."""

_SAMPLE = 512
"""Values of each part that tell where most of a column's values are."""


@dataclass
class ColumnFacts:
    """What the first reading tells of a column.

    Attributes
    ----------
    low, high
        Least and largest number.
    width
        Type of the keys in all parts.
    """

    low: float = math.inf
    high: float = -math.inf
    width: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.int32))
    _samples: list[Floats] = field(default_factory=list)

    @property
    def sample(self) -> Floats:
        """Numbers from all over the rows."""
        return np.concatenate(self._samples)

    def note(self, keys: Keys) -> None:
        """Look at another part."""
        low, high = values_of(np.array([keys.min(), keys.max()], dtype=keys.dtype)).tolist()
        self.low, self.high = min(self.low, low), max(self.high, high)
        self.width = max(self.width, keys.dtype)
        self._samples.append(values_of(keys[:: max(1, len(keys) // _SAMPLE)].copy()))  # no view of all


class _Store:
    """Memory for columns that stay, in large pieces, apart from the memory of what comes and goes."""

    def __init__(self) -> None:
        self._free: dict[str, np.ndarray[Any, Any]] = {}

    def part(self, part: Part) -> Part:
        """The same rows in this memory, each column in pieces of its own."""
        keys = {role: self._array(role, each) for role, each in part.keys.items()}
        weight = None if part.weight is None else self._array("weight", part.weight)
        return replace(part, keys=keys, weight=weight)

    def _array(self, name: str, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        free = self._free.get(name)
        if free is None or free.dtype != values.dtype or len(free) < len(values):
            free = np.empty(max(_PIECE, len(values)), dtype=values.dtype)
        taken, self._free[name] = free[: len(values)], free[len(values) :]
        taken[:] = values
        return taken


@dataclass
class KeptRows:
    """The rows of a request, those of weight 0 left out.

    Columns are kept up to so many bytes; inputs that can be read once are kept whatever they take.
    """

    request: DataRequest
    _parts: list[Part] = field(default_factory=list)
    _columns: dict[str, ColumnFacts] = field(default_factory=dict)
    _batches: LocalBatches | None = None
    _kept: int = 0
    _beyond: int = 0
    _edges: Floats | None = None
    _said: SourceFacts | None = None

    @property
    def facts(self) -> SourceFacts:
        """What was read."""
        return self._read().facts

    @property
    def size(self) -> int:
        """How many there are, each counted once whatever its weight."""
        self._read()
        return self._beyond + sum(part.rows for part in self._parts)

    def column(self, role: str) -> ColumnFacts:
        """What the first reading tells of a column."""
        self._read()
        return self._columns[role]

    def each(self, work: Callable[[Part], R], roles: Sequence[str], by: Floats = WHOLE) -> Iterator[R]:
        """Results of work on all parts, in their order.

        Parameters
        ----------
        roles
            The columns that the work looks at; parts may hold others.
        by : float64, shape (K-1,)
            Uncertainty edges by whose bins the parts are divided; without any there is one bin.

        Raises
        ------
        DataError
            The rows cannot be used, or have changed since they were first read.
        """
        if "uncertainty" in roles and self._edges is not None and self._read().repeatable:
            self._forget()  # it was let go
        self._read()
        if len(by):
            self._divide(by)
        parts = self._all(by)
        return side_by_side(work, parts) if self._beyond or len(self._parts) > 1 else map(work, parts)

    def _divide(self, by: Floats) -> None:
        """Divide what is kept; where it can be read again, the uncertainty is let go for room."""
        if self._edges is not None:
            if np.array_equal(self._edges, by):
                return
            if self._read().repeatable:
                self._forget()
        batches = self._read()
        undivided, self._parts = [part.undivided() for part in reversed(self._parts)], []

        def each() -> Iterator[Part]:
            while undivided:
                yield undivided.pop()

        edges = least_keys(by, self._columns["uncertainty"].width)
        keep = not batches.repeatable
        self._parts += side_by_side(lambda part: divided(part, edges, keep=keep), each())
        self._edges = by

    def _forget(self) -> None:
        """Begin again as if nothing had been read, but for what was said of it."""
        self._said = self._read().facts
        self._parts, self._columns, self._batches = [], {}, None
        self._kept = self._beyond = 0
        self._edges = None

    def _all(self, by: Floats) -> Iterator[Part]:
        """All parts, in the order of the rows."""
        yield from self._parts if len(by) else (part.undivided() for part in self._parts)
        if not self._beyond:
            return
        again = 0
        edges = least_keys(by, self._columns["uncertainty"].width) if len(by) else None
        for part, _ in self._parts_of(self._read().rest(self._kept)):
            again += part.rows
            aligned = self._aligned(part)
            yield aligned if edges is None else divided(aligned, edges, keep=False)
        if again != self._beyond:
            raise refusals.inputs_changed()

    def _read(self) -> LocalBatches:
        """Read and check all rows, once; keep what fits."""
        if self._batches is not None:
            return self._batches
        batches, used = LocalBatches(self.request, narrow=True, most=ROWS_PER_PART), 0
        store = _Store()
        for part, end in self._parts_of(batches.with_ends()):
            for role, keys in part.keys.items():
                self._columns.setdefault(role, ColumnFacts()).note(keys)
            used += part.bytes
            if not self._beyond and (used <= KEPT_BYTES or not batches.repeatable):
                self._parts.append(store.part(part))
                self._kept = end
            else:
                self._beyond += part.rows
        if not self._parts and not self._beyond:
            raise refusals.no_weight()
        if self._said not in (None, batches.facts):
            raise refusals.inputs_changed()
        self._parts = [self._aligned(part) for part in self._parts]
        self._batches = batches
        return batches

    def _parts_of(self, batches: Iterable[tuple[CheckedRows, int]]) -> Iterator[tuple[Part, int]]:
        """Parts of about equally many rows, small batches put together; each with the end of its last."""
        roles = tuple(self.request.roles.numbers)
        waiting: list[Part] = []
        end = 0
        for part, end in side_by_side(lambda each: (part_of(each[0].rows, roles), each[1]), batches):
            waiting.append(part)
            if sum(each.rows for each in waiting) >= ROWS_PER_PART // 2:
                yield joined(waiting), end
                waiting = []
        if sum(each.rows for each in waiting):
            yield joined(waiting), end

    def _aligned(self, part: Part) -> Part:
        """With keys as wide as in all other parts."""
        if all(keys.dtype == self._columns[role].width for role, keys in part.keys.items()):
            return part
        wide = {
            role: widened(keys) if self._columns[role].width == np.int64 else keys
            for role, keys in part.keys.items()
        }
        return replace(part, keys=wide)

"""Rows as narrow columns that can be gone through often: kept while they fit, the rest read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from uqcli.counts import Floats, Ints
from uqcli.defaults import KEPT_BYTES, ROWS_PER_PART
from uqcli.engines.local.ahead import side_by_side
from uqcli.engines.local.batches import LocalBatches
from uqcli.engines.local.keys import Keys, keys_of, values_of, widened
from uqcli.engines.protocol import CheckedRows, SourceFacts
from uqcli.engines.request import DataRequest
from uqcli.errors import DataError

R = TypeVar("R")

_PIECE = 1 << 24
"""Numbers in a piece of memory that stays."""

_SAMPLE = 512
"""Values of each part that tell where most of a column's values are."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some rows, the negative ones first: counts do not look at their order.

    Attributes
    ----------
    keys
        By role, each of shape (n,).
    negatives
        How many of the rows are negative.
    weight : int64, shape (n,), or None for 1 each
        Above 0.
    """

    keys: Mapping[str, Keys]
    negatives: int
    weight: Ints | None

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(next(iter(self.keys.values())))

    @property
    def bytes(self) -> int:
        """Memory that the columns take."""
        weight = 0 if self.weight is None else self.weight.nbytes
        return weight + sum(each.nbytes for each in self.keys.values())


@dataclass
class ColumnFacts:
    """What the first reading tells of a column.

    Attributes
    ----------
    low, high
        Least and largest number.
    sample : float64
        Numbers from all over the rows.
    width
        Type of the keys in all parts.
    """

    low: float
    high: float
    sample: Floats
    width: np.dtype[Any]

    def and_of(self, other: ColumnFacts) -> ColumnFacts:
        """Of both sets of rows."""
        return ColumnFacts(
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            sample=np.concatenate([self.sample, other.sample]),
            width=max(self.width, other.width),
        )

    @classmethod
    def of(cls, keys: Keys) -> ColumnFacts:
        """Of one part."""
        low, high = values_of(np.array([keys.min(), keys.max()], dtype=keys.dtype)).tolist()
        sample = values_of(keys[:: max(1, len(keys) // _SAMPLE)])
        return cls(low=low, high=high, sample=sample, width=keys.dtype)


class _Store:
    """Memory for columns that stay, in large pieces, apart from the memory of what comes and goes."""

    def __init__(self) -> None:
        self._free: dict[np.dtype[Any], np.ndarray[Any, Any]] = {}

    def part(self, part: Part) -> Part:
        """The same rows in this memory."""
        keys = {role: self._array(each) for role, each in part.keys.items()}
        weight = None if part.weight is None else self._array(part.weight)
        return replace(part, keys=keys, weight=weight)

    def _array(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        free = self._free.get(values.dtype)
        if free is None or len(free) < len(values):
            free = np.empty(max(_PIECE, len(values)), dtype=values.dtype)
        taken, self._free[values.dtype] = free[: len(values)], free[len(values) :]
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

    def each(self, work: Callable[[Part], R]) -> Iterator[R]:
        """Results of work on all parts, in their order.

        Raises
        ------
        DataError
            The rows cannot be used, or have changed since they were first read.
        """
        self._read()
        if self._beyond or len(self._parts) > 1:
            return side_by_side(work, self._all())
        return map(work, self._parts)

    def _all(self) -> Iterator[Part]:
        """All parts, in the order of the rows."""
        yield from self._parts
        if not self._beyond:
            return
        again = 0
        rest = ((rows, 0) for rows in self._read().rest(self._kept))
        for part, _ in self._parts_of(rest):
            again += part.rows
            yield self._aligned(part)
        if again != self._beyond:
            raise DataError(
                "the inputs changed while they were read", expected="files that nobody writes to meanwhile"
            )

    def _read(self) -> LocalBatches:
        """Read and check all rows, once; keep what fits."""
        if self._batches is not None:
            return self._batches
        batches, used = LocalBatches(self.request, narrow=True, most=ROWS_PER_PART), 0
        store = _Store()
        for part, end in self._parts_of(batches.with_ends()):
            for role, keys in part.keys.items():
                known = self._columns.get(role)
                found = ColumnFacts.of(keys)
                self._columns[role] = found if known is None else known.and_of(found)
            used += part.bytes
            if not self._beyond and (used <= KEPT_BYTES or not batches.repeatable):
                self._parts.append(store.part(part))
                self._kept = end
            else:
                self._beyond += part.rows
        if not self._parts and not self._beyond:
            raise DataError("every row has weight 0", expected="a positive weight in some row")
        self._parts = [self._aligned(part) for part in self._parts]
        self._batches = batches
        return batches

    def _parts_of(self, batches: Iterable[tuple[CheckedRows, int]]) -> Iterator[tuple[Part, int]]:
        """Parts of about equally many rows, small batches put together; each with the end of its last."""
        roles = tuple(self.request.roles.numbers)
        waiting: list[Part] = []
        end = 0
        for part, end in side_by_side(lambda each: (_part(each[0], roles), each[1]), batches):
            waiting.append(part)
            if sum(each.rows for each in waiting) >= ROWS_PER_PART // 2:
                yield _joined(waiting), end
                waiting = []
        if sum(each.rows for each in waiting):
            yield _joined(waiting), end

    def _aligned(self, part: Part) -> Part:
        """With keys as wide as in all other parts."""
        if all(keys.dtype == self._columns[role].width for role, keys in part.keys.items()):
            return part
        wide = {
            role: widened(keys) if self._columns[role].width == np.int64 else keys
            for role, keys in part.keys.items()
        }
        return replace(part, keys=wide)


def _part(rows: CheckedRows, roles: tuple[str, ...]) -> Part:
    positive = np.zeros(len(rows.valid), dtype=np.bool_) if rows.positive is None else rows.positive
    negative, weight = ~positive, rows.weight
    if weight is not None:
        there = weight > 0
        negative &= there
        positive = positive & there
    order = np.concatenate([np.flatnonzero(negative), np.flatnonzero(positive)])
    return Part(
        keys={role: keys_of(rows.numbers[role][order]) for role in roles},
        negatives=int(np.count_nonzero(negative)),
        weight=None if weight is None else weight[order],
    )


def _joined(parts: list[Part]) -> Part:
    """One part of several, however wide their keys."""
    if len(parts) == 1:
        return parts[0]
    cuts = [slice(None, each.negatives) for each in parts], [slice(each.negatives, None) for each in parts]
    order = [(part, cut) for side in cuts for part, cut in zip(parts, side, strict=True)]
    keys = {}
    for role in parts[0].keys:
        same = len({each.keys[role].dtype for each in parts}) == 1
        keys[role] = np.concatenate(
            [part.keys[role][cut] if same else widened(part.keys[role][cut]) for part, cut in order]
        )
    weights = [part.weight[cut] for part, cut in order if part.weight is not None]
    return Part(
        keys=keys,
        negatives=sum(each.negatives for each in parts),
        weight=np.concatenate(weights) if weights else None,
    )

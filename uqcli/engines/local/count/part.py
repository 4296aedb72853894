"""A part of the rows as narrow columns, grouped by label and partition; counts ignore the order within."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from uqcli.base.amounts import amounts_of, units
from uqcli.base.counts import Floats, Ints, NarrowInts, indices_by_bin, narrow_bins
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.kernels.keys import keys_of, widened
from uqcli.kernels.pooling import Keys, by_group, by_side, count_rows

Codes: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows, grouped: negative rows by group of the partition, then positive rows likewise.

    Attributes
    ----------
    keys
        Keys by role, each of shape (n,).
    cuts : int64, shape (2P+1,)
        Start of each of the P groups of either label, and n.
    weight : int64, shape (n,), one or none
        Positive; without any, rows count 1 each.
    codes : int32, by key, each of shape (n,)
        Group index of each row; under None the class index of its label.
    amounts : int64, shape (n,), by role
        Units (see uqcli.base.amounts), times the weight.
    """

    keys: Mapping[str, Keys]
    cuts: Ints
    weight: tuple[Ints, ...] = ()
    codes: Mapping[str | None, Codes] = field(default_factory=dict)
    amounts: Mapping[str, Ints] = field(default_factory=dict)

    @cached_property
    def groups(self) -> int:
        """Number of groups per label."""
        return len(self.cuts) // 2

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.cuts[-1])

    @property
    def negatives(self) -> int:
        """Number of negative rows."""
        return int(self.cuts[self.groups])

    @property
    def bytes(self) -> int:
        """Memory of the columns in bytes."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[np.ndarray[Any, Any]]:
        """Return all columns."""
        return [*self.keys.values(), *self.codes.values(), *self.amounts.values(), *self.weight]

    def amounts_of_rows(self, role: str) -> Floats:
        """Return the amount of each row, without its weight; float64, shape (n,)."""
        amount = self.amounts[role]
        for weight in self.weight:
            amount = amount // weight
        return amounts_of(amount)

    def sides(self) -> Iterator[tuple[slice, slice]]:
        """Return the slices of the negative and the positive rows of each group."""
        slices = [slice(*bounds) for bounds in pairwise(self.cuts.tolist())]
        return zip(slices[: self.groups], slices[self.groups :], strict=True)

    def with_columns(self, change: Callable[[np.ndarray[Any, Any]], Any], cuts: Ints) -> Part:
        """Apply a function to every column."""
        return Part(
            keys={role: change(values) for role, values in self.keys.items()},
            cuts=cuts,
            weight=tuple(map(change, self.weight)),
            codes={key: change(values) for key, values in self.codes.items()},
            amounts={role: change(values) for role, values in self.amounts.items()},
        )

    def select(self, indices: Ints) -> Part:
        """Select rows by ascending indices."""
        return self.with_columns(lambda column: column[indices], np.searchsorted(indices, self.cuts))

    def undivided(self) -> Part:
        """Return the same rows as a single group per label."""
        return replace(self, cuts=self.cuts[[0, self.groups, -1]])


def part_of(rows: Rows, amounts: Sequence[str] = ()) -> Part:
    """Convert the rows of positive weight; numbers become keys, amounts become units."""
    if rows.weight is not None and not rows.weight.all():
        rows = rows.select(np.flatnonzero(rows.weight))
    positive = np.zeros(len(rows), dtype=np.bool_) if rows.positive is None else rows.positive
    negatives = len(rows) - int(np.count_nonzero(positive))
    codes: dict[str | None, Codes] = {
        column: by_side(group_codes.astype(np.int32), positive, negatives)
        for column, group_codes in rows.groups.items()
    }
    if rows.label_class is not None:
        codes[None] = by_side(rows.label_class.astype(np.int32), positive, negatives)
    numbers = {role: by_side(values, positive, negatives) for role, values in rows.numbers.items()}
    weights = () if rows.weight is None else (by_side(rows.weight, positive, negatives),)
    summed = {role: math.prod(weights, start=units(numbers[role])) for role in amounts}
    return Part(
        keys={role: keys_of(values) for role, values in numbers.items() if role not in amounts},
        cuts=np.array([0, negatives, len(rows)]),
        weight=weights,
        codes=codes,
        amounts=summed,
    )


def joined(parts: Sequence[Part]) -> Part:
    """Concatenate parts to one unpartitioned part, widening keys if needed."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    keys = {}
    for role in first.keys:
        same = len({part.keys[role].dtype for part in parts}) == 1
        keys[role] = _by_label(
            parts, [part.keys[role] if same else widened(part.keys[role]) for part in parts]
        )
    weights = zip(*(part.weight for part in parts), strict=True)
    negatives = sum(part.negatives for part in parts)
    return Part(
        keys=keys,
        cuts=np.array([0, negatives, sum(part.rows for part in parts)]),
        weight=tuple(_by_label(parts, of_parts) for of_parts in weights),
        codes={key: _by_label(parts, [part.codes[key] for part in parts]) for key in first.codes},
        amounts={role: _by_label(parts, [part.amounts[role] for part in parts]) for role in first.amounts},
    )


def _by_label(parts: Sequence[Part], columns: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Concatenate a column of several parts: negative rows, then positive rows."""
    cuts = [part.negatives for part in parts]
    negative = [column[:cut] for column, cut in zip(columns, cuts, strict=True)]
    positive = [column[cut:] for column, cut in zip(columns, cuts, strict=True)]
    return np.concatenate([*negative, *positive])


@dataclass(frozen=True, kw_only=True)
class Division:
    """Assignment of rows to the groups of a partition.

    Attributes
    ----------
    edges
        Smallest uncertainty key of each bin except the first.
    ranks : int64, by key, each of shape (codes,)
        Rank of each group code, and the number of ranks.
    keep
        Whether to keep the uncertainty afterwards.
    """

    edges: Keys
    ranks: Mapping[str | None, tuple[Ints, int]]
    keep: bool

    @property
    def groups(self) -> int:
        """Number of groups."""
        return (len(self.edges) + 1) * math.prod(size for _, size in self.ranks.values())

    def _group_index(self, part: Part) -> NarrowInts:
        if not self.ranks:
            return narrow_bins(part.keys["uncertainty"], self.edges)
        group_index = np.zeros(part.rows, dtype=np.int64)
        for key, (rank, size) in self.ranks.items():
            group_index = group_index * size + rank[part.codes[key]]
        if len(self.edges):
            group_index = group_index * (len(self.edges) + 1) + narrow_bins(
                part.keys["uncertainty"], self.edges
            )
        return group_index

    def sort(self, part: Part) -> Part:
        """Sort an unpartitioned part by group, in place."""
        group_index = self._group_index(part)
        sides = [slice(*bounds) for bounds in pairwise(part.cuts.tolist())]
        sizes = [np.zeros(self.groups, dtype=np.int64) for _ in sides]
        for side, sizes_of_side in zip(sides, sizes, strict=True):
            count_rows.run((side.stop - side.start) // ROWS_PER_STEP, group_index[side], sizes_of_side)
        drops_uncertainty = bool(len(self.edges)) and not self.keep
        keys = {
            role: values
            for role, values in part.keys.items()
            if not (drops_uncertainty and role == "uncertainty")
        }
        grouped = replace(part, keys=keys, cuts=np.cumsum(np.concatenate([[0], *sizes])))
        for column in grouped.columns():
            for side, sizes_of_side in zip(sides, sizes, strict=True):
                column[side] = by_group(column[side], group_index[side], sizes_of_side)
        return grouped

    def split(self, part: Part) -> list[Part]:
        """Copy the rows of each group of an unpartitioned part."""
        indices = self._indices(part)
        return [
            part.select(np.concatenate(sides))
            for sides in zip(indices[: self.groups], indices[self.groups :], strict=True)
        ]

    def _indices(self, part: Part) -> list[Ints]:
        """Return the ascending rows of each group of an unpartitioned part: negative, then positive ones."""
        group_index = self._group_index(part)
        return [
            start + rows
            for start, stop in pairwise(part.cuts.tolist())
            for rows in indices_by_bin(group_index[start:stop], self.groups)
        ]

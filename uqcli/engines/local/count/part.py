"""Some rows as narrow columns, by label and part of a partition: counts do not look at their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from uqcli.counts import Ints, NarrowInts, narrow_bins, places_by_bin
from uqcli.engines.amounts import units
from uqcli.engines.local.count.keys import Keys, keys_of, widened
from uqcli.rows import Rows

Codes: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some rows: the negative ones by part of a partition, then the positive ones likewise.

    Attributes
    ----------
    keys
        By role, each of shape (n,).
    cuts : int64, shape (2P+1,)
        Where the P parts of either label begin, and n.
    weight : int64, shape (n,), or None for 1 each
        Above 0.
    codes : int32, by key, each of shape (n,)
        Number of each row's group, and under None that of the class which its label names.
    amounts : int64, shape (n,), by role
        Units (see uqcli.engines.amounts), by weight.
    """

    keys: Mapping[str, Keys]
    cuts: Ints
    weight: Ints | None
    codes: Mapping[str | None, Codes] = field(default_factory=dict)
    amounts: Mapping[str, Ints] = field(default_factory=dict)

    @cached_property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.cuts) // 2

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.cuts[-1])

    @property
    def negatives(self) -> int:
        """How many of them are negative."""
        return int(self.cuts[self.parts])

    @property
    def bytes(self) -> int:
        """Memory that the columns take."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[np.ndarray[Any, Any]]:
        """All of them."""
        weight = [] if self.weight is None else [self.weight]
        return [*self.keys.values(), *self.codes.values(), *self.amounts.values(), *weight]

    def sides(self) -> Iterator[tuple[slice, slice]]:
        """The negative and the positive rows of each part."""
        slices = [slice(*each) for each in pairwise(self.cuts.tolist())]
        return zip(slices[: self.parts], slices[self.parts :], strict=True)

    def with_columns(self, change: Callable[[np.ndarray[Any, Any]], Any], cuts: Ints) -> Part:
        """With each column changed alike."""
        return Part(
            keys={role: change(each) for role, each in self.keys.items()},
            cuts=cuts,
            weight=None if self.weight is None else change(self.weight),
            codes={key: change(each) for key, each in self.codes.items()},
            amounts={role: change(each) for role, each in self.amounts.items()},
        )

    def only(self, places: Ints) -> Part:
        """Some of the rows, by ascending places."""
        return self.with_columns(lambda column: column[places], np.searchsorted(places, self.cuts))

    def undivided(self) -> Part:
        """The same in one part."""
        return replace(self, cuts=self.cuts[[0, self.parts, -1]])


def part_of(rows: Rows, amounts: Sequence[str] = ()) -> Part:
    """The rows that weigh something; numbers as keys, but for some roles' that are amounts."""
    positive = np.zeros(len(rows), dtype=np.bool_) if rows.positive is None else rows.positive
    negative, weight = ~positive, rows.weight
    if weight is not None:
        there = weight > 0
        negative &= there
        positive = positive & there
    sides = np.flatnonzero(negative), np.flatnonzero(positive)
    order = np.concatenate(sides)
    weight = None if weight is None else weight[order]
    codes: dict[str | None, Codes] = {
        column: number[order].astype(np.int32) for column, number in rows.groups.items()
    }
    if rows.label_class is not None:
        codes[None] = rows.label_class[order].astype(np.int32)
    summed = {role: units(rows.numbers[role][order]) for role in amounts}
    return Part(
        keys={role: keys_of(each[order]) for role, each in rows.numbers.items() if role not in amounts},
        cuts=np.array([0, len(sides[0]), len(order)]),
        weight=weight,
        codes=codes,
        amounts=summed if weight is None else {role: each * weight for role, each in summed.items()},
    )


def joined(parts: Sequence[Part]) -> Part:
    """One undivided part of several, however wide their keys."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    keys = {}
    for role in first.keys:
        same = len({each.keys[role].dtype for each in parts}) == 1
        keys[role] = _by_label(
            parts, [each.keys[role] if same else widened(each.keys[role]) for each in parts]
        )
    weights = [part.weight for part in parts if part.weight is not None]
    negatives = sum(each.negatives for each in parts)
    return Part(
        keys=keys,
        cuts=np.array([0, negatives, sum(each.rows for each in parts)]),
        weight=_by_label(parts, weights) if weights else None,
        codes={key: _by_label(parts, [each.codes[key] for each in parts]) for key in first.codes},
        amounts={role: _by_label(parts, [each.amounts[role] for each in parts]) for role in first.amounts},
    )


def _by_label(parts: Sequence[Part], columns: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """One column of several: their negative rows, then their positive ones."""
    cuts = [part.negatives for part in parts]
    negative = [column[:cut] for column, cut in zip(columns, cuts, strict=True)]
    positive = [column[cut:] for column, cut in zip(columns, cuts, strict=True)]
    return np.concatenate([*negative, *positive])


@dataclass(frozen=True, kw_only=True)
class Division:
    """How the rows of undivided parts are numbered.

    Attributes
    ----------
    edges
        Least uncertainty keys of the bins but the first.
    ranks : int64, by key, each of shape (codes,)
        What a code counts as, and how many there are.
    keep
        Whether the uncertainty is still needed afterwards.
    """

    edges: Keys
    ranks: Mapping[str | None, tuple[Ints, int]]
    keep: bool

    @property
    def parts(self) -> int:
        """How many there are."""
        return (len(self.edges) + 1) * math.prod(size for _, size in self.ranks.values())

    def _numbers(self, part: Part) -> NarrowInts:
        if not self.ranks:
            return narrow_bins(part.keys["uncertainty"], self.edges)
        number = np.zeros(part.rows, dtype=np.int64)
        for key, (rank, size) in self.ranks.items():
            number = number * size + rank[part.codes[key]]
        if len(self.edges):
            number = number * (len(self.edges) + 1) + narrow_bins(part.keys["uncertainty"], self.edges)
        return number

    def of(self, part: Part) -> Part:
        """The rows of an undivided part by their numbers, in the memory they are in."""
        number = self._numbers(part)
        places, cuts = [], [0]
        for start, stop in pairwise(part.cuts.tolist()):
            for each in places_by_bin(number[start:stop], self.parts):
                places.append(start + each)
                cuts.append(cuts[-1] + len(each))
        order = np.concatenate(places)
        gone = bool(len(self.edges)) and not self.keep
        keys = {role: each for role, each in part.keys.items() if not (gone and role == "uncertainty")}
        found = replace(part, keys=keys, cuts=np.array(cuts))
        for column in found.columns():
            column[:] = column[order]
        return found

"""Rows as columns, for what cannot do with counts: an engine hands them out, methods look at single ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from uqcli.counts import Bools, Feature, Floats, Ints, ValueCounts, pool

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows of data: every column has a value for every row.

    Attributes
    ----------
    numbers : float64, shape (n,), by role
        Finite, without negative zeros.
    positive : bool, shape (n,), or None
        Labels of two classes, where they were asked for.
    label_class : int64, shape (n,), or None
        Labels that name a class: its number.
    weight : int64, shape (n,), or None for 1 each
        How often each row counts; a row of weight 0 is absent.
    groups : int64, shape (n,), by column
        Number of each row's group.
    features
        By column.
    position : int64, shape (n,), or None where nobody asks
        Positions over all inputs.
    valid : bool, shape (n,), or None where all are
        Rows that can be used; values in other rows mean nothing.
    """

    numbers: Mapping[str, Floats]
    positive: Bools | None = None
    label_class: Ints | None = None
    weight: Ints | None = None
    groups: Mapping[str, Ints] = field(default_factory=dict)
    features: Mapping[str, Feature] = field(default_factory=dict)
    position: Ints | None = None
    valid: Bools | None = None

    def __len__(self) -> int:
        """How many there are, each counted once whatever its weight."""
        return len(self._columns()[0])

    @property
    def size(self) -> int:
        """How many there are, by weight."""
        return len(self) if self.weight is None else int(self.weight.sum())

    @property
    def score(self) -> Floats:
        """The score of every row."""
        return self.numbers["score"]

    @property
    def uncertainty(self) -> Floats | None:
        """The uncertainty of every row, where it was asked for."""
        return self.numbers.get("uncertainty")

    @property
    def labels(self) -> Bools:
        """Whether each row is positive, of rows with labels of two classes."""
        assert self.positive is not None
        return self.positive

    def counted(self) -> Ints:
        """Weights, 1 where there are none."""
        return np.ones(len(self), dtype=np.int64) if self.weight is None else self.weight

    def counts(self, value: Floats, rows: Ints | Bools | None = None) -> ValueCounts:
        """Tie-pooled counts of a value of each row.

        Parameters
        ----------
        value : float64, shape (n,)
        rows
            Places of some rows or a mask over all; None for all of them.
        """
        if rows is None:
            return pool(value, self.labels, self.weight)
        return pool(value[rows], self.labels[rows], _only(self.weight, rows))

    def only(self, rows: Ints | Bools) -> Rows:
        """Some of the rows, by their places or a mask over all."""
        return Rows(
            numbers={role: each[rows] for role, each in self.numbers.items()},
            positive=_only(self.positive, rows),
            label_class=_only(self.label_class, rows),
            weight=_only(self.weight, rows),
            groups={column: each[rows] for column, each in self.groups.items()},
            features={column: each.only(rows) for column, each in self.features.items()},
            position=_only(self.position, rows),
            valid=_only(self.valid, rows),
        )

    def usable(self) -> Rows:
        """The valid rows only."""
        return self if self.valid is None else replace(self.only(self.valid), valid=None)

    def filled(self, value: NDArray[Kind], stand_in: float) -> NDArray[Kind]:
        """A value of each row with a stand-in in rows that are not valid; shape (n,) or (n, C)."""
        if self.valid is None:
            return value
        filled: NDArray[Kind] = np.where(self.valid.reshape(-1, *[1] * (value.ndim - 1)), value, stand_in)
        return filled

    def scored(self, score: Floats) -> Rows:
        """The same rows with other scores."""
        return replace(self, numbers={**self.numbers, "score": score})

    def weighing(self, weight: Ints) -> Rows:
        """The rows that weigh something under other weights."""
        there = np.flatnonzero(weight)
        return replace(self.only(there), weight=weight[there])

    def pooled(self) -> Rows:
        """Equal usable rows as one of their common weight, sorted: the order of the rows leaves no trace.

        They are sorted by their first number, then by label, features, groups and the other numbers.
        """
        rows = self.usable()
        keys = [_comparable(each) for each in rows._columns()]
        weight = rows.counted()
        there = np.flatnonzero(weight)
        order = there[_sorted([each[there] for each in keys])]
        new = np.zeros(len(order), dtype=np.bool_)
        new[:1] = True
        for key in keys:
            new[1:] |= key[order][1:] != key[order][:-1]
        starts = np.flatnonzero(new)
        distinct = replace(rows, position=None).only(order[starts])
        return replace(distinct, weight=np.add.reduceat(weight[order], starts))

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """The usable rows of parts with the same columns, one after the other; there is at least one part."""
        parts = [each.usable() for each in parts]
        first = parts[0]
        return Rows(
            numbers={role: np.concatenate([each.numbers[role] for each in parts]) for role in first.numbers},
            positive=_joined([each.positive for each in parts]),
            label_class=_joined([each.label_class for each in parts]),
            weight=_joined([each.weight for each in parts]),
            groups={name: np.concatenate([each.groups[name] for each in parts]) for name in first.groups},
            features={
                name: replace(known, value=np.concatenate([each.features[name].value for each in parts]))
                for name, known in first.features.items()
            },
            position=_joined([each.position for each in parts]),
        )

    def _columns(self) -> list[NDArray[Any]]:
        """What tells rows apart."""
        first, *others = self.numbers.values()
        labels = [each for each in (self.positive, self.label_class) if each is not None]
        features = [each.value for each in self.features.values()]
        return [first, *labels, *features, *self.groups.values(), *others]


def _sorted(keys: Sequence[NDArray[Any]]) -> Ints:
    """Places in the order of the keys; the others are not looked at where the first has no ties."""
    order = np.argsort(keys[0], kind="stable")
    ascending = keys[0][order]
    if (ascending[1:] == ascending[:-1]).any():
        return np.lexsort(list(reversed(keys)))
    return order


def _only(column: NDArray[Kind] | None, rows: Ints | Bools) -> NDArray[Kind] | None:
    return None if column is None else column[rows]


def _joined(parts: Sequence[NDArray[Kind] | None]) -> NDArray[Kind] | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if given else None


def _comparable(column: NDArray[Any]) -> NDArray[Any]:
    """The same with a missing number that equals another."""
    missing = np.isnan(column)
    return np.where(missing, -np.inf, column) if missing.any() else column

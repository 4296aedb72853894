"""Rows as columns, for methods that cannot work on counts, and pooled rows of class probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Bools, Feature, Floats, Ints, Matrix, ValueCounts, distinct_rows, pool
from uqcli.base.records import dataclass
from uqcli.base.whole_numbers import product

Kind = TypeVar("Kind", bound=np.generic)

Selection: TypeAlias = Ints | Bools | slice
"""Rows by index, by a mask, or in a row."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows of data; every column has one value per row, shape (n,).

    Numbers, by role, are finite float64 without negative zeros. Binary labels are ``positive``, and others
    the index of their class. The weight is the multiplicity of each row, None for 1 each; a row of weight 0
    is ignored. Groups, by column, are indices. Positions are those over all inputs. ``valid`` marks the
    usable rows, None if all are; values in other rows are undefined.
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
        """Return the number of rows, each counted once whatever its weight."""
        return len(self._columns()[0])

    @property
    def size(self) -> int:
        """Total weight."""
        return len(self) if self.weight is None else int(self.weight.sum())

    @property
    def score(self) -> Floats:
        """Score of every row."""
        return self.numbers["score"]

    @property
    def uncertainty(self) -> Floats | None:
        """Uncertainty of every row, if requested."""
        return self.numbers.get("uncertainty")

    @property
    def labels(self) -> Bools:
        """Binary label of every row."""
        assert self.positive is not None
        return self.positive

    def weights(self) -> Ints:
        """Return the weights, 1 by default."""
        return np.ones(len(self), dtype=np.int64) if self.weight is None else self.weight

    def weight_of(self, rows: Ints | Bools) -> Ints | None:
        """Return the weights of some rows; None for 1 each."""
        return _select(self.weight, rows)

    def times(self, number: Ints) -> Ints:
        """Multiply whole numbers by the weights, without an overflow."""
        return number if self.weight is None else product(number, self.weight)

    def counts(self, value: Floats, rows: Selection = slice(None)) -> ValueCounts:
        """Return the tie-pooled counts of one value per row, of all rows or of some."""
        return pool(value[rows], self.labels[rows], _select(self.weight, rows))

    def select(self, rows: Selection) -> Rows:
        """Select rows."""
        return Rows(
            numbers={role: values[rows] for role, values in self.numbers.items()},
            positive=_select(self.positive, rows),
            label_class=_select(self.label_class, rows),
            weight=_select(self.weight, rows),
            groups={column: codes[rows] for column, codes in self.groups.items()},
            features={column: feature.select(rows) for column, feature in self.features.items()},
            position=_select(self.position, rows),
            valid=_select(self.valid, rows),
        )

    def usable(self) -> Rows:
        """Select the valid rows."""
        return self if self.valid is None else replace(self.select(self.valid), valid=None)

    def filled(self, value: NDArray[Kind], stand_in: float) -> NDArray[Kind]:
        """Replace values of invalid rows by ``stand_in``; shape (n,) or (n, C)."""
        if self.valid is None:
            return value
        filled: NDArray[Kind] = np.where(self.valid.reshape(-1, *[1] * (value.ndim - 1)), value, stand_in)
        return filled

    def scored(self, score: Floats) -> Rows:
        """Return a copy with other scores."""
        return replace(self, numbers={**self.numbers, "score": score})

    def reweighted(self, weight: Ints) -> Rows:
        """Reweight and drop rows of weight 0."""
        present = np.flatnonzero(weight)
        return replace(self.select(present), weight=weight[present])

    def pooled(self) -> Rows:
        """Pool equal usable rows, adding their weights, in an order that does not depend on the row order.

        They are sorted by the first number, then by label, features, groups and the other numbers.
        """
        rows = self.usable()
        if rows.weight is not None and not rows.weight.all():
            rows = rows.select(rows.weight > 0)
        order, starts = distinct_rows([_comparable(column) for column in rows._columns()])
        distinct = replace(rows, position=None).select(order[starts])
        return replace(distinct, weight=sums_of_rows(rows.weight, order, starts))

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """Concatenate the usable rows of at least one part; all parts have the same columns."""
        parts = [part.usable() for part in parts]
        first = parts[0]
        return Rows(
            numbers={role: np.concatenate([part.numbers[role] for part in parts]) for role in first.numbers},
            positive=_joined([part.positive for part in parts]),
            label_class=_joined([part.label_class for part in parts]),
            weight=_joined([part.weight for part in parts]),
            groups={name: np.concatenate([part.groups[name] for part in parts]) for name in first.groups},
            features={
                name: replace(feature, value=np.concatenate([part.features[name].value for part in parts]))
                for name, feature in first.features.items()
            },
            position=_joined([part.position for part in parts]),
        )

    def _columns(self) -> list[NDArray[Any]]:
        """Return the columns that define whether rows are equal."""
        first, *other_numbers = self.numbers.values()
        labels = [label for label in (self.positive, self.label_class) if label is not None]
        features = [feature.value for feature in self.features.values()]
        return [first, *labels, *features, *self.groups.values(), *other_numbers]


def _select(column: NDArray[Kind] | None, rows: Selection) -> NDArray[Kind] | None:
    return None if column is None else column[rows]


def _joined(parts: Sequence[NDArray[Kind] | None]) -> NDArray[Kind] | None:
    columns = [part for part in parts if part is not None]
    return np.concatenate(columns) if columns else None


def _comparable(column: NDArray[Any]) -> NDArray[Any]:
    """Replace NaN by -inf, so that missing values compare equal."""
    missing = np.isnan(column)
    return np.where(missing, -np.inf, column) if missing.any() else column


@dataclass(frozen=True, kw_only=True)
class ClassCounts:
    """Distinct rows of class probabilities, in an order that does not depend on the row order.

    Probabilities are float64, of shape (m, C). Labels, and counts, which are the multiplicity of each row,
    are int64, of shape (m,).
    """

    probability: Matrix
    label: Ints
    count: Ints

    @classmethod
    def from_rows(cls, probability: Matrix, label: Ints, weight: Ints | None) -> ClassCounts:
        """Pool equal rows; without a weight, each counts as 1."""
        return DistinctClasses.of(probability, label).counts(weight)

    def select(self, rows: Selection) -> ClassCounts:
        """Select distinct rows."""
        return ClassCounts(probability=self.probability[rows], label=self.label[rows], count=self.count[rows])

    def draw_labels(self, random: np.random.Generator) -> Ints:
        """Draw labels from the class probabilities: count of each class for each distinct row; (m, C)."""
        if self.count.max() > 1:
            counts: Ints = random.multinomial(self.count, self.shares)
            return counts
        uniform = random.random(len(self.count))
        label = np.zeros(len(uniform), dtype=np.int16)
        for limit in self._limits:
            label += limit <= uniform
        labels = np.empty((self.probability.shape[1], len(label)), dtype=np.int64)  # read by class
        for class_index, of_class in enumerate(labels):
            of_class[:] = label == class_index
        return labels.T

    @cached_property
    def shares(self) -> Matrix:
        """Class probabilities normalised to sum to exactly 1 per row."""
        shares: Matrix = self.probability / self.probability.sum(axis=1, keepdims=True)
        return shares

    @cached_property
    def _limits(self) -> Matrix:
        """Shares of the first class, of the first two, and so on, but not of all; shape (C-1, m)."""
        limits: Matrix = np.cumsum(self.shares.T[:-1], axis=0)
        return limits

    def against_rest(self, class_index: int) -> ValueCounts:
        """Return the one-vs-rest counts of one class, pooled by its probability."""
        return against_rest(self.probability, self.label, self.count, class_index)

    def observed_labels(self) -> Ints:
        """Return the observed labels in the format of ``draw_labels``."""
        labels = np.zeros(self.probability.shape, dtype=np.int64)
        labels[np.arange(len(self.label)), self.label] = self.count
        return labels

    def one_vs_rest(self, class_index: int, labels: Ints) -> ValueCounts:
        """Return the one-vs-rest counts of one class, pooled by its probability, for the given labels."""
        value, inverse, count = self._columns[class_index]
        if len(value) == len(inverse):
            positives = np.empty(len(value), dtype=np.int64)
            positives[inverse] = labels[:, class_index]
        else:
            positives = np.bincount(inverse, weights=labels[:, class_index]).astype(np.int64)
        return ValueCounts(value=value, count=count, positives=positives)

    @cached_property
    def _columns(self) -> tuple[tuple[Floats, Ints, Ints], ...]:
        """For each class: its distinct probabilities, the index of each row among them, and their counts."""
        columns = []
        for column in self.probability.T:
            value, inverse = np.unique(column, return_inverse=True)
            columns.append((value, inverse, np.bincount(inverse, weights=self.count).astype(np.int64)))
        return tuple(columns)


def against_rest(probability: Matrix, label: Ints, count: Ints, class_index: int) -> ValueCounts:
    """Return the one-vs-rest counts of one class of rows, each with a multiplicity, by its probability."""
    weight = None if (count == 1).all() else count  # values alone are sorted in a fraction of the time
    return pool(np.ascontiguousarray(probability[:, class_index]), label == class_index, weight)


@dataclass(frozen=True, kw_only=True)
class DistinctClasses:
    """Distinct rows of class probabilities, which several weights of their n rows count without a sort.

    ``order`` has the n rows in sorted order, and ``starts`` the position in it of each distinct row.
    """

    order: Ints
    starts: Ints
    probability: Matrix
    label: Ints

    @classmethod
    def of(cls, probability: Matrix, label: Ints) -> DistinctClasses:
        """Sort rows; matrix of shape (n, C), labels of shape (n,)."""
        order, starts = distinct_rows([*probability.T, label])
        rows = order[starts]
        return cls(order=order, starts=starts, probability=probability.take(rows, axis=0), label=label[rows])

    def counts(self, weight: Ints | None) -> ClassCounts:
        """Count the rows by their weight, and drop those of weight 0; without a weight, each counts as 1."""
        count = sums_of_rows(weight, self.order, self.starts)
        if count.all():
            return ClassCounts(probability=self.probability, label=self.label, count=count)
        present = np.flatnonzero(count)
        return ClassCounts(
            probability=self.probability.take(present, axis=0),  # faster than by index
            label=self.label[present],
            count=count[present],
        )


def sums_of_rows(weight: Ints | None, order: Ints, starts: Ints) -> Ints:
    """Add up the weights of equal rows (see ``distinct_rows``); without a weight, each counts as 1."""
    if weight is None:
        return np.diff(starts, append=len(order))
    return np.add.reduceat(weight[order], starts)

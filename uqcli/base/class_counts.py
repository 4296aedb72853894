"""Pooled rows of class probabilities: the multiclass counterpart of ``ValueCounts``."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Bools, Floats, Ints, ValueCounts
from uqcli.base.records import dataclass

Matrix: TypeAlias = NDArray[np.float64]
"""Matrix, such as class probabilities of shape (rows, C)."""


@dataclass(frozen=True, kw_only=True)
class ClassCounts:
    """Distinct rows of class probabilities, in an order that does not depend on the row order.

    Attributes
    ----------
    probability : float64, shape (m, C)
    label : int64, shape (m,)
    count : int64, shape (m,)
        Multiplicity of each row.
    """

    probability: Matrix
    label: Ints
    count: Ints

    @classmethod
    def from_rows(cls, probability: Matrix, label: Ints, weight: Ints | None) -> ClassCounts:
        """Pool equal rows.

        Parameters
        ----------
        probability : float64, shape (n, C)
        label, weight : int64, shape (n,); weight None for 1 each
        """
        multiplicity = np.ones(len(label), dtype=np.int64) if weight is None else weight
        present = np.flatnonzero(multiplicity > 0)
        order = present[np.lexsort((label[present], *probability[present].T[::-1]))]
        ordered, labels = probability[order], label[order]
        starts_row = np.ones(len(order), dtype=np.bool_)
        starts_row[1:] = (labels[1:] != labels[:-1]) | (ordered[1:] != ordered[:-1]).any(axis=1)
        starts = np.flatnonzero(starts_row)
        return cls(
            probability=ordered[starts],
            label=labels[starts],
            count=np.add.reduceat(multiplicity[order], starts),
        )

    def select(self, rows: Bools) -> ClassCounts:
        """Select distinct rows by a mask."""
        return ClassCounts(probability=self.probability[rows], label=self.label[rows], count=self.count[rows])

    def draw_labels(self, random: np.random.Generator) -> Ints:
        """Draw labels from the class probabilities: count of each class for each distinct row.

        Returns
        -------
        int64, shape (m, C)
        """
        counts: Ints = random.multinomial(self.count, self.shares)
        return counts

    @cached_property
    def shares(self) -> Matrix:
        """Class probabilities normalised to sum to exactly 1 per row."""
        shares: Matrix = self.probability / self.probability.sum(axis=1, keepdims=True)
        return shares

    def observed_labels(self) -> Ints:
        """Return the observed labels in the format of ``draw_labels``."""
        labels = np.zeros(self.probability.shape, dtype=np.int64)
        labels[np.arange(len(self.label)), self.label] = self.count
        return labels

    def one_vs_rest(self, class_index: int, labels: Ints) -> ValueCounts:
        """Return the one-vs-rest counts of one class, pooled by its probability, for the given labels."""
        value, inverse, count = self._columns[class_index]
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

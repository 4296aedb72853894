"""Labels drawn from the scores themselves: what a measure comes to where the probabilities are right.

Errors that cannot be negative are lifted by noise, so that no resampling of the rows gives an interval that
holds them. Their law under perfect calibration is known, though: every label is drawn from its own score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from uqcli.counts import Floats, Ints, ValueCounts


def draw_positives(counts: ValueCounts, random: np.random.Generator) -> ValueCounts:
    """The same scores with labels drawn from them; each of a row's weight is a row of its own."""
    positives: Ints = random.binomial(counts.count, counts.value)
    return ValueCounts(value=counts.value, count=counts.count, positives=positives)


@dataclass(frozen=True, kw_only=True)
class ClassCounts:
    """Distinct rows of class probabilities, in an order that the rows' own order does not change.

    Attributes
    ----------
    probability : float64, shape (m, C)
    label : int64, shape (m,)
    count : int64, shape (m,)
        How often each occurs.
    """

    probability: np.ndarray
    label: Ints
    count: Ints

    @classmethod
    def of(cls, probability: np.ndarray, label: Ints, weight: Ints | None) -> ClassCounts:
        """Pool equal rows.

        Parameters
        ----------
        probability : float64, shape (n, C)
        label, weight : int64, shape (n,); weight None for 1 each
        """
        times = np.ones(len(label), dtype=np.int64) if weight is None else weight
        there = np.flatnonzero(times > 0)
        order = there[np.lexsort((label[there], *probability[there].T[::-1]))]
        ordered, labels = probability[order], label[order]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (labels[1:] != labels[:-1]) | (ordered[1:] != ordered[:-1]).any(axis=1)
        starts = np.flatnonzero(new)
        return cls(
            probability=ordered[starts], label=labels[starts], count=np.add.reduceat(times[order], starts)
        )

    def draw_labels(self, random: np.random.Generator) -> Ints:
        """How often each row's label comes out as each class when drawn from its probabilities.

        Returns
        -------
        int64, shape (m, C)
        """
        drawn: Ints = random.multinomial(self.count, self.shares)
        return drawn

    @cached_property
    def shares(self) -> np.ndarray:
        """Probabilities that add up to 1 in every row, which rounded ones need not do."""
        shares: np.ndarray = self.probability / self.probability.sum(axis=1, keepdims=True)
        return shares

    def observed_labels(self) -> Ints:
        """The labels as they are, in the form of drawn ones."""
        labels = np.zeros(self.probability.shape, dtype=np.int64)
        labels[np.arange(len(self.label)), self.label] = self.count
        return labels

    def against_the_rest(self, number: int, labels: Ints) -> ValueCounts:
        """Tie-pooled counts of one class's probabilities, its labels counted as drawn."""
        value, place, count = self._columns[number]
        positives = np.bincount(place, weights=labels[:, number]).astype(np.int64)
        return ValueCounts(value=value, count=count, positives=positives)

    @cached_property
    def _columns(self) -> tuple[tuple[Floats, Ints, Ints], ...]:
        """Distinct probabilities of each class, each row's place among them, and how often they occur."""
        columns = []
        for column in self.probability.T:
            value, place = np.unique(column, return_inverse=True)
            columns.append((value, place, np.bincount(place, weights=self.count).astype(np.int64)))
        return tuple(columns)


@dataclass(frozen=True, kw_only=True)
class IfCalibrated:
    """What a measure comes to where the probabilities are right.

    Attributes
    ----------
    mean, high
        Mean and 95th percentile.
    p_value
        How often it is at least what was measured, ``(1 + #) / (draws + 1)``.
    """

    mean: float
    high: float
    p_value: float


def compare_with_draws(value: float | None, drawn: Sequence[float]) -> IfCalibrated:
    """Hold a measured value, 0 if undefined, against drawn ones, of which there is at least one."""
    ordered = sorted(drawn)
    at = min(len(ordered), math.ceil(0.95 * (len(ordered) + 1) - 1e-9)) - 1
    return IfCalibrated(
        mean=math.fsum(ordered) / len(ordered),
        high=ordered[at],
        p_value=(1 + sum(each >= (value or 0.0) for each in ordered)) / (len(ordered) + 1),
    )

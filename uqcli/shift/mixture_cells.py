"""Count the rows of source and target in cells of the score, to test whether the shift is one of labels."""

from __future__ import annotations

from typing import Final

import numpy as np

from uqcli.base.class_counts import Matrix
from uqcli.base.counts import Floats, Ints, bin_of
from uqcli.base.records import dataclass
from uqcli.engines.probabilities import most_probable
from uqcli.estimates.binning import equal_ranks
from uqcli.shift.mixture import MixtureTest, UnitCounts, mixture_test

ROW_BINS: Final = 10
UNIT_BINS: Final = 5
"""Bins of the score for two classes: of independent rows, and of rows that depend on each other by unit."""


def weighted_ranks(value: Floats, weight: Ints, bins: int) -> Floats:
    """Return the edges of bins of equal weight: the values at ranks ``r*rows//bins``.

    Parameters
    ----------
    value : float64, shape (n,)
    weight : int64, shape (n,)

    Returns
    -------
    float64, shape (bins-1,); empty without rows

    Examples
    --------
    >>> weighted_ranks(np.array([0.3, 0.1, 0.2]), np.array([1, 2, 1]), 2).tolist()
    [0.2]
    """
    order = np.argsort(value, kind="stable")
    below = np.cumsum(weight[order])
    if not len(below) or not below[-1]:
        return np.empty(0)
    edges: Floats = value[order][np.searchsorted(below, equal_ranks(int(below[-1]), bins), side="right")]
    return edges


def cells_of(probability: Matrix, weight: Ints, bins: int) -> tuple[Ints, int]:
    """Return the cell of each row, and the number of cells.

    Two classes: bins of equal weight of the second one's probability. More classes: the most probable one,
    each in two halves by its probability.

    Parameters
    ----------
    probability : float64, shape (n, C)
        Of source and target together, since edges are those of all rows.
    weight : int64, shape (n,)
    bins
        Bins for two classes.
    """
    classes = probability.shape[1]
    if classes == 2:
        score = probability[:, 1]
        return bin_of(score, weighted_ranks(score, weight, bins)), bins
    largest, predicted = most_probable(list(probability.T))
    cell = 2 * predicted
    for class_index in range(classes):
        rows = np.flatnonzero(predicted == class_index)
        cell[rows] += bin_of(largest[rows], weighted_ranks(largest[rows], weight[rows], 2))
    return cell, 2 * classes


@dataclass(frozen=True, kw_only=True)
class UnitRows:
    """Rows of source or target.

    Attributes
    ----------
    probability : float64, shape (n, C)
    label, unit, weight : int64, shape (n,)
        Labels are 0 for the target. ``unit`` is the day or cluster of each row, 0 if rows are independent.
    """

    probability: Matrix
    label: Ints
    unit: Ints
    weight: Ints

    def counts(self, cell: Ints, cells: int, classes: int) -> UnitCounts:
        """Count the rows by unit, label and cell, equal ones together."""
        present = np.flatnonzero(self.weight)
        key = (self.unit[present] * classes + self.label[present]) * cells + cell[present]
        distinct, inverse = np.unique(key, return_inverse=True)
        count = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(count, inverse, self.weight[present])
        return UnitCounts(
            unit=distinct // (classes * cells),
            class_index=distinct // cells % classes,
            cell=distinct % cells,
            count=count,
            shape=(len(np.unique(self.unit[present])), classes, cells),
        )


def mixture_of(source: UnitRows, target: UnitRows, *, by_unit: bool) -> MixtureTest:
    """Test whether the target rows are a mixture of the classes of the source rows.

    Parameters
    ----------
    by_unit
        Whether rows of a unit depend on each other.
    """
    classes = source.probability.shape[1]
    probability = np.concatenate([source.probability, target.probability])
    weight = np.concatenate([source.weight, target.weight])
    cell, cells = cells_of(probability, weight, UNIT_BINS if by_unit else ROW_BINS)
    first = len(source.label)
    return mixture_test(
        source.counts(cell[:first], cells, classes), target.counts(cell[first:], cells, 1), by_unit=by_unit
    )

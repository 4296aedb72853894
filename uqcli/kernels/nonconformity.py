"""Non-conformity scores by cumulated probability, and the sets of labels below a threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.counts import Bools, Floats, Ints
from uqcli.kernels.compile import kernel

Matrix = NDArray[np.float64]


def true_label_scores(probability: Matrix, label: Ints, uniform: Floats) -> Floats:
    """Score of each row's own label: the mass of likelier classes and ``uniform`` of its own, at most 1.

    Parameters
    ----------
    probability : float64, shape (n, C)
    label : int64, shape (n,)
    uniform : float64, shape (n,)
        1 without randomisation.

    Returns
    -------
    float64, shape (n,)
    """
    result = np.empty(len(label))
    _true_scores.run(4 * probability.size, np.ascontiguousarray(probability), label, uniform, result)
    return result


@kernel
def _true_scores(probability: Matrix, label: Ints, uniform: Floats, result: Floats) -> None:
    """Fill the scores: likelier classes are added from the largest probability down."""
    rows, classes = probability.shape
    for i in range(rows):
        own = probability[i, label[i]]
        mass = 0.0
        last = np.inf
        while True:
            largest = own
            times = 0
            for j in range(classes):
                value = probability[i, j]
                if value < last and value > largest:
                    largest = value
                    times = 1
                elif value == largest and value > own:
                    times += 1
            if largest == own:
                break
            for _ in range(times):
                mass += largest
            last = largest
        score = mass + uniform[i] * own
        result[i] = min(1.0, score)


def sets_below(probability: Matrix, threshold: Matrix, uniform: Floats) -> NDArray[np.bool_]:
    """Which labels of each row have a score up to their threshold.

    Parameters
    ----------
    probability : float64, shape (n, C)
    threshold : float64, shape (n, C) or (1, C)
        In [0, 1].
    uniform : float64, shape (n,)

    Returns
    -------
    bool, shape (n, C)
    """
    inside = np.zeros(probability.shape, dtype=np.bool_)
    work = 4 * probability.size
    _sets.run(work, np.ascontiguousarray(probability), np.ascontiguousarray(threshold), uniform, inside)
    return inside


@kernel
def _sets(probability: Matrix, threshold: Matrix, uniform: Floats, inside: Bools) -> None:
    """Fill the sets, class by class from the largest probability down."""
    rows, classes = probability.shape
    lines = len(threshold)
    for i in range(rows):
        line = i if lines == rows else 0
        top = -1.0  # no score above it is in the set, but for classes that always are
        for j in range(classes):
            if threshold[line, j] >= 1.0:
                inside[i, j] = True
            elif threshold[line, j] > top:
                top = threshold[line, j]
        mass = 0.0
        last = np.inf
        while min(mass, 1.0) <= top:
            largest = -1.0
            times = 0
            for j in range(classes):
                value = probability[i, j]
                if value < last and value > largest:
                    largest = value
                    times = 1
                elif value == largest:
                    times += 1
            if largest < 0.0:
                break
            score = min(1.0, mass + uniform[i] * largest)
            for j in range(classes):
                if probability[i, j] == largest and score <= threshold[line, j]:
                    inside[i, j] = True
            for _ in range(times):
                mass += largest
            last = largest

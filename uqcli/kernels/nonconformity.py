"""Cumulative-probability non-conformity scores (APS), and the prediction sets below a threshold."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, Matrix
from uqcli.kernels.compile import kernel

_SCORE_STEPS, _SET_STEPS = 5, 16
"""Estimated cost per probability in Python, in steps of ``Kernel.run``: matrices are slow to index."""


def true_label_scores(probability: Matrix, label: Ints, uniform: Floats) -> Floats:
    """Score each row's label: mass of more probable classes plus ``uniform`` times its own, at most 1.

    Probabilities have shape (n, C); the uniform numbers are 1 without randomisation.
    """
    result = np.empty(len(label))
    fill_true_label_scores.run(
        _SCORE_STEPS * probability.size,
        np.ascontiguousarray(probability),
        label,
        uniform,
        result,
        np.empty(probability.shape[1]),
    )
    return result


@kernel
def fill_true_label_scores(
    probability: Matrix, label: Ints, uniform: Floats, result: Floats, likelier: Floats
) -> None:
    """Fill the scores; the masses of more probable classes are added in descending order (Shell's sort)."""
    rows, classes = probability.shape
    for i in range(rows):
        own = probability[i, label[i]]
        count = 0
        for j in range(classes):
            if probability[i, j] > own:
                likelier[count] = probability[i, j]
                count += 1
        gap = count
        while gap > 1:
            gap = 1 if gap < 16 else gap * 4 // 9
            for j in range(gap, count):
                value = likelier[j]
                position = j
                while position >= gap and likelier[position - gap] > value:
                    likelier[position] = likelier[position - gap]
                    position -= gap
                likelier[position] = value
        mass = 0.0
        for position in range(count - 1, -1, -1):
            mass += likelier[position]
        score = mass + uniform[i] * own
        result[i] = min(1.0, score)


def sets_below(probability: Matrix, threshold: Matrix, uniform: Floats) -> Bools:
    """Return the prediction set of each row, shape (n, C): the labels whose score is at most their threshold.

    Thresholds are in [0, 1], and of shape (n, C) or (1, C).
    """
    inside = np.zeros(probability.shape, dtype=np.bool_)
    fill_sets.run(
        _SET_STEPS * probability.size,
        np.ascontiguousarray(probability),
        np.ascontiguousarray(threshold),
        uniform,
        inside,
        np.empty(probability.shape[1], dtype=np.int64),
    )
    return inside


@kernel
def fill_sets(
    probability: Matrix, threshold: Matrix, uniform: Floats, inside: Bools, descending: Ints
) -> None:
    """Fill the sets, class by class in descending order of probability (Shell's sort); ties share a score."""
    rows, classes = probability.shape
    threshold_rows = len(threshold)
    for i in range(rows):
        threshold_row = i if threshold_rows == rows else 0
        top = -1.0  # no higher score is in the set, except for classes that always are
        for j in range(classes):
            if threshold[threshold_row, j] >= 1.0:
                inside[i, j] = True
            elif threshold[threshold_row, j] > top:
                top = threshold[threshold_row, j]
        for j in range(classes):
            descending[j] = j
        gap = classes
        while gap > 1:
            gap = 1 if gap < 16 else gap * 4 // 9
            for j in range(gap, classes):
                label = descending[j]
                position = j
                while position >= gap and probability[i, descending[position - gap]] < probability[i, label]:
                    descending[position] = descending[position - gap]
                    position -= gap
                descending[position] = label
        mass = 0.0
        position = 0
        while position < classes and min(mass, 1.0) <= top:
            largest = probability[i, descending[position]]
            if largest < 0.0:  # rounding error of the model
                break
            score = min(1.0, mass + uniform[i] * largest)
            while position < classes and probability[i, descending[position]] == largest:
                if score <= threshold[threshold_row, descending[position]]:
                    inside[i, descending[position]] = True
                mass += largest
                position += 1

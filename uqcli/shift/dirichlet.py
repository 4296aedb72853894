"""Random draws of source and target data for intervals of class weights.

Drawing rows with replacement never yields a class or an error that the sample lacks by chance. Intervals from
it have far too little coverage if few rows of a class are expected. Shares are therefore drawn from Dirichlet
distributions with some mass on unseen outcomes. In the target this is half a row per class (Jeffreys). Among
the predictions of each label, and among the labels, it is one row in total (Perks). With many classes the
added mass therefore does not outweigh the data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints

Matrix = NDArray[np.float64]

UNSEEN_IN_TARGET = 0.5
"""Rows per class that are added to the target."""


def draw_shares(count: Ints, unseen: float, random: np.random.Generator) -> Floats:
    """Draw shares from a Dirichlet distribution.

    Parameters
    ----------
    count : int64, shape (C,)
    unseen
        Rows added to each count.
    """
    mass = random.standard_gamma(count + unseen)
    shares: Floats = mass / mass.sum()
    return shares


def draw_labels(count: Ints, random: np.random.Generator) -> Floats:
    """Draw class priors, with one row divided among the classes; shape (C,)."""
    return draw_shares(count, 1 / len(count), random)


def draw_confusion(joint: Ints, random: np.random.Generator) -> Matrix:
    """Draw the joint distribution of prediction and label.

    Parameters
    ----------
    joint : int64, shape (C, C)
        Rows by prediction and label.
    """
    size = len(joint)
    mass = random.standard_gamma(joint + 1 / size)
    confusion: Matrix = mass / mass.sum(axis=0) * draw_labels(joint.sum(axis=0), random)
    return confusion


def draw_mean_confusion(
    probability: Matrix, label: Ints, count: Ints, classes: int, random: np.random.Generator
) -> Matrix:
    """Draw the joint distribution if rows count for all classes in proportion to their probabilities (soft).

    Parameters
    ----------
    probability : float64, shape (m, C)
    label, count : int64, shape (m,)
    """
    weight = random.standard_gamma(count)
    mass = random.standard_gamma(1 / classes, (classes, classes))
    for class_index in range(classes):
        has_label = label == class_index
        mass[:, class_index] += np.einsum("ij,i->j", probability[has_label], weight[has_label])
    labels = np.bincount(label, count, classes).astype(np.int64)
    confusion: Matrix = mass / mass.sum(axis=0) * draw_labels(labels, random)
    return confusion

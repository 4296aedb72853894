"""What source and target might as well have been: the draws that intervals of class weights are made of.

Rows that are drawn with replacement never show a class, or an error, of which there was none by chance, and
their intervals hold far too seldom where few rows of a class are expected. Shares are therefore drawn from
Dirichlet laws with a little weight on what was not seen: half a row of each class in the target (Jeffreys), a
single row, divided evenly, among the predictions of each label and among the labels (Perks), so that many
classes do not drown what was seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.counts import Floats, Ints

Matrix = NDArray[np.float64]

UNSEEN_IN_TARGET = 0.5
"""Rows of each class that are added to the target."""


def drawn_shares(count: Ints, unseen: float, random: np.random.Generator) -> Floats:
    """Shares from a Dirichlet law.

    Parameters
    ----------
    count : int64, shape (C,)
    unseen
        Rows of each that are added.
    """
    mass = random.standard_gamma(count + unseen)
    shares: Floats = mass / mass.sum()
    return shares


def drawn_labels(count: Ints, random: np.random.Generator) -> Floats:
    """Shares of the labels, with one row divided among them; shape (C,)."""
    return drawn_shares(count, 1 / len(count), random)


def drawn_confusion(joint: Ints, random: np.random.Generator) -> Matrix:
    """The joint law of prediction and label.

    Parameters
    ----------
    joint : int64, shape (C, C)
        Rows by prediction and label.
    """
    size = len(joint)
    mass = random.standard_gamma(joint + 1 / size)
    confusion: Matrix = mass / mass.sum(axis=0) * drawn_labels(joint.sum(axis=0), random)
    return confusion


def drawn_mean_confusion(
    shares: Matrix, label: Ints, count: Ints, classes: int, random: np.random.Generator
) -> Matrix:
    """The same where each row is predicted as all classes in their shares.

    Parameters
    ----------
    shares : float64, shape (m, C)
    label, count : int64, shape (m,)
    """
    weight = random.standard_gamma(count)
    mass = random.standard_gamma(1 / classes, (classes, classes))
    for each in range(classes):
        of_label = label == each
        mass[:, each] += np.einsum("ij,i->j", shares[of_label], weight[of_label])
    labels = np.bincount(label, count, classes).astype(np.int64)
    confusion: Matrix = mass / mass.sum(axis=0) * drawn_labels(labels, random)
    return confusion

"""Class probabilities of checked rows, from columns per class or from one score."""

from __future__ import annotations

from typing import Final

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.base.errors import DataError, UsageError
from uqcli.base.rows import Rows
from uqcli.engines.request import PROBA, Roles
from uqcli.kernels.nonconformity import Matrix

BINARY: Final = ("0", "1")
"""Classes if a single score is the probability of the positive label."""


def classes_of(roles: Roles) -> tuple[str, ...]:
    """Return the classes, in order."""
    return tuple(roles.classes) or BINARY


def probabilities(rows: Rows, roles: Roles) -> Matrix:
    """Return the class probabilities of rows, shape (n, C).

    Raises
    ------
    DataError
        The single score is not a probability.
    """
    if roles.classes:
        return np.stack([rows.numbers[PROBA + name] for name in roles.classes], axis=1)
    score = rows.score
    usable = score if rows.valid is None else score[rows.valid]
    if len(usable):
        require_probabilities(usable, roles.numbers["score"])
    return np.stack([1 - score, score], axis=1)


def label_indices(rows: Rows) -> Ints:
    """Return the class index of each row's label."""
    return rows.labels.astype(np.int64) if rows.label_class is None else rows.label_class


_LEAST_PERCENT: Final = 20.0
"""Largest score from which scores of at most 100 may be percentages."""


def require_probabilities(score: Floats, column: str, remedy: str = "calibrate the scores first") -> None:
    """Refuse scores that are not probabilities.

    Raises
    ------
    DataError
        A score is below 0 or above 1.
    """
    if not len(score):
        return
    low, high = float(score.min()), float(score.max())
    if low >= 0 and _LEAST_PERCENT < high <= 100:
        remedy = "divide them by 100 if they are percentages"
    if low < 0 or high > 1:
        raise DataError(
            f"column '{column}' has scores from {low:g} to {high:g}",
            expected="probabilities between 0 and 1",
            remedy=remedy,
        )


def positions_of(rows: Rows) -> Ints:
    """Return the row positions, which key the random draws of single rows.

    Raises
    ------
    UsageError
        The engine gives no positions.
    """
    if rows.position is None:
        raise UsageError(
            "a cluster has no row order, which the random draws of aps need",
            expected="--engine polars, or --no-randomize",
        )
    return rows.position

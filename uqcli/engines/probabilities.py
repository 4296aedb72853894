"""Class probabilities of checked rows, from columns for each class or from one score."""

from __future__ import annotations

from typing import Final

import numpy as np

from uqcli.counts import Floats, Ints
from uqcli.engines.protocol import CheckedRows
from uqcli.engines.request import PROBA, Roles
from uqcli.errors import DataError
from uqcli.kernels.nonconformity import Matrix

BINARY: Final = ("0", "1")
"""Classes where one score is the probability of the positive label."""


def classes_of(roles: Roles) -> tuple[str, ...]:
    """The classes, in order."""
    return tuple(roles.classes) or BINARY


def probabilities(rows: CheckedRows, roles: Roles) -> Matrix:
    """Class probabilities of rows, shape (n, C).

    Raises
    ------
    DataError
        The one score is no probability.
    """
    if roles.classes:
        return np.stack([rows.numbers[PROBA + name] for name in roles.classes], axis=1)
    score = rows.numbers["score"]
    if rows.valid.any():
        require_probabilities(score[rows.valid], roles.numbers["score"])
    return np.stack([1 - score, score], axis=1)


def label_numbers(rows: CheckedRows) -> Ints | None:
    """Class number of each label; None where labels were not asked for."""
    if rows.label_class is not None:
        return rows.label_class
    return None if rows.positive is None else rows.positive.astype(np.int64)


def require_probabilities(score: Floats, column: str, remedy: str = "calibrate the scores first") -> None:
    """Refuse scores that are no probabilities.

    Raises
    ------
    DataError
        A score below 0 or above 1.
    """
    low, high = float(score.min()), float(score.max())
    if low < 0 or high > 1:
        raise DataError(
            f"column '{column}' holds scores from {low:g} to {high:g}",
            expected="probabilities between 0 and 1",
            remedy=remedy,
        )

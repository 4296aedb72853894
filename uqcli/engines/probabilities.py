"""Classes and their labels, class probabilities of checked rows, and predicted classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, Matrix, texts_by_level
from uqcli.base.errors import DataError, UsageError, Words, words
from uqcli.base.rows import Rows
from uqcli.engines.request import PREDICTED, PROBA, Roles

SUM_TOLERANCE: Final = 1e-3
"""Tolerance of the sum of class probabilities from 1."""

ROUNDING_TOLERANCE: Final = 1e-6
"""Tolerance of a probability outside [0, 1], for 32-bit softmax."""


def class_spellings(classes: Sequence[str]) -> tuple[dict[str, int], bool]:
    """Return the class index of each accepted text, and whether texts are compared in lower case.

    0 and 1, or false and true, accept each other's spellings.
    """
    index_by_text = {name: index for index, name in enumerate(classes)}
    index_by_spelling = {_other_spelling(name): index for name, index in index_by_text.items()}
    truths = {"false": 0, "0": 0, "true": 1, "1": 1}
    is_binary = {truths.get(name.lower()) for name in classes} == {0, 1} and len(classes) == 2
    if is_binary:
        index_by_text = {
            spelling: int(truths[classes[1].lower()] == truth) for spelling, truth in truths.items()
        }
    return index_by_spelling | index_by_text, is_binary


def positive_spellings(positive: str) -> tuple[tuple[str, ...], bool]:
    """Return the accepted texts of the positive label, and whether texts are compared in lower case.

    The texts are those that name the same group or part.

    Examples
    --------
    >>> positive_spellings("2"), positive_spellings("True")
    ((('2', '2.0'), False), (('true',), True))
    """
    is_truth = positive.lower() in {"true", "false"}
    name = positive.lower() if is_truth else positive
    return texts_by_level((name,))[name], is_truth


def class_advice(classes: Sequence[str]) -> tuple[str, Words]:
    """Return what is expected of a label that is no class, and the remedy."""
    names = list(classes)[:12]
    expected = f"one of the classes {', '.join(names)}{' ...' if len(names) > 11 else ''}"
    return expected, words("check --label, or name the classes with --classes")


PROBABILITY_ADVICE: Final = "probabilities between 0 and 1", words("check --proba")
"""What is expected of the columns of classes, and the remedy."""


def is_no_probability(value: Any) -> Any:
    """Whether a class probability is outside [0, 1] by more than rounding, for numpy and for Spark."""
    return (value < -ROUNDING_TOLERANCE) | (value > 1 + ROUNDING_TOLERANCE)


def _other_spelling(name: str) -> str:
    """Add or remove the ".0" that reading a number as float adds: 3 and 3.0."""
    return name[:-2] if name.endswith(".0") else f"{name}.0"


BINARY: Final = ("0", "1")
"""Classes if a single score is the probability of the positive label."""


def classes_of(roles: Roles) -> tuple[str, ...]:
    """Return the classes, in order."""
    return tuple(roles.classes) or BINARY


def probabilities(rows: Rows, roles: Roles) -> Matrix:
    """Return the class probabilities of rows, shape (n, C); a single score must be a probability."""
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


def require_probabilities(score: Floats, column: str, remedy: Words = "calibrate the scores first") -> None:
    """Refuse scores that are not probabilities: below 0 or above 1."""
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
    """Return the row positions, which key the random draws of single rows; refuse engines that give none."""
    if rows.position is None:
        raise UsageError(
            "a cluster has no row order, which the random draws of aps need",
            expected=words("--engine polars, or --no-randomize"),
        )
    return rows.position


def most_probable(probabilities: Sequence[Floats]) -> tuple[Floats, Ints]:
    """Return the largest probability of each row, and the first class that has it.

    There is one array of shape (n,) for each class, in class order. Arrays of 32 bits are compared exactly
    with others; the largest have 32 bits if all arrays have.

    Examples
    --------
    >>> largest, class_index = most_probable([np.array([0.2, 0.5]), np.array([0.8, 0.5])])
    >>> largest.tolist(), class_index.tolist()
    ([0.8, 0.5], [1, 0])
    """
    largest, class_index = probabilities[0], np.zeros(len(probabilities[0]), dtype=np.int64)
    for index, probability in enumerate(probabilities[1:], start=1):
        is_larger = probability > largest
        class_index[is_larger] = index
        largest = np.maximum(largest, probability)
    return largest, class_index


def predictions(rows: Rows, roles: Roles) -> Rows:
    """Convert rows of class probabilities to predictions (see ``Roles.predicted``); a label is optional."""
    score, class_index = most_probable([rows.numbers[PROBA + name] for name in roles.classes])
    return replace(
        rows,
        numbers={"score": score, **{role: rows.numbers[role] for role in roles.numbers}},
        positive=None if rows.label_class is None else rows.label_class == class_index,
        label_class=None,
        groups={**rows.groups, PREDICTED: class_index},
    )


def outside(rows: Rows, roles: Roles, ranges: Mapping[str, tuple[float, float]]) -> Bools:
    """Return which rows have a number outside its closed range, by role; undefined for unusable rows.

    The score of class probabilities is the largest, unless rows are predictions already.
    """
    is_outside = np.zeros(len(rows), dtype=np.bool_)
    for role, (low, high) in ranges.items():
        if role in rows.numbers:
            value = rows.numbers[role]
        else:
            value, _ = most_probable([rows.numbers[PROBA + name] for name in roles.classes])
        is_outside |= (value < low) | (value > high)
    return is_outside


def levels_of(roles: Roles) -> dict[str, int]:
    """Return the group index of each predicted class."""
    return {name: index for index, name in enumerate(roles.classes)}

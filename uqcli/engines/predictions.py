"""Rows of class probabilities as predictions of the most probable class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.rows import Rows
from uqcli.engines.request import PREDICTED, PROBA, Roles


def most_probable(probabilities: Sequence[Floats]) -> tuple[Floats, Ints]:
    """Return the largest probability of each row, and the first class that has it.

    Parameters
    ----------
    probabilities : shape (n,) each
        One array for each class, in class order. Arrays of 32 bits are compared exactly with others.

    Returns
    -------
    largest : shape (n,)
        With 32 bits if all arrays have 32 bits.
    class_index : int64, shape (n,)

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
    """Return which rows have a number outside its closed range; undefined for unusable rows.

    Parameters
    ----------
    ranges
        By role; the score of class probabilities is the largest, unless rows are predictions already.
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

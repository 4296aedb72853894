"""Accepted spellings of class labels, and tolerances of class probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uqcli.base.counts import texts_by_level

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


def expected_classes(classes: Sequence[str]) -> str:
    """Format the expected classes for an error about a label."""
    names = list(classes)[:12]
    return f"one of the classes {', '.join(names)}{' ...' if len(names) > 11 else ''}"


def _other_spelling(name: str) -> str:
    """Add or remove the ".0" that reading a number as float adds: 3 and 3.0."""
    return name[:-2] if name.endswith(".0") else f"{name}.0"

"""Accepted spellings of class labels, and tolerances of class probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uqcli.base.counts import texts_by_level
from uqcli.base.records import dataclass

SUM_TOLERANCE = 1e-3
"""Tolerance of the sum of class probabilities from 1."""

ROUNDING_TOLERANCE = 1e-6
"""Tolerance of a probability outside [0, 1], for 32-bit softmax."""


@dataclass(frozen=True, kw_only=True)
class Spellings:
    """Accepted label texts.

    Attributes
    ----------
    index_by_text
        Class index by text.
    ignores_case
        Whether texts are compared in lower case.
    """

    index_by_text: Mapping[str, int]
    ignores_case: bool


def class_spellings(classes: Sequence[str]) -> Spellings:
    """Return the accepted texts of classes; 0 and 1, or false and true, accept each other's spellings."""
    index_by_text = {name: index for index, name in enumerate(classes)}
    index_by_spelling = {_other_spelling(name): index for name, index in index_by_text.items()}
    truths = {"false": 0, "0": 0, "true": 1, "1": 1}
    is_binary = {truths.get(name.lower()) for name in classes} == {0, 1} and len(classes) == 2
    if is_binary:
        index_by_text = {
            spelling: int(truths[classes[1].lower()] == truth) for spelling, truth in truths.items()
        }
    return Spellings(index_by_text=index_by_spelling | index_by_text, ignores_case=is_binary)


def positive_spellings(positive: str) -> Spellings:
    """Return the accepted texts of the positive label, those that name the same group or part.

    Examples
    --------
    >>> list(positive_spellings("2").index_by_text), positive_spellings("True").ignores_case
    (['2', '2.0'], True)
    """
    is_truth = positive.lower() in {"true", "false"}
    name = positive.lower() if is_truth else positive
    return Spellings(index_by_text=dict.fromkeys(texts_by_level((name,))[name], 1), ignores_case=is_truth)


def expected_classes(classes: Sequence[str]) -> str:
    """Format the expected classes for an error about a label."""
    names = list(classes)[:12]
    return f"one of the classes {', '.join(names)}{' ...' if len(names) > 11 else ''}"


def _other_spelling(name: str) -> str:
    """Add or remove the ".0" that reading a number as float adds: 3 and 3.0."""
    return name[:-2] if name.endswith(".0") else f"{name}.0"

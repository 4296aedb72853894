"""How the labels of classes may be spelled, and how far probabilities may be off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may add up to."""

ROUNDING = 1e-6
"""How far outside [0, 1] a probability may be, as 32-bit softmax gives it."""


@dataclass(frozen=True, kw_only=True)
class Spellings:
    """Texts of labels.

    Attributes
    ----------
    of_text
        Text to the number of its class.
    folded
        Whether texts are looked up in lower case.
    """

    of_text: Mapping[str, int]
    folded: bool


def class_spellings(classes: Sequence[str]) -> Spellings:
    """The texts that name each class; two classes that are 0 and 1, or false and true, have all of them."""
    of_text = {name: number for number, name in enumerate(classes)}
    spelled = {_other_spelling(name): number for name, number in of_text.items()}
    truths = {"false": 0, "0": 0, "true": 1, "1": 1}
    folded = {truths.get(name.lower()) for name in classes} == {0, 1} and len(classes) == 2
    if folded:
        of_text = {each: int(truths[classes[1].lower()] == truth) for each, truth in truths.items()}
    return Spellings(of_text=spelled | of_text, folded=folded)


def expected_classes(classes: Sequence[str]) -> str:
    """What a message says of a label that is none of them."""
    shown = list(classes)[:12]
    return f"one of the classes {', '.join(shown)}{' ...' if len(shown) > 11 else ''}"


def _other_spelling(name: str) -> str:
    """A number with or without the fraction that reading it as float adds: 3 and 3.0."""
    return name[:-2] if name.endswith(".0") else f"{name}.0"

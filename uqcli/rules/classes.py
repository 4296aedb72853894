"""Checks shared by the kinds of rules that have classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uqcli.engines.probabilities import BINARY
from uqcli.engines.request import PROBA

_LARGEST_WEIGHT = 1e100


def are_weights(weights: Sequence[float]) -> bool:
    """Whether the values can be class weights: finite, non-negative and not all 0."""
    return all(0 <= weight < _LARGEST_WEIGHT for weight in weights) and any(weights)


def columns_of_classes(columns: Mapping[str, str], classes: Sequence[str]) -> str | None:
    """Describe a contradiction in the columns, by role, of class probabilities; None if there is none."""
    if "score" in columns:
        return None if tuple(classes) == BINARY else "its classes are not those of one score"
    missing = [name for name in classes if f"{PROBA}{name}" not in columns]
    return f"it does not name the column of class '{missing[0]}'" if missing else None

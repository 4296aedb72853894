"""What kinds that speak of classes have to hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uqcli.engines.probabilities import BINARY
from uqcli.engines.request import PROBA

_LARGEST_WEIGHT = 1e100


def are_weights(weights: Sequence[float]) -> bool:
    """Whether these can be class weights: finite and not all 0."""
    return all(0 <= each < _LARGEST_WEIGHT for each in weights) and any(weights)


def columns_of_classes(columns: Mapping[str, str], classes: Sequence[str]) -> str | None:
    """What is wrong with columns, by role, that are to hold probabilities of classes; None if nothing is."""
    if "score" in columns:
        return None if tuple(classes) == BINARY else "its classes are not those of one score"
    missing = [name for name in classes if f"{PROBA}{name}" not in columns]
    return f"it does not name the column of class '{missing[0]}'" if missing else None

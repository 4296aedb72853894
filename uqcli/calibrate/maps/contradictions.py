"""Check the numbers of saved maps, and describe the first contradiction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_MAX_MAGNITUDE = 1e100
"""Magnitude beyond which computations with coefficients could overflow."""


def first(sentences: Iterable[str | None]) -> str | None:
    """Find the first contradiction, or None."""
    return next((sentence for sentence in sentences if sentence is not None), None)


def finite(numbers: Sequence[float]) -> bool:
    """Whether all numbers are finite and cannot overflow."""
    return all(abs(number) < _MAX_MAGNITUDE for number in numbers)


def not_ascending(numbers: Sequence[float], name: str) -> str | None:
    """Return the contradiction if numbers are not finite and ascending, else None."""
    fine = all(map(math.isfinite, numbers)) and list(numbers) == sorted(numbers)
    return None if fine else f"its {name} are not finite and ascending"


def not_probabilities(numbers: Sequence[float]) -> str | None:
    """Return the contradiction if numbers are not probabilities, else None."""
    return None if all(0 <= number <= 1 for number in numbers) else "a rate is no probability"

"""What numbers of saved maps must be, as the contradiction they would be otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_LARGEST = 1e100
"""Coefficients and edges beyond would overflow."""


def first(found: Iterable[str | None]) -> str | None:
    """The first contradiction, or None."""
    return next((each for each in found if each is not None), None)


def finite(numbers: Sequence[float]) -> bool:
    """Whether all numbers can be reckoned with."""
    return all(abs(number) < _LARGEST for number in numbers)


def not_ascending(numbers: Sequence[float], name: str) -> str | None:
    """Numbers with a name that should ascend."""
    fine = finite(numbers) and list(numbers) == sorted(numbers)
    return None if fine else f"its {name} are not finite and ascending"


def not_probabilities(numbers: Sequence[float]) -> str | None:
    """Numbers that should be probabilities."""
    return None if all(0 <= number <= 1 for number in numbers) else "a rate is no probability"

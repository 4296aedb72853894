"""A published value among values of many seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Values over seeds, and where one more lies.

    Attributes
    ----------
    place
        Share of the seeds below the published value, equal ones counted half.
    inside
        Whether it lies between the lowest and the highest.
    """

    low: float
    median: float
    high: float
    place: float
    inside: bool


def spread(values: Sequence[float], published: float, digits: int) -> Spread:
    """Place a value printed with so many decimals; ours are rounded alike first.

    Parameters
    ----------
    values
        One a seed, at least one.
    """
    rounded = sorted(round(value, digits) for value in values)
    below = sum(value < published for value in rounded)
    equal = sum(value == published for value in rounded)
    return Spread(
        low=rounded[0],
        median=round(statistics.median(rounded), digits),
        high=rounded[-1],
        place=(below + equal / 2) / len(rounded),
        inside=rounded[0] <= published <= rounded[-1],
    )

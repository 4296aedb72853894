"""Compares a published value with the values of many seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Range of the values over seeds.

    Attributes
    ----------
    inside
        Whether the published value is in the range of the seeds.
    """

    low: float
    median: float
    high: float
    inside: bool


def spread(values: Sequence[float], published: float, digits: int) -> Spread:
    """Compare a published value with ours, rounded to the same number of decimals.

    Parameters
    ----------
    values
        One value per seed, at least one.
    """
    rounded = sorted(round(value, digits) for value in values)
    return Spread(
        low=rounded[0],
        median=round(statistics.median(rounded), digits),
        high=rounded[-1],
        inside=rounded[0] <= published <= rounded[-1],
    )

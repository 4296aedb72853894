"""Compares a published value with the values of many seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Range of the values over seeds, and the rank of the published value.

    Attributes
    ----------
    share_below
        Share of the seeds below the published value; equal values count half.
    inside
        Whether the published value is in the range of the seeds.
    """

    low: float
    median: float
    high: float
    share_below: float
    inside: bool


def spread(values: Sequence[float], published: float, digits: int) -> Spread:
    """Rank a published value among our values, rounded to the same number of decimals.

    Parameters
    ----------
    values
        One value per seed, at least one.
    """
    rounded = sorted(round(value, digits) for value in values)
    below = sum(value < published for value in rounded)
    equal = sum(value == published for value in rounded)
    return Spread(
        low=rounded[0],
        median=round(statistics.median(rounded), digits),
        high=rounded[-1],
        share_below=(below + equal / 2) / len(rounded),
        inside=rounded[0] <= published <= rounded[-1],
    )

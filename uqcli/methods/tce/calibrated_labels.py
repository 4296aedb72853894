"""Labels drawn from the scores themselves: what a measure comes to where the probabilities are right.

Errors that cannot be negative are lifted by noise, so that no resampling of the rows gives an interval that
holds them. Their law under perfect calibration is known, though: every label is drawn from its own score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uqcli.counts import Ints, ValueCounts


def draw_positives(counts: ValueCounts, random: np.random.Generator) -> ValueCounts:
    """The same scores with labels drawn from them; each of a row's weight is a row of its own."""
    positives: Ints = random.binomial(counts.count, counts.value)
    return ValueCounts(value=counts.value, count=counts.count, positives=positives)


@dataclass(frozen=True, kw_only=True)
class IfCalibrated:
    """What a measure comes to where the probabilities are right.

    Attributes
    ----------
    mean, high
        Mean and 95th percentile.
    p_value
        How often it is at least what was measured, ``(1 + #) / (draws + 1)``.
    """

    mean: float
    high: float
    p_value: float


def compare_with_draws(value: float | None, drawn: Sequence[float]) -> IfCalibrated:
    """Hold a measured value, 0 if undefined, against drawn ones, of which there is at least one."""
    ordered = sorted(drawn)
    at = min(len(ordered), math.ceil(0.95 * (len(ordered) + 1) - 1e-9)) - 1
    return IfCalibrated(
        mean=math.fsum(ordered) / len(ordered),
        high=ordered[at],
        p_value=(1 + sum(each >= (value or 0.0) for each in ordered)) / (len(ordered) + 1),
    )

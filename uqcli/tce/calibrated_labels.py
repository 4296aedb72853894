"""Null distributions under perfect calibration, from labels drawn from the scores.

Noise inflates errors that cannot be negative, so no bootstrap interval covers them. Their distribution under
perfect calibration is known, however: every label is drawn from its own score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Ints, ValueCounts
from uqcli.base.records import dataclass


def draw_positives(counts: ValueCounts, random: np.random.Generator) -> ValueCounts:
    """Draw labels from the scores; a row of weight w counts as w rows."""
    positives: Ints = random.binomial(counts.count, counts.value)
    return ValueCounts(value=counts.value, count=counts.count, positives=positives)


@dataclass(frozen=True, kw_only=True)
class NullDistribution:
    """Distribution of a metric under perfect calibration.

    Attributes
    ----------
    mean, high
        Mean and 95th percentile.
    p_value
        Share of draws at or above the measured value, ``(1 + #) / (draws + 1)``.
    least_p
        Least share that so many draws allow.
    """

    mean: float
    high: float
    p_value: float
    least_p: float

    @property
    def p_is_least(self) -> bool:
        """Whether the p-value is the least one."""
        return self.p_value <= self.least_p


def compare_with_draws(value: float | None, draws: Sequence[float]) -> NullDistribution:
    """Compare a measured value, 0 if undefined, with at least one draw."""
    ordered = sorted(draws)
    index = min(len(ordered), math.ceil(0.95 * (len(ordered) + 1) - 1e-9)) - 1
    return NullDistribution(
        mean=math.fsum(ordered) / len(ordered),
        high=ordered[index],
        p_value=(1 + sum(draw >= (value or 0.0) for draw in ordered)) / (len(ordered) + 1),
        least_p=1 / (len(ordered) + 1),
    )

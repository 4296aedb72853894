"""Confidence intervals of proportions."""

from __future__ import annotations

import math
from typing import Final

from uqcli.estimates.estimate import Estimate

POWER: Final = 0.8
"""Probability with which a detectable rate or deviation is detected."""


def clopper_pearson(successes: float, trials: float, confidence: float) -> tuple[float, float]:
    """Compute the exact two-sided binomial confidence interval (Clopper and Pearson 1934).

    Parameters
    ----------
    successes, trials
        With ``0 <= successes <= trials``; zero trials give (0, 1). Effective numbers may be fractions.
    confidence
        In (0, 1).

    Examples
    --------
    >>> clopper_pearson(0, 0, 0.95)
    (0.0, 1.0)
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    failures = trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def proportion_estimate(successes: int, trials: int, confidence: float) -> Estimate:
    """Return a proportion with its exact interval; the value is None without trials."""
    low, high = clopper_pearson(successes, trials, confidence)
    return Estimate(value=successes / trials if trials else None, low=low, high=high)


def wilson(share: float, trials: float, z: float) -> tuple[float, float]:
    """Compute the score interval of a proportion (Wilson 1927).

    Parameters
    ----------
    share
        From 0 to 1.
    trials
        Above 0; effective numbers may be fractions.
    z
        Half the width of the interval in standard errors.

    Examples
    --------
    >>> low, high = wilson(0.5, 100, 1.645)
    >>> round(low, 3), round(high, 3)
    (0.419, 0.581)
    """
    denominator = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / denominator
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / denominator
    return max(0.0, centre - half), min(1.0, centre + half)

"""Confidence intervals of proportions, and exact tests of a bound on the proportion of each group.

P-values of several groups are adjusted together (Holm).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final, TypeVar

from uqcli.base.records import dataclass
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


@dataclass(frozen=True, kw_only=True)
class BoundedRate:
    """Successes of a group, whose rate must be at least the bound, or at most if ``upper``.

    Attributes
    ----------
    tail
        Where rows do not count alike, what takes the place of the exact test: the p-value of a rate with few
        successes (or many, if ``upper``), None if there are too few of them.
    """

    successes: int
    trials: int
    bound: Fraction
    upper: bool = False
    tail: tuple[float | None] | None = None

    def p_value(self) -> float | None:
        """Return the exact one-sided p-value that the rate breaks the bound; None without trials."""
        from scipy.special import bdtr

        if self.tail is not None:
            return self.tail[0]
        if not self.trials:
            return None
        if self.upper:  # as many failures or fewer at the complementary rate
            return float(bdtr(float(self.trials - self.successes), self.trials, float(1 - self.bound)))
        return float(bdtr(float(self.successes), self.trials, float(self.bound)))

    def detectable(self, level: float) -> float | None:
        """Return the rate nearest to the bound that the test of a level detects with probability POWER.

        None if no rate is detected, or if rows do not count alike.
        """
        from scipy.special import bdtr, bdtri
        from scipy.stats import binom

        bound = float(1 - self.bound if self.upper else self.bound)
        if not self.trials or self.tail is not None:
            return None
        most = int(binom.ppf(level, self.trials, bound))
        while most >= 0 and bdtr(float(most), self.trials, bound) > level:
            most -= 1
        if most < 0:
            return None
        rate = 0.0 if most == self.trials else float(bdtri(float(most), self.trials, POWER))
        return 1 - rate if self.upper else rate


Name = TypeVar("Name", str, int)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-values for the family-wise error rate (Holm 1979).

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04})
    {'a': 0.02, 'b': 0.04}
    """
    adjusted: dict[Name, float] = {}
    highest = 0.0
    for index, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        highest = max(highest, min(1.0, (len(p_values) - index) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}

"""Exact tests of a bound on the rates of groups, and the adjustment of many p-values (Holm)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from uqcli.base.records import dataclass
from uqcli.estimates.proportion import POWER


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

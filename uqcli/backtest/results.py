"""What a walk through a history found."""

from __future__ import annotations

from collections.abc import Sequence

from uqcli.backtest.judge import JudgedPolicy, Measure
from uqcli.backtest.periods import Calendar
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Mean difference of the rates of two policies over their common periods, the second less the first.

    ``p_signs`` is the p-value of the sign-flip test, and ``p_unchanged`` how often equal policies differ by
    so much in an unchanged world, since their rules were fitted on other days. Policies differ if both are
    small. ``p_adjusted`` is corrected for all comparisons.
    """

    first: JudgedPolicy
    second: JudgedPolicy
    periods: int
    difference: float
    p_signs: float
    p_unchanged: float
    p_adjusted: float = 1.0

    @property
    def p_value(self) -> float:
        """The larger p-value, since both hypotheses must be rejected."""
        return max(self.p_signs, self.p_unchanged)


@dataclass(frozen=True, kw_only=True)
class Aged:
    """Successes and trials of all rules in periods of an age; in the first period of a rule that is 1."""

    age: int
    rules: int
    successes: int
    trials: int

    @property
    def rate(self) -> float | None:
        """Their ratio."""
        return self.successes / self.trials if self.trials else None


@dataclass(frozen=True, kw_only=True)
class Trend:
    """Kendall's S of the rates of the first rule, its exact p-value, and its power under a small trend."""

    periods: int
    score: int
    p_value: float
    power: float


@dataclass(frozen=True, kw_only=True)
class Next:
    """Precision to expect in the next period of a rule fitted now, or the reason why there is no range.

    ``coverage`` is how often a range from so many differences covers the next precision.
    """

    reason: str = ""
    expected: float = 0.0
    low: float = 0.0
    high: float = 0.0
    coverage: float = 0.0
    periods: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """All that was found; ``every`` has the rows of each period, and ``trends`` one at most."""

    calendar: Calendar
    every: Sequence[int]
    measure: Measure
    policies: Sequence[JudgedPolicy]
    comparisons: Sequence[Comparison]
    ageing: Sequence[Aged]
    next: Next
    trends: Sequence[Trend]

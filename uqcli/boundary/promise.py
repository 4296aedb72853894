"""A promise of a rule: a rate of trials that succeed with at least some probability."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from uqcli.base.records import dataclass
from uqcli.boundary.search.constraint_kinds import PROMISED
from uqcli.estimates.dependence import UnitSums
from uqcli.rules.saved import promise_name

_OTHER_RATES: Final = {"miss": ("miss rate", "positives"), "coverage": ("coverage", "rows")}
"""Names of rates that no constraint bounds, and what they count."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A promised rate: one of a constraint that can be promised, miss or coverage.

    The bound is the least rate, or the largest one if ``is_upper``, and the origin says in words where it is
    from. It may be limited to a group or class. ``sides`` is 2 if half of the risk is spent on the bound
    itself, else 1. ``calibration`` is how its calibration rows depend on each other within days, or within
    clusters; None if unknown.
    """

    rate: str
    bound: Fraction
    origin: str
    group: str | None = None
    sides: int = 1
    calibration: UnitSums | None = None

    @property
    def name(self) -> str:
        """Name in metrics and reports."""
        return promise_name(self.rate, self.group)

    @property
    def is_upper(self) -> bool:
        """Whether the rate is at most its bound."""
        return self.rate == "miss" or (self.rate in PROMISED and PROMISED[self.rate].is_upper)

    @property
    def least_success(self) -> Fraction:
        """Least probability of a success, which for an upper bound is that there is no such event."""
        return 1 - self.bound if self.is_upper else self.bound

    @property
    def trials(self) -> str:
        """What it counts, in words."""
        return PROMISED[self.rate].trials if self.rate in PROMISED else _OTHER_RATES[self.rate][1]

    def text(self) -> str:
        """Describe it."""
        where = "" if self.group is None else f" in {self.group}"
        name = PROMISED[self.rate].name if self.rate in PROMISED else _OTHER_RATES[self.rate][0]
        return f"{name} {'<=' if self.is_upper else '>='} {self.bound_in_words}{where}"

    @property
    def bound_in_words(self) -> str:
        """The bound in percent, with the digits of a typed one and at most four of another."""
        return f"{float(100 * self.bound):.4g} %"

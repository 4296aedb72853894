"""A metric with its confidence interval."""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Final

from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import percent_in_range


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A metric with its confidence interval.

    The value is None if undefined (0/0); the ends are None if no valid interval exists. ``reason`` says why
    there is none, if that is more than 0/0, or why the interval is unreliable. A difference may have the
    p-value of its two-sided test, and what is resampled its standard error. That has few degrees of freedom
    where a few clusters may decide it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = field(default="", compare=False)
    p_value: float | None = field(default=None, repr=False)
    error: float | None = field(default=None, repr=False)
    freedom: float = field(default=math.inf, compare=False, repr=False)

    @property
    def ends(self) -> tuple[float, float] | tuple[()]:
        """Both ends of the interval; empty without them."""
        return () if self.low is None or self.high is None else (self.low, self.high)

    @property
    def width(self) -> float:
        """Width of its interval; infinite if there is none."""
        low, high = self.ends or (-math.inf, math.inf)
        return high - low

    def times(self, scale: float) -> Estimate:
        """Multiply the value and its interval.

        Examples
        --------
        >>> Estimate(value=0.5, low=0.25).times(4)
        Estimate(value=2.0, low=1.0, high=None, reason='')
        """
        value, low, high = (
            None if number is None else scale * number for number in (self.value, self.low, self.high)
        )
        return replace(self, value=value, low=low, high=high)

    def complement(self) -> Estimate:
        """Subtract a rate and its interval from 1.

        Examples
        --------
        >>> Estimate(value=0.25, low=0.125).complement()
        Estimate(value=0.75, low=None, high=0.875, reason='')
        """
        value, low, high = (
            None if number is None else 1 - number for number in (self.value, self.high, self.low)
        )
        return replace(self, value=value, low=low, high=high)


UNKNOWN: Final = Estimate(value=None)
"""A rate without enough labels."""


def money_change(estimate: Estimate) -> str:
    """Format a change of an amount, with its interval if it has one.

    Examples
    --------
    >>> money_change(Estimate(value=12.0, low=-3.0, high=27.5))
    '+12.00 [-3.00, +27.50]'
    """
    if estimate.value is None:
        return "-"
    return f"{estimate.value:+,.2f}{ends_of(estimate, '+,.2f')}"


def direction(estimate: Estimate) -> str:
    """Return "higher" or "lower" if the interval excludes 0, else an empty text."""
    low, high = estimate.ends or (0.0, 0.0)
    return "" if low <= 0 <= high else "higher" if low > 0 else "lower"


def interval(estimate: Estimate) -> str:
    """Format a rate with its interval.

    Examples
    --------
    >>> interval(Estimate(value=0.5, low=0.25, high=0.75))
    '50 % [25, 75]'
    """
    return percent_in_range(estimate.value, estimate.low, estimate.high)


FEWEST_FLAGGED: Final = 30
"""Flagged rows below which a count of the right ones is told, with its range, and nothing is expected."""


def ends_of(estimate: Estimate, form: str) -> str:
    """Format the ends of an interval after a space; empty if there is none."""
    ends = ", ".join(f"{end:{form}}" for end in estimate.ends)
    return f" [{ends}]" if ends else ""


def unreliable(subject: str, rate: Estimate) -> list[Notice]:
    """Caution why an interval is unreliable, or why there is none; empty if it is reliable."""
    if not rate.reason or rate == UNKNOWN:
        return []
    state = "an unreliable interval" if rate.ends else "no interval"
    return [Notice("unreliable-interval", f"{subject} has {state}: {rate.reason}.")]

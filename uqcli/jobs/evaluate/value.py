"""Measure what the flagged rows of boundaries are worth, from the gain or cost of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from uqcli.amounts import units
from uqcli.artifacts.boundary import BoundaryArtifact
from uqcli.choices import ConstraintKind
from uqcli.counts import Bools
from uqcli.document import Estimate
from uqcli.errors import UsageError
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.value import (
    Moments,
    difference_of_shares_margin,
    has_heavy_tail,
    share_margin,
    total_margin,
)
from uqcli.reports.evaluate.value import MeasuredValue
from uqcli.rows import Rows


def utility_of(rules: Sequence[BoundaryArtifact], given: Constraint | None) -> Constraint | None:
    """Return the gain and cost by which rules are measured: the given ones, else their own; None without any.

    Raises
    ------
    UsageError
        The rules have different gains or costs, and none are given.
    """
    if given is not None:
        return given
    own = {rule.constraint.value: rule.constraint for rule in rules}
    utilities = [saved.parsed() for saved in own.values() if saved.kind is ConstraintKind.UTILITY]
    if len(utilities) > 1:
        listed = " and ".join(utility.value for utility in utilities)
        raise UsageError(f"rules with {listed}", expected="the same for all", remedy="give --gain and --cost")
    return utilities[0] if utilities else None


@dataclass
class ValueTally:
    """Exact sums over rows: of what flagging them is worth, and of the gain of positive rows.

    Parameters
    ----------
    utility
        Gain and cost of each row.
    rules
        Number of rules.

    Attributes
    ----------
    flagged, caught
        Values of the rows that each rule flags, and gains of the positive ones among them.
    differ
        Values of the rows that only one of two rules flags.
    lost, gained
        Gains of the positive rows that only the first rule flags, and only the second.
    wrong
        Values of the other rows that only one of two rules flags.
    everything, gains
        Values of all rows, and gains of all positive rows.
    """

    utility: Constraint
    rules: int
    flagged: list[Moments] = field(init=False)
    caught: list[Moments] = field(init=False)
    differ: Moments = field(default_factory=Moments)
    lost: Moments = field(default_factory=Moments)
    gained: Moments = field(default_factory=Moments)
    wrong: Moments = field(default_factory=Moments)
    everything: Moments = field(default_factory=Moments)
    gains: Moments = field(default_factory=Moments)

    def __post_init__(self) -> None:
        self.flagged = [Moments()] * self.rules
        self.caught = [Moments()] * self.rules

    def add(self, rows: Rows, flagged: Sequence[Bools]) -> None:
        """Add rows, and which of them each rule flags."""
        positive = rows.labels
        amounts = np.array([units(rows.numbers[role]) for role in self.utility.amounts], dtype=np.int64)
        value = self.utility.values(positive, amounts.reshape(-1, len(rows)))

        def moments(mask: Bools) -> Moments:
            return Moments.of(value[mask], None if rows.weight is None else rows.weight[mask])

        self.everything += moments(np.ones(len(rows), dtype=np.bool_))
        self.gains += moments(positive)
        for index, mask in enumerate(flagged):
            self.flagged[index] += moments(mask)
            self.caught[index] += moments(mask & positive)
        if len(flagged) == 2:
            first, second = flagged
            self.differ += moments(first != second)
            self.lost += moments(first & ~second & positive)
            self.gained += moments(second & ~first & positive)
            self.wrong += moments((first != second) & ~positive)

    def measured(self, index: int, confidence: float) -> MeasuredValue:
        """Estimate the value of what one rule flags, and its share of the gain of all positive rows."""
        flagged, caught = self.flagged[index], self.caught[index]
        margin = share_margin(caught, self.gains, confidence) if self.gains.total else None
        return MeasuredValue(
            value=self._total(flagged.total, flagged, confidence),
            value_caught=self._share(caught.total, margin, lowest=0.0),
            heavy_tailed=_has_heavy_tail(caught, flagged - caught),
        )

    def difference(self, confidence: float) -> MeasuredValue:
        """Estimate the difference of two rules, the second less the first, on the same rows."""
        total = self.flagged[1].total - self.flagged[0].total
        margin = None
        if self.gains.total:
            margin = difference_of_shares_margin(self.lost, self.gained, self.gains, confidence)
        return MeasuredValue(
            value=self._total(total, self.differ, confidence),
            value_caught=self._share(self.gained.total - self.lost.total, margin, lowest=-1.0),
            heavy_tailed=_has_heavy_tail(self.lost + self.gained, self.wrong),
        )

    def _total(self, total: int, contributing: Moments, confidence: float) -> Estimate:
        """Estimate a total, in the unit of the amounts; the interval is for a new sample of as many rows."""
        own = Moments(rows=contributing.rows, total=total, squares=contributing.squares)
        margin = total_margin(own, self.everything.largest, self.everything.rows, confidence)
        unit = self.utility.unit
        value = float(total * unit)
        if margin is None:
            return Estimate(value=value)
        half_width = margin * float(unit)
        return Estimate(value=value, low=value - half_width, high=value + half_width)

    def _share(self, total: int, margin: float | None, lowest: float) -> Estimate:
        """Estimate a share of the gain of all positive rows, from ``lowest`` to 1; None without gain."""
        value = float(Fraction(total, self.gains.total)) if self.gains.total else None
        if value is None or margin is None:
            return Estimate(value=value)
        return Estimate(value=value, low=max(value - margin, lowest), high=min(value + margin, 1.0))


def _has_heavy_tail(gains: Moments, costs: Moments) -> bool:
    """Whether a few large amounts decide a value: its gains or its costs, whichever vary more."""
    return has_heavy_tail(gains if gains.squares >= costs.squares else costs)

"""What the rows chosen by rules are worth, from the amount of each row, with intervals."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from uqcli.base.counts import Ints
from uqcli.base.records import dataclass
from uqcli.estimates.design import Chooses, Key, chosen_keys, differ, every, only
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.survey import FEW_CLUSTERS
from uqcli.estimates.value import (
    MIN_ROWS_OF_SHARES,
    Moments,
    difference_of_shares_margin,
    has_heavy_tail,
    residual_margin,
    share_margin,
    total_margin,
)

Worth = tuple[Estimate, Estimate, bool]
"""Value of chosen rows, their share of the gain of all positive rows, and whether few amounts decide it."""


@dataclass(frozen=True, kw_only=True)
class Amounts(ABC):
    """Gains of positive rows and costs of others, by the decisions of all rules and by label.

    Attributes
    ----------
    confidence
        Level of the intervals, in (0, 1).
    unit
        What one stands for, in the currency.
    """

    confidence: float
    unit: Fraction

    @abstractmethod
    def moments(self, chosen: Chooses = every, *, positive: bool | None = None) -> Moments:
        """Return the moments of the units' amounts in chosen rows, of one label or of both."""

    @abstractmethod
    def _changed(self, first: Chooses, second: Chooses) -> Moments:
        """Return the moments of what the second chooses less what the first does."""

    @abstractmethod
    def _share_margin(self, chosen: Chooses) -> float | None:
        """Compute the margin of the share of all gain."""

    @abstractmethod
    def _difference_margin(self, first: Chooses, second: Chooses) -> float | None:
        """Compute the margin of the difference of two shares of all gain."""

    def worth(self, chosen: Chooses) -> Worth:
        """Estimate the value of chosen rows, and their share of the gain of all positive rows."""
        flagged, caught, gains = self.moments(chosen), self._gain(chosen), self._gain(every)
        return (
            self._total(flagged),
            self._share(caught, self._share_margin(chosen) if gains else None, lowest=0.0),
            _has_heavy_tail(self.moments(chosen, positive=True), self.moments(chosen, positive=False)),
        )

    def difference(self, first: Chooses, second: Chooses) -> Worth:
        """Estimate the same of what the second chooses less what the first does."""
        change, gains = self._gain(second) - self._gain(first), self._gain(every)
        apart = differ(first, second)
        margin = self._difference_margin(first, second) if gains else None
        return (
            self._total(self._changed(first, second)),
            self._share(change, margin, lowest=-1.0),
            _has_heavy_tail(self.moments(apart, positive=True), self.moments(apart, positive=False)),
        )

    def _gain(self, chosen: Chooses) -> int:
        return self.moments(chosen, positive=True).total

    def _total(self, contributing: Moments) -> Estimate:
        """Estimate a total; its interval is for a new sample of as many units."""
        everything = self.moments()
        value = float(contributing.total * self.unit)
        margin = total_margin(contributing, everything.largest, everything.rows, self.confidence)
        if margin is None or not self._suffices(contributing):
            return Estimate(value=value)
        half_width = margin * float(self.unit)
        return Estimate(value=value, low=value - half_width, high=value + half_width)

    def _suffices(self, contributing: Moments) -> bool:
        """Whether there are enough contributing units for an interval of a total."""
        del contributing
        return True

    def _share(self, total: int, margin: float | None, lowest: float) -> Estimate:
        """Estimate a share of the gain of all positive rows, from ``lowest`` to 1; None without gain."""
        gains = self._gain(every)
        value = float(Fraction(total, gains)) if gains else None
        if value is None or margin is None:
            return Estimate(value=value)
        return Estimate(value=value, low=max(value - margin, lowest), high=min(value + margin, 1.0))


def _has_heavy_tail(gains: Moments, costs: Moments) -> bool:
    """Whether a few large amounts decide a value: its gains or its costs, whichever vary more."""
    return has_heavy_tail(gains if gains.squares >= costs.squares else costs)


@dataclass(frozen=True, kw_only=True)
class RowAmounts(Amounts):
    """Amounts of independent rows; with sampling weights, times the weight.

    Attributes
    ----------
    parts
        Moments by decisions and label.
    """

    parts: Mapping[Key, Moments]

    def moments(self, chosen: Chooses = every, *, positive: bool | None = None) -> Moments:
        """See Amounts."""
        return sum((self.parts[key] for key in chosen_keys(self.parts, chosen, positive)), Moments())

    def _changed(self, first: Chooses, second: Chooses) -> Moments:
        lost, gained = self.moments(only(first, second)), self.moments(only(second, first))
        return replace(lost + gained, total=gained.total - lost.total)

    def _share_margin(self, chosen: Chooses) -> float | None:
        part, whole = self.moments(chosen, positive=True), self.moments(positive=True)
        return share_margin(part, whole, self.confidence)

    def _difference_margin(self, first: Chooses, second: Chooses) -> float | None:
        lost = self.moments(only(first, second), positive=True)
        gained = self.moments(only(second, first), positive=True)
        return difference_of_shares_margin(lost, gained, self.moments(positive=True), self.confidence)


@dataclass(frozen=True, kw_only=True)
class ClusterAmounts(Amounts):
    """Amounts of clusters of dependent rows, which are the units.

    Attributes
    ----------
    sums : int64 or object (whole numbers), shape (C,) each
        Sum of the amounts of each cluster, by decisions and label.
    counts : int64, shape (C,) each
        Rows of each cluster, by decisions and label.
    """

    sums: Mapping[Key, Ints]
    counts: Mapping[Key, Ints]

    def moments(self, chosen: Chooses = every, *, positive: bool | None = None) -> Moments:
        """See Amounts; of the clusters with chosen rows."""
        keys = chosen_keys(self.sums, chosen, positive)
        return self._moments([(key, 1) for key in keys])

    def _changed(self, first: Chooses, second: Chooses) -> Moments:
        lost = chosen_keys(self.sums, only(first, second), None)
        gained = chosen_keys(self.sums, only(second, first), None)
        return self._moments([*((key, -1) for key in lost), *((key, 1) for key in gained)])

    def _suffices(self, contributing: Moments) -> bool:
        return contributing.rows >= FEW_CLUSTERS

    def _share_margin(self, chosen: Chooses) -> float | None:
        inside = chosen_keys(self.sums, chosen, True)
        return self._residual_margin([(key, 1) for key in inside])

    def _difference_margin(self, first: Chooses, second: Chooses) -> float | None:
        lost = chosen_keys(self.sums, only(first, second), True)
        gained = chosen_keys(self.sums, only(second, first), True)
        if self._moments([(key, 1) for key in (*lost, *gained)]).rows < MIN_ROWS_OF_SHARES:
            return None
        return self._residual_margin([*((key, -1) for key in lost), *((key, 1) for key in gained)])

    def _residual_margin(self, terms: list[tuple[Key, int]]) -> float | None:
        """Compute the margin of a sum of signed parts over the gain of all positive rows."""
        everything = chosen_keys(self.sums, every, True)
        whole = self._moments([(key, 1) for key in everything])
        if whole.rows < MIN_ROWS_OF_SHARES:
            return None
        part = self._added(terms)
        ratio = math.fsum(part.tolist()) / whole.total
        residual = part - ratio * self._added([(key, 1) for key in everything])
        return residual_margin(residual, whole, max(abs(ratio), 1 - abs(ratio)), self.confidence)

    def _moments(self, terms: list[tuple[Key, int]]) -> Moments:
        """Return the moments of clusters with rows of some parts, which are added with their sign."""
        if not terms:
            return Moments()
        present = np.sum([self.counts[key] for key, _ in terms], axis=0) > 0
        sums = np.sum([sign * self.sums[key] for key, sign in terms], axis=0)
        amounts = [int(amount) for amount in sums[present]]
        return Moments(
            rows=len(amounts),
            total=sum(amounts),
            squares=sum(amount * amount for amount in amounts),
            largest=max(map(abs, amounts), default=0),
        )

    def _added(self, terms: list[tuple[Key, int]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        size = len(next(iter(self.sums.values())))
        return sum((sign * self.sums[key].astype(np.float64) for key, sign in terms), np.zeros(size))

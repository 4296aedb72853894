"""Metrics of two probabilities of the same rows in bootstrap samples, from sums over the drawn rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from uqcli.base.blockwise import Counts
from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.records import dataclass
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.resampling import DrawnMeans, from_moments, studentised_interval
from uqcli.estimates.score_metrics import LOSSES
from uqcli.kernels.drawn import ROWS_PER_STEP, add_at, place, placement_moments
from uqcli.kernels.units import Numbers

SIDES = ("before", "after", "difference")

DrawnLosses: TypeAlias = DrawnMeans[tuple[str, str]]
"""Mean losses by name and side; those of which a single row may dominate the mean are left out."""


@dataclass(frozen=True, kw_only=True)
class PairedCells:
    """Distinct pairs of two probabilities with a label; all negative ones first.

    ``losses`` are those of the pairs. ``values`` are the distinct values of either probability, ascending,
    and ``negative`` and ``positive`` the index of the value among them for each pair of that label.
    """

    losses: DrawnLosses
    values: tuple[Floats, ...]
    negative: tuple[Numbers, ...]
    positive: tuple[Numbers, ...]

    @cached_property
    def areas(self) -> tuple[float, ...]:
        """Area under the curve of either probability on all rows, which samples scatter around."""
        return tuple(map(self._area, range(2)))

    def by_value(self, times: Counts, side: int) -> tuple[Counts, Counts]:
        """Count the drawn rows of each distinct value; negative ones, then positive ones."""
        counts = []
        drawn = times[: len(self.negative[0])], times[len(self.negative[0]) :]
        for index, amount in zip((self.negative[side], self.positive[side]), drawn, strict=True):
            sums = np.zeros(len(self.values[side]), dtype=times.dtype)
            add_at.run(len(index) // ROWS_PER_STEP, index, amount, sums)
            counts.append(sums)
        return counts[0], counts[1]

    def _area(self, side: int) -> float:
        negatives, positives = self.by_value(self.losses.resamples.count, side)
        below = 2 * np.cumsum(negatives) - negatives
        return float((below * positives).sum()) / 2 / (int(negatives.sum()) * int(positives.sum()))


class DrawnRows:
    """Sample of distinct rows, each drawn so many times."""

    def __init__(self, losses: DrawnLosses, times: Counts) -> None:
        self.times = times
        self._losses = losses

    def with_errors(self) -> dict[str, dict[str, Estimate]]:
        """Compute the mean losses with standard errors, by name and side."""
        means = {name: dict.fromkeys(SIDES, Estimate(value=None)) for name in LOSSES}
        for (name, side), mean in self._losses.of(self.times).items():
            means[name][side] = mean
        return means


class DrawnPairs(DrawnRows):
    """Sample of distinct pairs."""

    def __init__(self, cells: PairedCells, times: Counts) -> None:
        super().__init__(cells.losses, times)
        self._cells = cells
        self._by_value = [cells.by_value(times, side) for side in range(2)]

    @cached_property
    def sides(self) -> tuple[ValueCounts, ValueCounts]:
        """Counts of both probabilities by distinct value; those that are not drawn have a count of 0."""
        first, second = (
            ValueCounts(value=value, count=negatives + positives, positives=positives)
            for value, (negatives, positives) in zip(self._cells.values, self._by_value, strict=True)
        )
        return first, second

    def with_errors(self) -> dict[str, dict[str, Estimate]]:
        """Compute the mean losses, and the log-odds of the AUC, with standard errors, by name and side.

        Differences of the AUC are not transformed.
        """
        return super().with_errors() | {"auc": dict(zip(SIDES, self._auc(), strict=True))}

    def _auc(self) -> tuple[Estimate, Estimate, Estimate]:
        """Compute the AUC with standard errors from the variances of the placements (DeLong et al. 1988)."""
        negatives, positives = (int(rows.sum()) for rows in self._by_value[0])
        if not negatives or not positives:
            return (Estimate(value=None),) * 3
        of_negatives, of_positives = [], []
        for below, above in self._by_value:
            of_positives.append(_places(below, 0))
            of_negatives.append(_places(above, positives))
        cut = len(self._cells.negative[0])
        by_label = zip(
            self._moments(self.times[cut:], self._cells.positive, of_positives, negatives, positives),
            self._moments(self.times[:cut], self._cells.negative, of_negatives, positives, negatives),
            strict=True,
        )
        before, after, difference = (
            Estimate(value=first.value, error=math.hypot(first.error or 0.0, second.error or 0.0))
            for first, second in by_label
        )
        return log_odds_of(before), log_odds_of(after), difference

    def _moments(
        self, times: Counts, index: tuple[Numbers, ...], places: list[Counts], others: int, rows: int
    ) -> list[Estimate]:
        """Average the placements of the rows of a label among those of the other one, and their change."""
        sums, (before, after) = np.empty((3, 2)), self._cells.areas
        (first, second), (first_place, second_place) = index, places
        scale, work = np.array([0.5 / others, before, after]), len(times) // ROWS_PER_STEP
        placement_moments.run(work, times, first, second, first_place, second_place, scale, sums)
        return from_moments((before, after, after - before), sums, rows)


Metrics = Mapping[str, Mapping[str, Estimate]]
"""Metrics with their standard errors, by name and side."""


def interval_of(
    name: str, side: str, estimates: Metrics, samples: Sequence[Metrics], plan: tuple[float, float]
) -> tuple[float, float] | None:
    """Compute the interval of a metric or of its difference.

    ``plan`` has the confidence, and the number of rows of the rarer class, of which few widen a difference.
    """
    confidence, rare_rows = plan
    return studentised_interval(
        estimates[name][side],
        [sample[name][side] for sample in samples],
        confidence,
        rare_rows=rare_rows if side == "difference" else math.inf,
    )


def _places(rows: Counts, above: int) -> Counts:
    places = np.empty_like(rows)
    place.run(len(rows) // ROWS_PER_STEP, rows, above, places)
    return places


_ROUNDING: Final = 1e-14
"""Distance from 0 or 1 at which an AUC that is added up from a centre may be just that."""


def log_odds_of(auc: Estimate) -> Estimate:
    """Transform an AUC and its error to log-odds, whose distribution is less skewed near 1.

    They are undefined at 0 and 1.
    """
    if auc.value is None or auc.error is None or not _ROUNDING < auc.value < 1 - _ROUNDING:
        return Estimate(value=None)
    slope = auc.value * (1 - auc.value)
    return Estimate(value=math.log(auc.value / (1 - auc.value)), error=auc.error / slope)

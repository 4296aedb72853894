"""Class priors that a calibrator is for: those of its calibration rows, or of target data."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Floats, Matrix
from uqcli.base.records import dataclass
from uqcli.calibrate.maps import ClassMap
from uqcli.calibrate.maps.base import Interval
from uqcli.calibrate.scale import Scale
from uqcli.rules.expressions import Expression


class SourcePriors:
    """Priors of the calibration rows, so that probabilities stay as they are."""

    def contradiction(self, classes: int) -> str:
        """Describe why they are not for a number of classes; empty if they are."""
        del classes
        return ""

    def of_score(self, probability: Floats) -> Floats:
        """Return the probability of the positive label with these priors."""
        return probability

    def exported(self, probability: Expression) -> Expression:
        """Return the same as an expression."""
        return probability

    def of_classes(self, calibrated: Matrix) -> Matrix:
        """Return the probabilities of all classes with these priors, shape (n, C)."""
        return calibrated

    def intervals(self, map_: ClassMap, probability: Matrix) -> Interval:
        """Return the intervals of all classes by a map of the source, shape (n, C) each."""
        return map_.intervals(probability)

    def about(self, *, by_class: bool) -> list[str]:
        """Say how probabilities are corrected."""
        del by_class
        return []


@dataclass(frozen=True, kw_only=True)
class TargetPriors(SourcePriors):
    """Priors of target data: ``weights`` times those of the calibration rows, of two the negative first."""

    weights: Sequence[float]

    def contradiction(self, classes: int) -> str:
        """See SourcePriors."""
        if not all(0 < weight < math.inf for weight in self.weights):
            return "a class weight is not finite and above 0"
        return "" if len(self.weights) == classes else "its class weights are not one for each class"

    def of_score(self, probability: Floats) -> Floats:
        """See SourcePriors."""
        return Scale.in_target(probability, self._of_two)

    def exported(self, probability: Expression) -> Expression:
        """See SourcePriors."""
        return Scale.exported_in_target(probability, self._of_two)

    @property
    def _of_two(self) -> tuple[float, float]:
        negative, positive = self.weights
        return negative, positive

    def of_classes(self, calibrated: Matrix) -> Matrix:
        """See SourcePriors; [LS Prop. 1]."""
        weighted = calibrated * np.array(self.weights)
        shares: Matrix = weighted / weighted.sum(axis=1, keepdims=True)
        return shares

    def intervals(self, map_: ClassMap, probability: Matrix) -> Interval:
        """See SourcePriors; the weight of the rest is the mean weight of the other classes."""
        calibrated, weights = map_.probabilities(probability), np.array(self.weights)
        rest = _sums_of_others(calibrated * weights) / np.maximum(
            _sums_of_others(calibrated), np.finfo(float).tiny
        )
        ends = map_.intervals(probability)
        low, high = (weights * end / (weights * end + rest * (1 - end)) for end in ends)
        return low, high

    def about(self, *, by_class: bool) -> list[str]:
        """See SourcePriors."""
        if by_class:
            return ["Then corrected for target data: each class's probability is multiplied by its weight."]
        negative, positive = self._of_two
        return [
            f"Negatives are {negative:.4g} and positives {positive:.4g} times as frequent in the target "
            f"data: the odds are then multiplied by {positive / negative:.4g}."
        ]


def _sums_of_others(values: Matrix) -> Matrix:
    """Add up the values before and after each in its row, from the ends; differences of sums would cancel."""
    before, after = np.zeros_like(values), np.zeros_like(values)
    before[:, 1:] = np.cumsum(values, axis=1)[:, :-1]
    after[:, :-1] = np.cumsum(values[:, ::-1], axis=1)[:, -2::-1]
    return before + after

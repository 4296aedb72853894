"""What each estimator of class weights rests on: its estimate, and the same from resampled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from uqcli.counts import Floats, Ints
from uqcli.methods.resampling import resample
from uqcli.methods.shift.identifiability import require_identified
from uqcli.methods.shift.sums import exact_sums, mean_responsibilities
from uqcli.methods.shift.weights import ClassWeights, bbse, em, known, solve_weights
from uqcli.methods.tce.calibrated_labels import ClassCounts

_LEAST_START = 1e-3
"""EM never leaves a weight of 0 again: a resampling starts above it."""


class Evidence(Protocol):
    """Counts, or distinct rows, of source and target."""

    def estimate(self) -> ClassWeights:
        """Class weights; InfeasibleError where there are none."""

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Floats:
        """Weights of as many rows drawn with replacement, neither clipped nor renormalised."""


@dataclass(frozen=True, kw_only=True)
class KnownPrior:
    """A target prior that is given, and the source's rows by class."""

    target_prior: Floats
    labels: Ints
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        return known(self.target_prior, self.labels / self.labels.sum(), self.classes)

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Floats:
        """See Evidence."""
        del found
        labels = resample(self.labels, random)
        return known(self.target_prior, labels / labels.sum(), self.classes).weights


@dataclass(frozen=True, kw_only=True)
class PredictedClasses:
    """Rows of the source by predicted class and label, and of the target by predicted class.

    Attributes
    ----------
    joint : int64, shape (C, C)
    target : int64, shape (C,)
    """

    joint: Ints
    target: Ints
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        return bbse(self.joint / self.joint.sum(), self.target / self.target.sum(), self.classes)

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Floats:
        """See Evidence."""
        del found
        joint = resample(self.joint.ravel(), random).reshape(self.joint.shape)
        target = resample(self.target, random)
        return solve_weights(joint / joint.sum(), target / target.sum(), self.classes)[0]


@dataclass(frozen=True, kw_only=True)
class MeanProbabilities:
    """Distinct rows of both sides, whose probabilities take the place of predicted classes."""

    source: ClassCounts
    target: ClassCounts
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        return bbse(*self._means(self.source.count, self.target.count), self.classes)

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Floats:
        """See Evidence."""
        del found
        source, target = resample(self.source.count, random), resample(self.target.count, random)
        return solve_weights(*self._means(source, target), self.classes)[0]

    def _means(self, source: Ints, target: Ints) -> tuple[Floats, Floats]:
        shares, label = self.source.shares, self.source.label
        columns = [exact_sums(shares, source * (label == each)) for each in range(len(self.classes))]
        joint = np.stack(columns, axis=1) / source.sum()
        return joint, exact_sums(self.target.shares, target) / target.sum()


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """Rows of the source by class, and distinct rows of the target, of calibrated probabilities."""

    labels: Ints
    target: ClassCounts
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        prior, rows = self.labels / self.labels.sum(), self.target
        found = em(mean_responsibilities(rows.probability, rows.count), prior, self.classes)
        require_identified(rows.probability, rows.count, prior, found.weights)
        return found

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Floats:
        """See Evidence."""
        labels, rows = resample(self.labels, random), resample(self.target.count, random)
        expectation = mean_responsibilities(self.target.probability, rows)
        start = np.maximum(found.weights, _LEAST_START)
        return em(expectation, labels / labels.sum(), self.classes, start).weights

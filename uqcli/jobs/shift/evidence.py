"""What each estimator of class weights rests on: its estimate, and what it might as well have been."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from uqcli.class_counts import ClassCounts
from uqcli.counts import Floats, Ints
from uqcli.methods.shift.drawn import (
    UNSEEN_IN_TARGET,
    Matrix,
    drawn_confusion,
    drawn_labels,
    drawn_mean_confusion,
    drawn_shares,
)
from uqcli.methods.shift.identifiability import require_identified
from uqcli.methods.shift.sums import exact_sums, mean_responsibilities
from uqcli.methods.shift.weights import ClassWeights, bbse, em, known, solve_weights

_LEAST_START = 1e-3
"""EM never leaves a weight of 0 again: a drawn likelihood starts above it."""


@dataclass(frozen=True, kw_only=True)
class Redrawn:
    """What drawn source and target give.

    Attributes
    ----------
    weights : float64, shape (C,)
        Neither clipped nor renormalised.
    source_prior : float64, shape (C,)
    """

    weights: Floats
    source_prior: Floats

    @property
    def target_prior(self) -> Floats:
        """Class shares of the target; float64, shape (C,)."""
        shares: Floats = self.weights * self.source_prior
        return shares


class Evidence(Protocol):
    """Counts, or distinct rows, of source and target."""

    def estimate(self) -> ClassWeights:
        """Class weights; InfeasibleError where there are none."""

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Redrawn:
        """The same from drawn shares of rows; InfeasibleError where these have no estimate."""


@dataclass(frozen=True, kw_only=True)
class KnownPrior:
    """A target prior that is given, and the source's rows by class."""

    target_prior: Floats
    labels: Ints
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        return known(self.target_prior, self.labels / self.labels.sum(), self.classes)

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Redrawn:
        """See Evidence."""
        del found
        prior = drawn_labels(self.labels, random)
        weights = known(self.target_prior, prior, self.classes).weights
        return Redrawn(weights=weights, source_prior=prior)


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

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Redrawn:
        """See Evidence."""
        del found
        confusion = drawn_confusion(self.joint, random)
        return _solved(confusion, drawn_shares(self.target, UNSEEN_IN_TARGET, random), self.classes)


@dataclass(frozen=True, kw_only=True)
class MeanProbabilities:
    """Distinct rows of both sides, whose probabilities take the place of predicted classes."""

    source: ClassCounts
    target: ClassCounts
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        target = exact_sums(self.target.shares, self.target.count) / self.target.count.sum()
        return bbse(self._confusion, target, self.classes)

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Redrawn:
        """See Evidence."""
        del found
        source, target = self.source, self.target
        confusion = drawn_mean_confusion(source.shares, source.label, source.count, len(self.classes), random)
        seen = np.einsum("ij,i->j", target.shares, random.standard_gamma(target.count))
        by_class = self._confusion / self._confusion.sum(axis=0)
        mass = seen + (by_class * random.standard_gamma(UNSEEN_IN_TARGET, len(self.classes))).sum(axis=1)
        return _solved(confusion, mass / mass.sum(), self.classes)

    @cached_property
    def _confusion(self) -> Matrix:
        """Mean probabilities by label times the label's share; shape (C, C)."""
        shares, label, count = self.source.shares, self.source.label, self.source.count
        columns = [exact_sums(shares, count * (label == each)) for each in range(len(self.classes))]
        joint: Matrix = np.stack(columns, axis=1) / count.sum()
        return joint


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

    def redrawn(self, random: np.random.Generator, found: ClassWeights) -> Redrawn:
        """See Evidence."""
        rows, classes = self.target, len(self.classes)
        prior = drawn_labels(self.labels, random)
        # No likelihood goes below 0: every other draw leaves out what was not seen, so that 0 can be met.
        unseen = UNSEEN_IN_TARGET * random.integers(2)
        mass = random.standard_gamma(np.concatenate([rows.count, np.full(classes, unseen)]))
        expectation = mean_responsibilities(np.concatenate([rows.probability, np.eye(classes)]), mass)
        start = np.maximum(found.weights, _LEAST_START)
        return Redrawn(weights=em(expectation, prior, self.classes, start).weights, source_prior=prior)


def _solved(confusion: Matrix, predicted: Floats, classes: Sequence[str]) -> Redrawn:
    """Every column of the confusion adds up to the share of its class."""
    weights, _, _ = solve_weights(confusion, predicted, classes)
    return Redrawn(weights=weights, source_prior=confusion.sum(axis=0))

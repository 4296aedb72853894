"""Data for each estimator of class weights, with its estimate and bootstrap draws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from uqcli.base.class_counts import ClassCounts
from uqcli.base.counts import Floats, Ints
from uqcli.base.errors import InfeasibleError
from uqcli.base.escaping import printable
from uqcli.base.records import dataclass
from uqcli.base.wording import p_text
from uqcli.estimates.linear_scaling import LinearScaling, scaled
from uqcli.shift.dirichlet import (
    UNSEEN_IN_TARGET,
    Matrix,
    draw_confusion,
    draw_labels,
    draw_mean_confusion,
    draw_shares,
)
from uqcli.shift.identifiability import require_identified
from uqcli.shift.sums import exact_sums, mean_responsibilities
from uqcli.shift.weights import ClassWeights, bbse, contradiction_p_value, em, known, solve_weights

_MIN_START = 1e-3
"""Lower bound of EM's starting weights in a draw, since EM never leaves 0."""

_CONTRADICTION = 1e-3
"""P-value below which the predicted classes of the target contradict an estimate."""


@dataclass(frozen=True, kw_only=True)
class BootstrapDraw:
    """Estimate from drawn source and target.

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
        """Class priors in the target data; float64, shape (C,)."""
        shares: Floats = self.weights * self.source_prior
        return shares


class Evidence(Protocol):
    """Counts, or distinct rows, of source and target."""

    def estimate(self) -> ClassWeights:
        """Estimate class weights; raise InfeasibleError if they are not identified."""

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> BootstrapDraw:
        """Estimate from a bootstrap draw; raise InfeasibleError if it has no estimate."""


@dataclass(frozen=True, kw_only=True)
class KnownPrior:
    """A given target prior, and the source rows by class."""

    target_prior: Floats
    class_counts: Ints
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        return known(self.target_prior, self.class_counts / self.class_counts.sum(), self.classes)

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> BootstrapDraw:
        """See Evidence."""
        del estimate
        prior = draw_labels(self.class_counts, random)
        weights = known(self.target_prior, prior, self.classes).weights
        return BootstrapDraw(weights=weights, source_prior=prior)


@dataclass(frozen=True, kw_only=True)
class PredictedClasses:
    """Source rows by predicted class and label, and target rows by predicted class.

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

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> BootstrapDraw:
        """See Evidence."""
        del estimate
        confusion = draw_confusion(self.joint, random)
        return _solved(confusion, draw_shares(self.target, UNSEEN_IN_TARGET, random), self.classes)


@dataclass(frozen=True, kw_only=True)
class MeanProbabilities:
    """Distinct rows of source and target, whose probabilities replace predicted classes."""

    source: ClassCounts
    target: ClassCounts
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        target = exact_sums(self.target.shares, self.target.count) / self.target.count.sum()
        return bbse(self._confusion, target, self.classes)

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> BootstrapDraw:
        """See Evidence."""
        del estimate
        source, target = self.source, self.target
        confusion = draw_mean_confusion(source.shares, source.label, source.count, len(self.classes), random)
        target_sums = np.einsum("ij,i->j", target.shares, random.standard_gamma(target.count))
        by_class = self._confusion / self._confusion.sum(axis=0)
        mass = target_sums + (by_class * random.standard_gamma(UNSEEN_IN_TARGET, len(self.classes))).sum(
            axis=1
        )
        return _solved(confusion, mass / mass.sum(), self.classes)

    @cached_property
    def _confusion(self) -> Matrix:
        """Soft confusion: mean probabilities by label, times the label's share; shape (C, C)."""
        shares, label, count = self.source.shares, self.source.label, self.source.count
        columns = [
            exact_sums(shares, count * (label == class_index)) for class_index in range(len(self.classes))
        ]
        joint: Matrix = np.stack(columns, axis=1) / count.sum()
        return joint


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """Distinct rows of source and target, whose probabilities are calibrated on the source."""

    source: ClassCounts
    target: ClassCounts
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence.

        Raises
        ------
        InfeasibleError
            The priors are not identified, or the target's predicted classes contradict them.
        """
        rows, prior = self.target, self._labels / self._labels.sum()
        probability = scaled(self._scaling.fitted, rows.probability)
        weights = em(mean_responsibilities(probability, rows.count), prior, self.classes)
        require_identified(probability, rows.count, prior, weights.weights)
        self._require_agreement(weights.weights * prior)
        return weights

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> BootstrapDraw:
        """See Evidence."""
        rows, classes = self.target, len(self.classes)
        weight = random.standard_gamma(self.source.count)
        probability = scaled(self._scaling.refit(weight, random), rows.probability)
        labels = _sums(self.source.label, weight, classes)
        share = labels / labels.sum()
        # EM weights cannot go below 0: half of the draws add no unseen rows, so that weight 0 is possible
        unseen = UNSEEN_IN_TARGET * random.integers(2)
        mass = random.standard_gamma(np.concatenate([rows.count, np.full(classes, unseen)]))
        expectation = mean_responsibilities(np.concatenate([probability, np.eye(classes)]), mass)
        start = np.maximum(estimate.weights, _MIN_START)
        target_prior = em(expectation, share, self.classes, start).weights * share
        # an unseen labelled row adds to the priors as in draw_labels, but not to the calibration
        labels += random.standard_gamma(1 / classes, classes)
        source_prior = labels / labels.sum()
        return BootstrapDraw(weights=target_prior / source_prior, source_prior=source_prior)

    @cached_property
    def _scaling(self) -> LinearScaling:
        return LinearScaling(counts=self.source, classes=len(self.classes))

    @property
    def _labels(self) -> Floats:
        """Labelled rows by class."""
        return _sums(self.source.label, self.source.count, len(self.classes))

    def _require_agreement(self, target_prior: Floats) -> None:
        source, target, size = self.source, self.target, len(self.classes)
        cell = source.probability.argmax(axis=1) * size + source.label
        joint = _sums(cell, source.count, size**2).reshape(size, size)
        predicted = _sums(target.probability.argmax(axis=1), target.count, size)
        p_value = contradiction_p_value(joint, predicted, target_prior)
        if p_value < _CONTRADICTION:
            shares = ", ".join(
                f"{printable(name, 20)} {share:.3g}"
                for name, share in zip(self.classes[:6], target_prior, strict=False)
            )
            raise InfeasibleError(
                f"the predicted classes of the new data contradict EM's class priors ({shares}; "
                f"G-test, {p_text(p_value)})",
                expected="new data that differ from the labelled rows in class priors only",
                remedy="use --estimator bbse, and label some of the new rows to check",
            )


def _sums(index: Ints, weight: Ints | Floats, size: int) -> Floats:
    """Sum weights by an index below ``size``."""
    return np.bincount(index, weight, size).astype(np.float64)


def _solved(confusion: Matrix, predicted: Floats, classes: Sequence[str]) -> BootstrapDraw:
    """Solve for the weights; each column of the confusion sums to the prior of its class."""
    weights, _, _ = solve_weights(confusion, predicted, classes)
    return BootstrapDraw(weights=weights, source_prior=confusion.sum(axis=0))

"""Linear scaling of class probabilities with an intercept for each class, refitted to reweighted rows.

For two classes this is Platt scaling, and vector scaling for more. An intercept lets the mean probability of
each class be its share of the rows, which a temperature alone does not. A weak penalty pulls to the given
probabilities, so that few rows, or classes that a threshold separates, do not change them without evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

import numpy as np

from uqcli.class_counts import ClassCounts, Matrix
from uqcli.counts import Floats
from uqcli.kernels.linear import inverse
from uqcli.methods.calibrate.classes import Penalty, fit_linear, identity
from uqcli.methods.calibrate.maps.class_linear import ClassLinearMap
from uqcli.methods.calibrate.scale import class_logits, softmax
from uqcli.records import dataclass

_FOLDS: Final = 5
_FIT_TOLERANCE: Final = 1e-6
_REFIT_TOLERANCE: Final = 1e-3
"""Errors of the mean probability of a class, relative to the smallest share of a class."""

_SLOPE_PENALTY: Final = 1.0
_INTERCEPT_PENALTY: Final = 0.1
"""Penalties per squared distance and log loss of all rows: normal priors, of standard deviations 1 and 3."""


@dataclass(frozen=True, kw_only=True)
class LinearScaling:
    """Fits of one map to labelled rows.

    Attributes
    ----------
    counts
        Labelled rows.
    classes
        Number of classes, C.
    """

    counts: ClassCounts
    classes: int

    @cached_property
    def fitted(self) -> ClassLinearMap:
        """The map that was fitted to all rows."""
        return _fit(self.counts)

    @cached_property
    def _precondition(self) -> Callable[[Floats], Floats]:
        return _by_curvature(self.counts, np.array(self.fitted.coefficients))

    def refit(self, weight: Floats, random: np.random.Generator) -> ClassLinearMap:
        """Fit the map to the rows with other weights, with a penalty whose centre is drawn.

        Coefficients on which the rows have little to say then vary as much as the penalty lets them.

        Parameters
        ----------
        weight : float64, shape (m,)
        """
        deviations = np.array([_SLOPE_PENALTY, _INTERCEPT_PENALTY]) ** -0.5
        centre = identity(self.classes, is_full=False)
        centre += deviations * random.standard_normal(centre.shape)
        return fit_linear(
            self.counts,
            _penalty(self.counts),
            np.array(self.fitted.coefficients),
            _tolerance(self.counts, _REFIT_TOLERANCE),
            weight=weight,
            centre=centre,
            precondition=self._precondition,
        )

    def cross_fitted(self) -> Matrix:
        """Compute the probabilities of each row under maps that were fitted without it.

        Rows are dealt to five folds in turn in sorted order, so there is nothing random. The mean over the
        folds stands for equal rows of several folds.

        Returns
        -------
        float64, shape (m, C)
        """
        counts = self.counts
        last = np.cumsum(counts.count)
        total = np.zeros(counts.probability.shape)
        for fold in range(_FOLDS):
            held_out = (last - 1 - fold) // _FOLDS - (last - counts.count - 1 - fold) // _FOLDS
            outside = counts.count - held_out
            if outside.any() and held_out.any():
                kept = counts.select(outside > 0)
                training = ClassCounts(
                    probability=kept.probability, label=kept.label, count=outside[outside > 0]
                )
                total += held_out[:, None] * _fit(training).probabilities(counts.probability)
        mean: Matrix = total / counts.count[:, None]
        return mean


def _fit(counts: ClassCounts) -> ClassLinearMap:
    classes = counts.probability.shape[1]
    return fit_linear(
        counts,
        _penalty(counts),
        tolerance=_tolerance(counts, _FIT_TOLERANCE),
        precondition=_by_curvature(counts, identity(classes, is_full=False)),
    )


def _by_curvature(counts: ClassCounts, coefficients: Matrix) -> Callable[[Floats], Floats]:
    """Return the multiplication by the inverse second derivatives of the penalised loss at a point."""
    logits = class_logits(counts.probability)
    probability = softmax(coefficients[:, 0] * logits + coefficients[:, 1]).T
    regressors = np.stack([logits.T, np.ones(probability.shape)], axis=1)
    share = counts.count / counts.count.sum()
    products = (probability[:, None] * regressors).reshape(-1, len(share))
    curvature = -np.einsum("in,jn->ij", products * share, products)
    within_class = np.einsum("kin,kjn->kij", regressors * (share * probability)[:, None], regressors)
    for index, block in enumerate(within_class):
        own = slice(2 * index, 2 * index + 2)
        curvature[own, own] += block
    penalty = _penalty(counts)
    curvature += np.diag([penalty.diagonal, penalty.intercept] * len(probability))
    inverted = inverse(curvature)

    def multiplied(gradient: Floats) -> Floats:
        product: Floats = (inverted * gradient).sum(axis=1)
        return product

    return multiplied


def _tolerance(counts: ClassCounts, relative: float) -> float:
    rows_of_labels = np.bincount(counts.label, counts.count)
    smallest = float(rows_of_labels[rows_of_labels > 0].min() / rows_of_labels.sum())
    return relative * min(smallest, 0.01)


def _penalty(counts: ClassCounts) -> Penalty:
    rows = int(counts.count.sum())
    return Penalty(diagonal=_SLOPE_PENALTY / rows, intercept=_INTERCEPT_PENALTY / rows)

"""Joint calibration of many classes.

Sums are over distinct rows in sorted order, so the result does not depend on row order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from uqcli.class_counts import ClassCounts, Matrix
from uqcli.counts import Floats
from uqcli.kernels.lbfgs import minimum
from uqcli.kernels.linear import inverse
from uqcli.methods.calibrate.isotonic import fit_isotonic
from uqcli.methods.calibrate.maps import ClassMap
from uqcli.methods.calibrate.maps.class_linear import ClassLinearMap
from uqcli.methods.calibrate.maps.class_temperature import ClassTemperatureMap
from uqcli.methods.calibrate.maps.one_vs_rest import OneVsRestMap
from uqcli.methods.calibrate.parametric import at_bound, best_slope
from uqcli.methods.calibrate.scale import class_logits, softmax
from uqcli.methods.calibrate.venn_abers import fit_venn_abers
from uqcli.methods.losses import CLIP
from uqcli.records import dataclass

RIDGES: Final = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Penalties that are tried, from the smoothest, per squared coefficient and mean log loss."""

_MIDDLE: Final = 2
_TUNING_TOLERANCE: Final = 1e-4


@dataclass(frozen=True, kw_only=True)
class ClassFold:
    """Rows for fitting, and rows held out."""

    training: ClassCounts
    held_out: ClassCounts


def label_losses(map_: ClassMap, counts: ClassCounts) -> Floats:
    """Compute the log loss of each distinct row, clipped to at most ``-ln 1e-15``."""
    probability = map_.probabilities(counts.probability)[np.arange(len(counts.label)), counts.label]
    losses: Floats = -np.log(np.maximum(probability, CLIP))
    return losses


def fit_class_temperature(counts: ClassCounts) -> tuple[ClassTemperatureMap, tuple[str, ...]]:
    """Fit ``softmax(ln p / T)`` by maximum likelihood, with 1/T between 1e-3 and 1e3.

    Returns
    -------
    The map, and notes on its fit.
    """
    logits = class_logits(counts.probability)
    label_logit = logits[np.arange(len(logits)), counts.label]

    def derivative(slope: float) -> tuple[float, float]:
        probability = softmax(slope * logits)
        mean: Floats = (probability * logits).sum(axis=1)
        variance = (probability * logits**2).sum(axis=1) - mean**2
        gradient = float((counts.count * (mean - label_logit)).sum())
        return gradient, float((counts.count * variance).sum())

    slope = best_slope(derivative)
    return ClassTemperatureMap(slope=slope), at_bound(slope)


@dataclass(frozen=True, kw_only=True)
class Penalty:
    """Ridge penalties of linear scaling.

    Attributes
    ----------
    diagonal, intercept
        Of the diagonal's distance from 1, and of the intercepts.
    other
        Of the weights of other classes; None if there are none.
    rows
        Rows with which the penalties were chosen; with more rows they are smaller in proportion.
    """

    diagonal: float = RIDGES[_MIDDLE]
    intercept: float = RIDGES[_MIDDLE]
    other: float | None = None
    rows: int = 0

    def scaled(self, rows: int) -> float:
        """Return the factor of the penalties for a number of rows."""
        return self.rows / rows if self.rows else 1.0


_WITH_RIDGE: Final[Sequence[Callable[[Penalty, float], Penalty]]] = (
    lambda penalty, ridge: replace(penalty, other=ridge),
    lambda penalty, ridge: replace(penalty, intercept=ridge),
    lambda penalty, ridge: replace(penalty, diagonal=ridge),
)
"""Replacements of one ridge, in the order in which they are chosen."""


def fit_linear(
    counts: ClassCounts,
    penalty: Penalty,
    start: Matrix | None = None,
    tolerance: float = 1e-7,
    *,
    weight: Floats | None = None,
    centre: Matrix | None = None,
    precondition: Callable[[Floats], Floats] | None = None,
) -> ClassLinearMap:
    """Fit ``softmax(A z + b)`` with ridge penalties, where z are the centred logarithms of p.

    Without ``penalty.other`` the matrix A is diagonal (vector scaling). Otherwise it is full, and the
    diagonal, the other weights and the intercepts are penalised apart (structured matrix scaling).

    Parameters
    ----------
    start : float64, shape (C, C + 1) or (C, 2), optional
        Coefficients as ``ClassLinearMap.coefficients``; None for the identity.
    weight : float64, shape (m,), optional
        Weights in place of the counts of the distinct rows.
    centre : float64, shape of ``start``, optional
        Coefficients to which the penalty pulls; None for the identity.
    precondition
        As in ``minimum``; None for one that is made for the matrix.
    """
    logits = np.ascontiguousarray(class_logits(counts.probability).T)
    classes, rows = logits.shape
    count = counts.count if weight is None else weight
    share = count / count.sum()
    labels = counts.label, np.arange(rows)
    is_full = penalty.other is not None
    unchanged = identity(classes, is_full=is_full)
    ridge = penalty.scaled(int(counts.count.sum())) * _ridges(unchanged, penalty)
    middle = unchanged if centre is None else centre

    def loss(flat: Floats) -> tuple[float, Floats]:
        coefficients = flat.reshape(unchanged.shape)
        if is_full:
            scores = np.einsum("lr,kl->kr", logits, coefficients[:, :-1])
        else:
            scores = coefficients[:, :1] * logits
        scores += coefficients[:, -1:]
        scores -= scores.max(axis=0)
        label_score = scores[labels]
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        distance = coefficients - middle
        value = float((share * (np.log(total) - label_score)).sum() + (ridge * distance**2).sum() / 2)
        scores *= share / total
        scores[labels] -= share
        gradient = ridge * distance
        if is_full:
            gradient[:, :-1] += np.einsum("kr,lr->kl", scores, logits)
        else:
            gradient[:, 0] += (scores * logits).sum(axis=1)
        gradient[:, -1] += scores.sum(axis=1)
        return value, gradient.ravel()

    first = unchanged if start is None else start
    if precondition is None:
        precondition = _precondition(logits, share, ridge) if is_full else _as_it_is
    flat = minimum(loss, first.ravel(), tolerance=tolerance, precondition=precondition)
    fitted = flat.reshape(unchanged.shape)
    return ClassLinearMap(coefficients=[row.tolist() for row in fitted])


def _precondition(logits: Matrix, share: Floats, ridge: Matrix) -> Callable[[Floats], Floats]:
    """Multiply each class's coefficients by the inverse of their mean curvature at the identity."""
    regressors = np.vstack([logits, np.ones(logits.shape[1])])
    probability = softmax(logits.T)
    weight = share * (1 - (probability**2).sum(axis=1)) / len(logits)
    curvature = np.einsum("kr,lr->kl", regressors * weight, regressors)
    inverted = inverse(curvature + np.diag(ridge[-1, [0] * len(logits) + [-1]]))

    def multiplied(gradient: Floats) -> Floats:
        product: Floats = np.einsum("kl,lm->km", gradient.reshape(ridge.shape), inverted).ravel()
        return product

    return multiplied


def _as_it_is(gradient: Floats) -> Floats:
    return gradient


def identity(classes: int, *, is_full: bool) -> Matrix:
    """Return the coefficients of the map that changes nothing, with all slopes or one for each class."""
    slopes = np.eye(classes) if is_full else np.ones((classes, 1))
    return np.column_stack([slopes, np.zeros(classes)])


def _ridges(unchanged: Matrix, penalty: Penalty) -> Matrix:
    """Return the penalty of each coefficient."""
    ridges = np.where(unchanged == 1, penalty.diagonal, penalty.other or 0.0)
    ridges[:, -1] = penalty.intercept
    return ridges


def tuned_penalty(folds: Sequence[ClassFold], *, is_full: bool) -> Penalty:
    """Choose the penalties one after the other by the cross-fitted log loss, each from ``RIDGES``.

    The search starts at .01 and goes on while the loss falls. Each fit starts from the last one of its fold.
    """
    if not folds:
        return Penalty(other=RIDGES[_MIDDLE] if is_full else None)
    rows = int(folds[0].training.count.sum())
    penalty = Penalty(other=RIDGES[_MIDDLE] if is_full else None, rows=rows)
    starts: list[Matrix | None] = [None] * len(folds)

    def loss(candidate: Penalty) -> float:
        total, count = 0.0, 0
        for index, fold in enumerate(folds):
            fitted = fit_linear(fold.training, candidate, starts[index], _TUNING_TOLERANCE)
            starts[index] = np.array(fitted.coefficients)
            total += float((label_losses(fitted, fold.held_out) * fold.held_out.count).sum())
            count += int(fold.held_out.count.sum())
        return total / count

    lowest = loss(penalty)
    for with_ridge in _WITH_RIDGE[0 if is_full else 1 :]:
        for direction in (RIDGES[_MIDDLE + 1 :], RIDGES[_MIDDLE - 1 :: -1]):
            for ridge in direction:
                candidate = with_ridge(penalty, ridge)
                candidate_loss = loss(candidate)
                if candidate_loss >= lowest:
                    break
                penalty, lowest = candidate, candidate_loss
    return penalty


def fit_one_vs_rest(counts: ClassCounts, *, with_intervals: bool) -> OneVsRestMap:
    """Fit a map of each class against the rest: isotonic regression, or Venn-Abers with intervals.

    A probability of 0 or 1 would let one row of another class outweigh all others. So an isotonic block at
    an end has the rate (k+1)/(n+2) instead, unless its neighbour's rate is closer.
    """
    labels = counts.observed_labels()
    parts = [counts.one_vs_rest(index, labels) for index in range(labels.shape[1])]
    if with_intervals:
        return OneVsRestMap(maps=[fit_venn_abers(part) for part in parts])
    return OneVsRestMap(maps=[fit_isotonic(part, certain=False) for part in parts])

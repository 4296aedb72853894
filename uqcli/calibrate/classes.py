"""Joint calibration of many classes.

Sums are over distinct rows in sorted order, so the result does not depend on row order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from uqcli.base.class_counts import ClassCounts, Matrix
from uqcli.base.counts import Floats
from uqcli.base.records import dataclass
from uqcli.calibrate.maps import ClassMap
from uqcli.calibrate.maps.class_linear import ClassLinearMap
from uqcli.calibrate.maps.class_temperature import ClassTemperatureMap
from uqcli.calibrate.maps.isotonic import fit_isotonic
from uqcli.calibrate.maps.logistic import at_bound, best_slope
from uqcli.calibrate.maps.one_vs_rest import OneVsRestMap
from uqcli.calibrate.maps.venn_abers import fit_venn_abers
from uqcli.estimates.linear_scaling import MIDDLE, RIDGES, Penalty, fit_coefficients
from uqcli.estimates.logits import class_logits, softmax
from uqcli.estimates.score_metrics import CLIP

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


_WITH_RIDGE: Final[Sequence[Callable[[Penalty, float], Penalty]]] = (
    lambda penalty, ridge: replace(penalty, other=ridge),
    lambda penalty, ridge: replace(penalty, intercept=ridge),
    lambda penalty, ridge: replace(penalty, diagonal=ridge),
)
"""Replacements of one ridge, in the order in which they are chosen."""


def fit_linear(
    counts: ClassCounts, penalty: Penalty, start: Matrix | None = None, tolerance: float = 1e-7
) -> ClassLinearMap:
    """Fit vector or structured matrix scaling (see ``fit_coefficients``)."""
    coefficients = fit_coefficients(counts, penalty, start, tolerance)
    return ClassLinearMap(coefficients=[row.tolist() for row in coefficients])


def tuned_penalty(folds: Sequence[ClassFold], *, is_full: bool) -> Penalty:
    """Choose the penalties one after the other by the cross-fitted log loss, each from ``RIDGES``.

    The search starts at .01 and goes on while the loss falls. Each fit starts from the last one of its fold.
    """
    if not folds:
        return Penalty(other=RIDGES[MIDDLE] if is_full else None)
    rows = int(folds[0].training.count.sum())
    penalty = Penalty(other=RIDGES[MIDDLE] if is_full else None, rows=rows)
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
        for direction in (RIDGES[MIDDLE + 1 :], RIDGES[MIDDLE - 1 :: -1]):
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

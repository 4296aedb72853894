"""Parametric calibration: Platt, temperature and beta scaling.

Maximum likelihood on tie-pooled counts. The likelihood has no maximum with a single class, or if a threshold
separates the classes. The fit is then penalised by half the sum of squared coefficients of the standardised
log-odds. This penalty is weak, but sufficient for finite coefficients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uqcli.base.blockwise import sums_by_part
from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.records import dataclass
from uqcli.calibrate.maps.beta import BetaMap
from uqcli.calibrate.maps.logistic import LogisticMap
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.calibrate.scale import Scale
from uqcli.estimates.logits import CLIP
from uqcli.kernels.logistic import (
    fit_in_parts,
    likelihood_has_maximum,
    logistic_fit,
    negative_log_likelihood,
    sigmoid,
)

PENALTY = 1.0
_FLATTEST, _STEEPEST = 1e-3, 1e3
"""Bounds of the slope of temperature scaling, 1/T."""


@dataclass(frozen=True, kw_only=True)
class FittedMap:
    """A map and notes on its fit."""

    map: ScoreMap
    notes: tuple[str, ...] = ()


def fit_platt(counts: ValueCounts, scale: Scale) -> FittedMap:
    """Fit ``sigmoid(intercept + slope * log-odds)``.

    Parameters
    ----------
    counts
        Corrected scores.
    """
    features = scale.log_odds(counts.value)[None, :]
    penalised = not likelihood_has_maximum(features[0], counts.count, counts.positives, falling=True)
    intercept, slope = _fitted(features, counts, penalised=penalised)
    notes = penalty_note(counts) if penalised else ()
    if features[0, 0] == features[0, -1]:
        notes = (*notes, "All scores are equal: the calibrated probability is one number.")
    elif slope < 0:
        notes = (*notes, "The slope is negative: higher scores are less often positive.")
    return FittedMap(map=LogisticMap(intercept=float(intercept), slope=float(slope)), notes=notes)


def _fitted(features: Floats, counts: ValueCounts, *, penalised: bool) -> Floats:
    """Fit the coefficients, with the weak penalty if there is no maximum."""
    if penalised:
        return logistic_fit(features, counts.count, counts.positives, ridge=PENALTY)
    return fit_in_parts(features, counts.count, counts.positives)


def fit_temperature(counts: ValueCounts, scale: Scale) -> FittedMap:
    """Fit ``sigmoid(log-odds / T)`` with 1/T between 1e-3 and 1e3."""
    log_odds = scale.log_odds(counts.value)

    def derivative(slope: float) -> tuple[float, float]:
        def terms(part: slice) -> tuple[Floats, Floats]:
            x, count = log_odds[part], counts.count[part]
            probability = sigmoid(slope * x)
            first = (count * probability - counts.positives[part]) * x
            return first, count * probability * (1 - probability) * x**2

        first, second = sums_by_part(terms, len(log_odds))
        return sum(first), sum(second)

    slope = best_slope(derivative)
    return FittedMap(map=LogisticMap(intercept=0.0, slope=slope), notes=at_bound(slope))


def at_bound(slope: float) -> tuple[str, ...]:
    """Note that the slope of temperature scaling is at a bound; empty if it is not."""
    return (f"The temperature is at its bound of {1 / slope:g}.",) if slope in (_FLATTEST, _STEEPEST) else ()


def best_slope(derivative: Callable[[float], tuple[float, float]]) -> float:
    """Compute the slope of temperature scaling, 1/T, by Newton's method within a bracket.

    Parameters
    ----------
    derivative
        First and second derivative of the convex loss at a slope.
    """
    low, high = _FLATTEST, _STEEPEST
    if derivative(low)[0] >= 0:
        return low
    if derivative(high)[0] <= 0:
        return high
    slope = 1.0
    for _ in range(200):
        first, second = derivative(slope)
        low, high = (slope, high) if first < 0 else (low, slope)
        newton_slope = slope - first / second if second > 0 else low
        next_slope = newton_slope if low < newton_slope < high else float(np.sqrt(low * high))
        if abs(next_slope - slope) <= 1e-14 * slope:
            return next_slope
        slope = next_slope
    return slope


def fit_beta(counts: ValueCounts, scale: Scale) -> FittedMap:
    """Fit ``sigmoid(a ln s - b ln(1-s) + c)`` with a, b >= 0.

    Keeps the best feasible fit with both slopes, with either slope alone, or with none.
    """
    score = np.clip(scale.probability(counts.value), CLIP, 1 - CLIP)
    features = np.stack([np.log(score), -np.log1p(-score)])
    penalised = not likelihood_has_maximum(
        features[0] + features[1], counts.count, counts.positives, falling=False
    )
    candidates: list[tuple[float, int, Floats]] = []
    for columns in ([0, 1], [0], [1], []):
        fitted = _fitted(features[columns], counts, penalised=penalised)
        if (fitted[1:] >= 0).all() and np.isfinite(fitted).all():
            coefficients = np.zeros(3)
            coefficients[[0, *(1 + index for index in columns)]] = fitted
            loss = negative_log_likelihood(coefficients, features, counts.count, counts.positives)
            candidates.append((loss, len(candidates), coefficients))
            if len(columns) == 2:
                break  # the loss is convex, so a feasible interior optimum is the global one
    _, _, (c, a, b) = min(candidates)
    notes = penalty_note(counts) if penalised else ()
    return FittedMap(map=BetaMap(a=float(a), b=float(b), c=float(c)), notes=notes)


def penalty_note(counts: ValueCounts) -> tuple[str, ...]:
    """Note that a penalty keeps the coefficients finite, and why."""
    total = int(counts.positives.sum())
    why = "all labels are equal" if total in (0, counts.rows) else "a threshold separates the classes"
    return (f"No likelihood is highest ({why}): a weak penalty keeps the coefficients finite.",)

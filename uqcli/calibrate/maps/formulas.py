"""Formulas of the log-odds: Platt and temperature scaling, and beta calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from uqcli.base.blockwise import sums_by_part
from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, ValueCounts
from uqcli.calibrate.maps.base import BaseScoreMap, FittedMap, finite
from uqcli.calibrate.scale import Scale
from uqcli.estimates.linear_scaling import CLIP
from uqcli.kernels.logistic import fit_in_parts, likelihood_has_maximum, logistic_fit, negative_log_likelihood
from uqcli.kernels.logistic import sigmoid as logistic
from uqcli.rules.expressions import Arithmetic, Constant, Expression, Function, clipped, let, minus, sigmoid

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


_FLATTEST, STEEPEST = 1e-3, 1e3
"""Bounds of the slope of temperature scaling, 1/T."""


class LogisticMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="logistic"):
    """``sigmoid(intercept + slope * log-odds)``: Platt scaling, or temperature scaling with intercept 0."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset(
        {CalibrationMethod.PLATT, CalibrationMethod.TEMPERATURE}
    )

    intercept: float
    slope: float

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
        """See BaseScoreMap."""
        fit_method = fit_platt if options.method is CalibrationMethod.PLATT else fit_temperature
        return fit_method(counts, options.scale)

    def contradiction(self) -> str:
        """See BaseMap."""
        fine = finite([self.intercept, self.slope])
        return "" if fine else "its coefficients are not finite"

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        with np.errstate(over="ignore"):  # infinite log-odds give probabilities 0 and 1
            return logistic(self.intercept + self.slope * scale.log_odds(corrected))

    def expression(self, corrected: Expression, scale: Scale) -> Expression:
        """See BaseScoreMap."""
        within = scale.exported_within(corrected, slopes=(self.slope, self.slope))
        slope = Arithmetic("*", Constant(self.slope), scale.exported_log_odds(within))
        return sigmoid(Arithmetic("+", Constant(self.intercept), slope))

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return abs(self.intercept), abs(self.slope)

    def steps(self) -> Sequence[float]:
        """See BaseMap; with the steepest slope nearly all values are 0 and 1."""
        return (0.0, 1.0) if self.slope == STEEPEST else ()

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"sigmoid({self.slope:.6g} * log-odds {self.intercept:+.6g})"


def fit_platt(counts: ValueCounts, scale: Scale) -> FittedMap:
    """Fit ``sigmoid(intercept + slope * log-odds)`` to corrected scores."""
    features = scale.log_odds(counts.value)[None, :]
    penalised = not likelihood_has_maximum(features[0], counts.count, counts.positives, falling=True)
    intercept, slope = fit_coefficients(features, counts, penalised=penalised)
    notes = penalty_note(counts) if penalised else ()
    if features[0, 0] == features[0, -1]:
        notes = (*notes, "All scores are equal: the calibrated probability is one number.")
    elif slope < 0:
        notes = (*notes, "The slope is negative: higher scores are less often positive.")
    return FittedMap(map=LogisticMap(intercept=float(intercept), slope=float(slope)), notes=notes)


def fit_temperature(counts: ValueCounts, scale: Scale) -> FittedMap:
    """Fit ``sigmoid(log-odds / T)`` with 1/T between 1e-3 and 1e3."""
    log_odds = scale.log_odds(counts.value)

    def derivative(slope: float) -> tuple[float, float]:
        def terms(part: slice) -> tuple[Floats, Floats]:
            x, count = log_odds[part], counts.count[part]
            probability = logistic(slope * x)
            first = (count * probability - counts.positives[part]) * x
            return first, count * probability * (1 - probability) * x**2

        first, second = sums_by_part(terms, len(log_odds))
        return sum(first), sum(second)

    slope = best_slope(derivative)
    return FittedMap(map=LogisticMap(intercept=0.0, slope=slope), notes=at_bound(slope))


def at_bound(slope: float) -> tuple[str, ...]:
    """Note that the slope of temperature scaling is at a bound; empty if it is not."""
    return (f"The temperature is at its bound of {1 / slope:g}.",) if slope in (_FLATTEST, STEEPEST) else ()


_LAST_STEP: Final = 1e-7
"""Step of the slope, relative to it, after which the next one of Newton's method would be of rounding."""

_FEW_STEPS: Final = 10
"""Steps in which Newton's method has converged from a start near the slope."""

Derivative = Callable[[float], tuple[float, float]]
"""Function from a slope to the first and second derivative of a convex loss."""


def best_slope(derivative: Derivative) -> float:
    """Compute the slope of temperature scaling, 1/T, by Newton's method within a bracket."""
    low, high = _FLATTEST, STEEPEST
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
        if abs(next_slope - slope) <= _LAST_STEP * slope:
            return next_slope
        slope = next_slope
    return slope


def slope_near(start: float, derivative: Derivative) -> float:
    """Compute ``best_slope`` from a start near it; from 1 if Newton's steps do not converge at once."""
    slope = start
    for _ in range(_FEW_STEPS):
        if not _FLATTEST < slope < STEEPEST:
            break
        first, second = derivative(slope)
        if not abs(first) < slope / 2 * second:
            break
        step = first / second
        slope -= step
        if abs(step) <= _LAST_STEP * slope:
            return min(max(slope, _FLATTEST), STEEPEST)
    return best_slope(derivative)


PENALTY: Final = 1.0
"""Weak penalty, of half the sum of squared coefficients of the standardised log-odds.

The likelihood has no maximum with a single class, or if a threshold separates the classes; then the penalty
keeps the coefficients finite.
"""


def fit_coefficients(features: Floats, counts: ValueCounts, *, penalised: bool) -> Floats:
    """Fit the coefficients, with the weak penalty if there is no maximum."""
    if penalised:
        return logistic_fit(features, counts.count, counts.positives, ridge=PENALTY)
    return fit_in_parts(features, counts.count, counts.positives)


def penalty_note(counts: ValueCounts) -> tuple[str, ...]:
    """Note that a penalty keeps the coefficients finite, and why."""
    total = int(counts.positives.sum())
    why = "all labels are equal" if total in (0, counts.rows) else "a threshold separates the classes"
    return (f"No likelihood is highest ({why}): a weak penalty keeps the coefficients finite.",)


class BetaMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="beta"):
    """``sigmoid(a ln s - b ln(1-s) + c)``."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.BETA})

    a: float
    b: float
    c: float

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
        """See BaseScoreMap."""
        return fit_beta(counts, options.scale)

    def contradiction(self) -> str:
        """See BaseMap."""
        if not finite([self.a, self.b, self.c]) or min(self.a, self.b) < 0:
            return "its coefficients are not finite, or a or b is negative"
        return ""

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        score = np.clip(scale.probability(corrected), CLIP, 1 - CLIP)
        return logistic(self.a * np.log(score) - self.b * np.log1p(-score) + self.c)

    def expression(self, corrected: Expression, scale: Scale) -> Expression:
        """See BaseScoreMap."""

        def log_odds(score: Expression) -> Expression:
            failure = Function("ln", minus(Constant(1.0), score))
            difference = minus(
                Arithmetic("*", Constant(self.a), Function("ln", score)),
                Arithmetic("*", Constant(self.b), failure),
            )
            return Arithmetic("+", difference, Constant(self.c))

        clipped_score = clipped(scale.exported_probability(corrected), CLIP, 1 - CLIP)
        return sigmoid(let(clipped_score, log_odds, "clipped"))

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return abs(self.c), self.a + self.b

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"sigmoid({self.a:.6g} ln s - {self.b:.6g} ln(1-s) {self.c:+.6g})"


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
        fitted = fit_coefficients(features[columns], counts, penalised=penalised)
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

"""Platt and temperature scaling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from uqcli.base.choices import CalibrationMethod
from uqcli.calibrate.maps.base import BaseScoreMap, Fit
from uqcli.calibrate.maps.contradictions import finite
from uqcli.calibrate.maps.penalised import fit_coefficients, penalty_note
from uqcli.rules.expressions import Arithmetic, Constant, Expression, sigmoid

if TYPE_CHECKING:
    from uqcli.base.counts import Floats, ValueCounts
    from uqcli.calibrate.fit_options import CalibrationOptions
    from uqcli.calibrate.scale import Scale


_FLATTEST, _STEEPEST = 1e-3, 1e3
"""Bounds of the slope of temperature scaling, 1/T."""


class LogisticMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="logistic"):
    """``sigmoid(intercept + slope * log-odds)``: Platt scaling, or temperature scaling with intercept 0."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset(
        {CalibrationMethod.PLATT, CalibrationMethod.TEMPERATURE}
    )

    intercept: float
    slope: float

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> Fit:
        """See BaseScoreMap."""
        fit_method = fit_platt if options.method is CalibrationMethod.PLATT else fit_temperature
        return fit_method(counts, options.scale)

    def contradiction(self) -> str | None:
        """See BaseMap."""
        fine = finite([self.intercept, self.slope])
        return None if fine else "its coefficients are not finite"

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        import numpy as np

        from uqcli.kernels.logistic import sigmoid

        with np.errstate(over="ignore"):  # infinite log-odds give probabilities 0 and 1
            return sigmoid(self.intercept + self.slope * scale.log_odds(corrected))

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del uncertainty
        slope = Arithmetic("*", Constant(self.slope), scale.exported_log_odds(corrected))
        probability = sigmoid(Arithmetic("+", Constant(self.intercept), slope))
        return scale.exported_beyond(corrected, probability, slopes=(self.slope, self.slope))

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return abs(self.intercept), abs(self.slope)

    def formula(self) -> str:
        """See BaseScoreMap."""
        return f"sigmoid({self.slope:.6g} * log-odds {self.intercept:+.6g})"


def fit_platt(counts: ValueCounts, scale: Scale) -> Fit:
    """Fit ``sigmoid(intercept + slope * log-odds)``.

    Parameters
    ----------
    counts
        Corrected scores.
    """
    from uqcli.kernels.logistic import likelihood_has_maximum

    features = scale.log_odds(counts.value)[None, :]
    penalised = not likelihood_has_maximum(features[0], counts.count, counts.positives, falling=True)
    intercept, slope = fit_coefficients(features, counts, penalised=penalised)
    notes = penalty_note(counts) if penalised else ()
    if features[0, 0] == features[0, -1]:
        notes = (*notes, "All scores are equal: the calibrated probability is one number.")
    elif slope < 0:
        notes = (*notes, "The slope is negative: higher scores are less often positive.")
    return Fit(map=LogisticMap(intercept=float(intercept), slope=float(slope)), notes=notes)


def fit_temperature(counts: ValueCounts, scale: Scale) -> Fit:
    """Fit ``sigmoid(log-odds / T)`` with 1/T between 1e-3 and 1e3."""
    from uqcli.base.blockwise import sums_by_part
    from uqcli.kernels.logistic import sigmoid as logistic

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
    return Fit(map=LogisticMap(intercept=0.0, slope=slope), notes=at_bound(slope))


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
    import numpy as np

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

"""Logistic surface over score and uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, Ints, Matrix, distinct_numbers
from uqcli.base.defaults import FOLDS
from uqcli.base.rows import Rows
from uqcli.calibrate.maps.base import BaseRowMap, Calibrated, Features, finite, formula_table
from uqcli.calibrate.maps.isotonic import IsotonicMap
from uqcli.calibrate.maps.spline import RIDGES
from uqcli.calibrate.scale import Scale
from uqcli.estimates.score_metrics import log_losses
from uqcli.kernels.logistic import logistic_fit
from uqcli.kernels.logistic import sigmoid as logistic
from uqcli.reports.document import Table
from uqcli.rules.expressions import Arithmetic, Constant, Expression, clipped, let, minus, sigmoid

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


_KNOTS: Final = 17
"""Knots of the normal scores of the uncertainty."""

_LARGEST_NORMAL_SCORE: Final = 8.0
_LEAST_SPREAD: Final = 0.1
"""Standard deviation of z^2 below which it is left out: two uncertainties of equally many rows have the same
z^2, and a coefficient of their small difference would say nothing of the uncertainties between them."""

_LARGEST_LOG_ODDS: Final = 1e100
_COMPARED_ROWS: Final = 100_000
"""Rows among which the ridge is chosen."""


class SurfaceMap(BaseRowMap, frozen=True, kw_only=True, tag_field="map", tag="surface"):
    """``sigmoid(level + slope x)`` with ``level = a + b z + c z^2`` and ``slope = d + e z + f x``.

    x are the log-odds of the score, at most ``reach`` from 0, and z is the normal score of the uncertainty.
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.SURFACE})
    needs_uncertainty: ClassVar[bool] = True

    level: Annotated[list[float], Meta(min_length=3, max_length=3)]
    slope: Annotated[list[float], Meta(min_length=3, max_length=3)]
    reach: Annotated[float, Meta(ge=0)]
    normal_score: IsotonicMap
    """1/2 + z/16 for each uncertainty, which keeps it between 0 and 1."""

    def contradiction(self) -> str:
        """See BaseMap."""
        if not finite([*self.level, *self.slope, self.reach]):
            return "its coefficients are not finite"
        return self.normal_score.contradiction()

    def predict(
        self, corrected: Floats, scale: Scale, uncertainty: Floats | None = None, features: Features = None
    ) -> Calibrated:
        """See BaseRowMap."""
        del features
        assert uncertainty is not None  # guaranteed by needs_uncertainty
        z = _normal_score(uncertainty, self.normal_score, scale)
        x = np.clip(scale.log_odds(corrected), -self.reach, self.reach)
        level = self.level[0] + z * (self.level[1] + z * self.level[2])
        slope = self.slope[0] + z * self.slope[1] + x * self.slope[2]
        return Calibrated(probability=logistic(level + slope * x))

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        assert uncertainty is not None  # guaranteed by needs_uncertainty
        position = self.normal_score.exported(uncertainty, scale)
        normal_score = Arithmetic("*", Constant(2 * _LARGEST_NORMAL_SCORE), minus(position, Constant(0.5)))
        odds = clipped(scale.exported_log_odds(corrected), -self.reach, self.reach)

        def log_odds(z: Expression, x: Expression) -> Expression:
            slope = _line(self.slope[0], z, Constant(self.slope[1]))
            if self.slope[2]:
                slope = Arithmetic("+", slope, Arithmetic("*", x, Constant(self.slope[2])))
            level = _line(self.level[0], z, _line(self.level[1], z, Constant(self.level[2])))
            return Arithmetic("+", level, Arithmetic("*", slope, x))

        if not self.slope[2]:
            return sigmoid(let(normal_score, lambda z: log_odds(z, odds)))
        return sigmoid(let(normal_score, lambda z: let(odds, lambda x: log_odds(z, x))))

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        z = _LARGEST_NORMAL_SCORE
        a, b, c = map(abs, self.level)
        d, e, f = map(abs, self.slope)
        return a + z * (b + z * c), d + z * e + self.reach * f

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate its formula."""
        del undersampled
        (a, b, c), (d, e, f) = self.level, self.slope
        curve = f" {f:+.4g} x" if f else ""
        formula = f"sigmoid({a:.4g} {b:+.4g} z {c:+.4g} z^2 + ({d:.4g} {e:+.4g} z{curve}) * x)"
        return [formula_table(f"{formula}, x: log-odds, z: normal score of the uncertainty")]


def _line(constant: float, z: Expression, factor: Expression) -> Expression:
    return Arithmetic("+", Constant(constant), Arithmetic("*", z, factor))


def fit_surface(rows: Rows, options: CalibrationOptions) -> SurfaceMap:
    """Fit a logistic model in (x, z, x z, z^2), or also in x^2, with a ridge; what has the lowest log loss.

    The losses are cross-fitted. The penalty is half the ridge times the sum of squared coefficients of the
    standardised features. Rows are pooled, with corrected scores and an uncertainty.
    """
    from uqcli.calibrate.folds import folds_of, sample_of_rows, units_of  # most runs apply a map

    candidates = [(ridge, curved) for curved in (False, True) for ridge in RIDGES]
    best, compared = candidates[0], sample_of_rows(rows, _COMPARED_ROWS, options.seed)
    if units_of(compared, options.cluster) >= FOLDS:
        losses = np.zeros(len(candidates))
        for training, held_out in folds_of(compared, options.seed, options.cluster):
            fit = _fit_by_candidate(training, options.scale)
            for index, candidate in enumerate(candidates):
                fitted = fit(*candidate)
                predicted = fitted.predict(held_out.score, options.scale, held_out.uncertainty)
                if_positive, if_negative = log_losses(predicted.probability)
                loss = np.where(held_out.labels, if_positive, if_negative)
                losses[index] += (loss * held_out.weights()).sum()
        best = candidates[int(np.argmin(losses))]
    return _fit_by_candidate(rows, options.scale)(*best)


def _fit_by_candidate(rows: Rows, scale: Scale) -> Callable[[float, bool], SurfaceMap]:
    """Return a function that fits a surface with a given ridge, curved or not."""
    uncertainty, weight = rows.uncertainty, rows.weights()
    assert uncertainty is not None  # guaranteed by needs_uncertainty
    normal_score = _fit_normal_scores(uncertainty, weight)
    z = _normal_score(uncertainty, normal_score, scale)
    x = np.clip(scale.log_odds(rows.score), -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
    square, total = z * z, weight.sum()
    variance = (weight * (square - (weight * square).sum() / total) ** 2).sum() / total  # without BLAS
    if np.sqrt(variance) < _LEAST_SPREAD:
        square = np.zeros(len(z))
    features, positives = [x, z, x * z, square, x * x], weight * rows.labels
    largest = float(np.abs(x[weight > 0]).max())

    def fit(ridge: float, curved: bool) -> SurfaceMap:
        used: Matrix = np.stack(features if curved else features[:-1])
        a, d, b, e, c, *f = logistic_fit(used, weight, positives, ridge).tolist()
        reach = (1 if curved else 2) * largest  # a parabola turns beyond what it fits
        return SurfaceMap(
            level=[a, b, c], slope=[d, e, *(f or [0.0])], reach=reach, normal_score=normal_score
        )

    return fit


def _normal_score(uncertainty: Floats, fitted: IsotonicMap, scale: Scale) -> Floats:
    """Compute z of uncertainties from its fitted map to [0, 1]."""
    return 2 * _LARGEST_NORMAL_SCORE * (fitted.probability(uncertainty, scale) - 0.5)


def _fit_normal_scores(uncertainty: Floats, weight: Ints) -> IsotonicMap:
    """Return the normal scores of the middle ranks of at most ``_KNOTS`` uncertainties."""
    value, index = np.unique(uncertainty[weight > 0], return_inverse=True)
    rows = np.bincount(index, weights=weight[weight > 0])
    middle = (np.cumsum(rows) - rows / 2) / rows.sum()
    at = np.arange(len(value))
    if len(value) > _KNOTS:
        at = distinct_numbers(np.searchsorted(middle, np.linspace(middle[0], middle[-1], _KNOTS)))
    scores = [NormalDist().inv_cdf(rank) for rank in middle[at].tolist()]
    bounded = np.clip(scores, -_LARGEST_NORMAL_SCORE, _LARGEST_NORMAL_SCORE)
    return IsotonicMap(x=value[at].tolist(), y=(0.5 + bounded / (2 * _LARGEST_NORMAL_SCORE)).tolist())

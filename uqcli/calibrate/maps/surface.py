"""Logistic surface over score and uncertainty."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, Ints, Matrix, distinct_numbers
from uqcli.base.defaults import FOLDS
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.calibrate.maps.base import BaseRowMap, Calibrated, Features, finite, formula_table
from uqcli.calibrate.maps.isotonic import IsotonicMap
from uqcli.calibrate.maps.spline import RIDGES
from uqcli.calibrate.scale import Scale
from uqcli.estimates.score_metrics import log_losses
from uqcli.kernels.logistic import fits_by_ridge, logistic_fit
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

_ROUNDING: Final = 1e-12
"""Difference of losses, relative to them, that may be an error of rounding."""


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
        return Calibrated(probability=self.at(z, scale.log_odds(corrected)))

    def at(self, z: Floats, log_odds: Floats) -> Floats:
        """Compute the probability at normal scores of the uncertainty and log-odds of the score."""
        x = np.clip(log_odds, -self.reach, self.reach)
        level = self.level[0] + z * (self.level[1] + z * self.level[2])
        slope = self.slope[0] + z * self.slope[1] + x * self.slope[2]
        return logistic(level + slope * x)

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

    candidates = [(curved, ridge) for curved in (False, True) for ridge in RIDGES]
    (curved, ridge), compared = candidates[0], sample_of_rows(rows, _COMPARED_ROWS, options.seed)
    if units_of(compared, options.cluster) >= FOLDS:
        losses = np.zeros(len(candidates))
        for training, held_out in folds_of(compared, options.seed, options.cluster):
            losses += _losses(_Design.of(training, options.scale), held_out, options.scale)
        # if all labels are equal, a curve changes nothing but the rounding
        lowest = losses <= losses.min() * (1 + _ROUNDING)
        curved, ridge = candidates[int(np.argmax(lowest))]
    design = _Design.of(rows, options.scale)
    return design.surface(
        logistic_fit(design.features(curved=curved), design.weight, design.positives, ridge)
    )


def _losses(design: _Design, held_out: Rows, scale: Scale) -> list[float]:
    """Compute the log losses of rows under surfaces without and with a curve, for each ridge."""
    assert held_out.uncertainty is not None  # guaranteed by needs_uncertainty
    z = _normal_score(held_out.uncertainty, design.normal_score, scale)
    log_odds = scale.log_odds(held_out.score)
    weight, losses = held_out.weights(), []
    for curved in (False, True):
        features = design.features(curved=curved)
        for coefficients in fits_by_ridge(features, design.weight, design.positives, RIDGES):
            if_positive, if_negative = log_losses(design.surface(coefficients).at(z, log_odds))
            losses.append(float((np.where(held_out.labels, if_positive, if_negative) * weight).sum()))
    return losses


@dataclass(frozen=True, kw_only=True)
class _Design:
    """Normal scores of the uncertainty and log-odds of rows, which surfaces are fitted to; shape (n,)."""

    normal_score: IsotonicMap
    z: Floats
    x: Floats
    weight: Ints
    positives: Ints

    @classmethod
    def of(cls, rows: Rows, scale: Scale) -> _Design:
        """Return the design of rows with an uncertainty."""
        uncertainty, weight = rows.uncertainty, rows.weights()
        assert uncertainty is not None  # guaranteed by needs_uncertainty
        normal_score = _fit_normal_scores(uncertainty, weight)
        return cls(
            normal_score=normal_score,
            z=_normal_score(uncertainty, normal_score, scale),
            x=np.clip(scale.log_odds(rows.score), -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS),
            weight=weight,
            positives=weight * rows.labels,
        )

    def features(self, *, curved: bool) -> Matrix:
        """Return x, z, x z, z^2, and with a curve x^2."""
        square, total = self.z * self.z, self.weight.sum()
        mean = (self.weight * square).sum() / total
        variance = (self.weight * (square - mean) ** 2).sum() / total  # without BLAS
        if np.sqrt(variance) < _LEAST_SPREAD:
            square = np.zeros(len(self.z))
        return np.stack([self.x, self.z, self.x * self.z, square, *([self.x * self.x] if curved else [])])

    def surface(self, coefficients: Floats) -> SurfaceMap:
        """Return the surface of the coefficients of 1 and of the features."""
        a, d, b, e, c, *f = coefficients.tolist()
        largest = float(np.abs(self.x[self.weight > 0]).max())
        reach = (1 if f else 2) * largest  # a parabola turns beyond what it fits
        return SurfaceMap(
            level=[a, b, c], slope=[d, e, *(f or [0.0])], reach=reach, normal_score=self.normal_score
        )


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

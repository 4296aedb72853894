"""Monotone splines of the log-odds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, Ints, Matrix, ValueCounts
from uqcli.calibrate.maps.base import BaseScoreMap, FittedMap, finite, not_ascending
from uqcli.calibrate.maps.formulas import PENALTY, penalty_note
from uqcli.calibrate.scale import Scale
from uqcli.kernels.interpolation import cubic_pieces, spline
from uqcli.kernels.logistic import intercept_alone, likelihood_has_maximum, penalised_fit, pooled_values
from uqcli.kernels.logistic import sigmoid as logistic
from uqcli.kernels.sums import indices_of_ranks
from uqcli.rules.expressions import Arithmetic, Constant, Expression, Steps, let, minus, sigmoid

if TYPE_CHECKING:
    from uqcli.calibrate.fit_options import CalibrationOptions


INNER_KNOTS: Final = 5
RIDGES: Final = (10.0, 1.0, 0.1, 0.01)
"""Penalties that are tried, from the smoothest."""

_SMALLEST_GAP = 1e-50
"""Distance of knots below which the polynomials between them could overflow."""


class SplineMap(BaseScoreMap, frozen=True, kw_only=True, tag_field="map", tag="spline"):
    """Sigmoid of a cubic spline of the log-odds: B-splines on clamped knots, lines outside them.

    ``levels`` are the coefficients of the B-splines; they ascend, and so does the spline.
    """

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.SPLINE})

    knots: Annotated[list[float], Meta(min_length=2)]
    levels: Annotated[list[float], Meta(min_length=4)]

    @classmethod
    def fit(cls, counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
        """See BaseScoreMap."""
        return fit_spline(counts, options.scale, options.seed)

    def contradiction(self) -> str:
        """See BaseMap."""
        if len(self.levels) != len(self.knots) + 2:
            return "it does not have two levels more than knots"
        if len(set(self.knots)) < len(self.knots):
            return "two of its knots are equal"
        if not finite([*self.knots, *self.levels]):
            return "its knots and levels are not finite"
        return not_ascending(self.knots, "knots") or not_ascending(self.levels, "levels")

    @property
    def _pieces(self) -> Matrix:
        return cubic_pieces(np.array(self.knots), np.array(self.levels)[:, None])

    def probability(self, corrected: Floats, scale: Scale) -> Floats:
        """See BaseScoreMap."""
        with np.errstate(over="ignore", invalid="ignore"):
            return logistic(spline(scale.log_odds(corrected), np.array(self.knots), self._pieces)[0])

    def expression(self, corrected: Expression, scale: Scale) -> Expression:
        """See BaseScoreMap."""
        starts = [self.knots[0], *self.knots]

        def value(x: Expression) -> Expression:
            polynomials = tuple(
                _polynomial(minus(x, Constant(start)), piece[:, 0].tolist())
                for start, piece in zip(starts, self._pieces, strict=True)
            )
            return Steps(x, tuple(self.knots), polynomials)

        below, above = self._pieces[[0, -1], 1, 0].tolist()
        within = scale.exported_within(corrected, slopes=(below, above))
        return sigmoid(let(scale.exported_log_odds(within), value, "log_odds"))

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap: a bound on the terms of every piece, as a line of the log-odds."""
        largest = max(map(abs, self.levels))
        steepest = float(abs(self._pieces[:, 1]).max())
        reach = max(map(abs, self.knots))
        return 8 * largest + steepest * reach, steepest

    def formula(self) -> str:
        """See BaseScoreMap."""
        return (
            f"sigmoid of a spline, {len(self.knots)} knots from {self.knots[0]:.4g} to {self.knots[-1]:.4g}"
        )


def _polynomial(distance: Expression, powers: list[float]) -> Expression:
    """Return the polynomial of a distance, by Horner's rule."""

    def horner(x: Expression) -> Expression:
        value: Expression = Constant(powers[-1])
        for coefficient in reversed(powers[:-1]):
            value = Arithmetic("+", Arithmetic("*", value, x), Constant(coefficient))
        return value

    while len(powers) > 1 and powers[-1] == 0:
        powers = powers[:-1]
    return let(distance, horner)


def fit_spline(counts: ValueCounts, scale: Scale, seed: int) -> FittedMap:
    """Fit a non-decreasing cubic spline of the log-odds, with the penalty of the lowest cross-fitted loss.

    Scores are corrected; the seed is that of the folds.
    """
    from uqcli.calibrate.folds import thinned  # most runs apply a map

    folds = thinned(counts, seed)
    ridge = RIDGES[0]
    if folds.has_training_rows:
        fits = [fit_by_ridge(training, scale) for training in folds.training]
        losses = [folds.losses([fit(ridge).map for fit in fits], scale).mean for ridge in RIDGES]
        ridge = RIDGES[int(np.argmin(losses))]
    return fit_by_ridge(counts, scale)(ridge)


def fit_by_ridge(counts: ValueCounts, scale: Scale) -> Callable[[float], FittedMap]:
    """Return a function that fits a spline with a given penalty.

    The log-odds are ``a + sum_j b_j I_j(x)`` with ``b_j >= 0``, where x are the log-odds of the score and
    I_j are I-splines of degree 3. Interior knots are sextiles of x, and outer ones its first and last
    percentile. The penalty is ``ridge/2`` times the sum of squared differences of neighbouring b_j. More than
    65,536 scores are pooled.
    """
    (x,), count, positives = pooled_values(
        scale.log_odds(counts.value)[None, :], counts.count, counts.positives
    )
    knots = _knots(x, count)
    basis_levels = np.tril(np.ones((len(knots) + 2, len(knots) + 2)))
    basis = spline(x, knots, cubic_pieces(knots, basis_levels))
    penalised = not likelihood_has_maximum(x, count, positives, falling=False)
    notes = penalty_note(counts) if penalised else ()

    def fit(ridge: float) -> FittedMap:
        penalty = _penalty(len(basis), ridge, PENALTY if penalised else 0.0)
        start = intercept_alone(len(basis), count, positives)
        coefficients = penalised_fit(basis, count, positives, penalty, start, bounded=True)
        fitted = SplineMap(knots=knots.tolist(), levels=np.cumsum(coefficients).tolist())
        return FittedMap(map=fitted, notes=notes)

    return fit


def _knots(x: Floats, count: Ints) -> Floats:
    rows = int(count.sum())
    tail = rows // 100
    inner = [rank * rows // (INNER_KNOTS + 1) for rank in range(1, INNER_KNOTS + 1)]
    ranks = np.array([tail, *inner, rows - 1 - tail])
    knots = np.unique(x[indices_of_ranks(count, ranks)])
    knots = knots[np.append(True, np.diff(knots) > _SMALLEST_GAP)]
    return knots if len(knots) > 1 else np.array([knots[0], knots[0] + 1.0])


def _penalty(size: int, ridge: float, weak: float) -> Matrix:
    """Return the penalty as a quadratic form of (a, b_1, ...)."""
    differences = np.diff(np.eye(size - 1), axis=0)
    penalty = np.zeros((size, size))
    penalty[1:, 1:] = ridge * np.einsum("ki,kj->ij", differences, differences) + weak * np.eye(size - 1)
    penalty[0, 0] = weak
    return penalty

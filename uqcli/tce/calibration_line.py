"""Calibration intercept and slope: logistic regression of labels on the log-odds of scores (Cox 1958)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice

import numpy as np

from uqcli.base.blockwise import VALUES_PER_PART, sums_by_part, total
from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.records import dataclass
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.linear_scaling import log_odds
from uqcli.kernels.linear import is_positive_definite, solved
from uqcli.kernels.logistic import class_ends, line_terms, logistic_fit, pool_adjacent, separates, sigmoid

_COARSE_VALUES, _VALUES_PER_POOL = 4096, 128
"""The first fit pools the values to max(4096, n / 128); one Newton step on all then usually suffices."""

_MAX_ITERATIONS = 30
_MAX_STEP, _SMALL_STEP = 20.0, 1e-6


@dataclass(frozen=True, kw_only=True)
class CalibrationLine:
    """``logit P(y) = intercept + slope logit(s)``, and the intercept at slope 1.

    Attributes
    ----------
    coefficients
        Intercept and slope; none if the likelihood has no maximum: a single class, equal scores, or separable
        classes.
    in_the_large
        None with a single class.
    errors
        Standard errors of both, robust to misspecification (sandwich); none unless requested.
    """

    coefficients: Sequence[float] = ()
    in_the_large: float | None
    errors: Sequence[float] = ()

    @property
    def estimates(self) -> tuple[Estimate, Estimate]:
        """Intercept and slope with their errors, as far as there are any."""
        (intercept, slope), (low, high) = (
            [*known, None, None][:2] for known in (self.coefficients, self.errors)
        )
        return Estimate(value=intercept, error=low), Estimate(value=slope, error=high)

    @property
    def intercept(self) -> float | None:
        """Intercept; None if there is no line."""
        return self.estimates[0].value

    @property
    def slope(self) -> float | None:
        """Slope; None if there is no line."""
        return self.estimates[1].value


def calibration_line(counts: ValueCounts, *, errors: bool = False) -> CalibrationLine:
    """Fit both models by maximum likelihood; scores are clipped to [1e-12, 1 - 1e-12] for their log-odds."""
    values = _Values(counts)
    fits_intercept = total(counts.positives) not in (0, counts.rows)
    fits_line = _has_line(counts)
    models = [n_coefficients for n_coefficients, fits in ((1, fits_intercept), (2, fits_line)) if fits]
    fitted = _fit(values, models) if models else []
    in_the_large = float(fitted[0][0]) if fits_intercept else None
    if not fits_line:
        return CalibrationLine(in_the_large=in_the_large)
    beta = fitted[-1]
    return CalibrationLine(
        coefficients=beta.tolist(), in_the_large=in_the_large, errors=_errors(values, beta) if errors else ()
    )


def _has_line(counts: ValueCounts) -> bool:
    """Whether the likelihood of intercept and slope has a maximum."""
    first, last = log_odds(counts.value[[0, -1]])
    if not first < last:
        return False
    ends = class_ends(counts.count, counts.positives)
    return ends is not None and not separates(log_odds(counts.value[ends]), falling=True)


class _Values:
    """Counts with the log-odds of their values, which are computed part by part if they are many."""

    def __init__(self, counts: ValueCounts, given_log_odds: Floats | None = None) -> None:
        self.counts = counts
        self.size = len(counts.value)
        if given_log_odds is None and self.size <= VALUES_PER_PART:
            given_log_odds = log_odds(counts.value)
        self._cached_log_odds = given_log_odds

    def log_odds(self, part: slice) -> Floats:
        """Compute the log-odds of the values of a part."""
        cached = self._cached_log_odds
        return log_odds(self.counts.value[part]) if cached is None else cached[part]

    def with_log_odds(self) -> ValueCounts:
        """Return the counts with log-odds as values."""
        value = self.log_odds(slice(0, self.size))
        return ValueCounts(value=value, count=self.counts.count, positives=self.counts.positives)

    def pooled(self, max_values: int) -> ValueCounts:
        """Pool adjacent values to at most ``max_values``, each at the mean of its log-odds."""
        if self.size <= max_values:
            return self.with_log_odds()
        (mean,), count, positives = pool_adjacent(
            lambda inside: self.log_odds(inside)[None], self.counts.count, self.counts.positives, max_values
        )
        return ValueCounts(value=mean, count=count, positives=positives)


def _fit(values: _Values, coefficient_counts: list[int]) -> list[Floats]:
    """Fit models with the requested numbers of coefficients: intercept at slope 1, or both.

    They are first fitted to pooled values, from the line of calibrated scores.
    """
    coarse = values.pooled(max(_COARSE_VALUES, values.size // _VALUES_PER_POOL))
    if values.size <= _COARSE_VALUES:
        return [_newton(coarse, n_coefficients) for n_coefficients in coefficient_counts]
    calibrated = [np.array([0.0, 1.0][:n_coefficients]) for n_coefficients in coefficient_counts]
    near = _steps_from(calibrated, _Values(coarse, coarse.value))
    starts = _complete(near, coefficient_counts, lambda: coarse)
    return _complete(_steps_from(starts, values), coefficient_counts, values.with_log_odds)


def _complete(
    fits: list[Floats | None], coefficient_counts: list[int], counts: Callable[[], ValueCounts]
) -> list[Floats]:
    """Fit from scratch, to counts by log-odds, what did not converge."""
    return [
        _newton(counts(), n_coefficients) if beta is None else beta
        for n_coefficients, beta in zip(coefficient_counts, fits, strict=True)
    ]


def _steps_from(starts: list[Floats], values: _Values) -> list[Floats | None]:
    """Take Newton steps from nearby starting values, one pass per step for all fits.

    None for a fit that does not converge.
    """
    converged: list[Floats | None] = [None] * len(starts)
    active = {fit_index: start.copy() for fit_index, start in enumerate(starts)}
    for _ in range(_MAX_ITERATIONS):
        if not active:
            break
        derivatives = _derivatives(values, list(active.values()))
        for fit_index, (gradient, hessian) in zip(list(active), derivatives, strict=True):
            beta = active[fit_index]
            step = solved(hessian, gradient)
            if not np.isfinite(step).all():
                del active[fit_index]
                continue
            beta += step
            size = float(np.abs(step).max())
            if size <= _SMALL_STEP * max(1.0, float(np.abs(beta).max())):
                converged[fit_index] = beta  # the remaining error is of the order of the squared step
            if converged[fit_index] is not None or not size < _MAX_STEP:
                del active[fit_index]
    return converged


def _newton(counts: ValueCounts, n_coefficients: int) -> Floats:
    """Fit a model of the given number of coefficients to counts by log-odds, from scratch."""
    if n_coefficients == 2:
        return logistic_fit(counts.value[None, :], counts.count, counts.positives)
    return logistic_fit(np.empty((0, len(counts.value))), counts.count, counts.positives, offset=counts.value)


def _errors(values: _Values, beta: Floats) -> Sequence[float]:
    def terms(part: slice) -> tuple[Floats, ...]:
        x, count, positives = values.log_odds(part), values.counts.count[part], values.counts.positives[part]
        probability = sigmoid(beta[0] + beta[1] * x)
        squares = positives * (1 - probability) ** 2 + (count - positives) * probability**2
        curvature = count * (probability * (1 - probability))
        return (*_moments_of(squares, x), *_moments_of(curvature, x))

    sums = [math.fsum(sums) for sums in sums_by_part(terms, values.size)]
    return sandwich(symmetric(*sums[:3]), symmetric(*sums[3:]))


def sandwich(scatter: Floats, hessian: Floats) -> Sequence[float]:
    """Return the standard errors of both coefficients; none if the Hessian has no inverse.

    ``scatter`` is the sum of the squared gradients of rows, and ``hessian`` that of their log likelihood's.
    """
    if not is_positive_definite(hessian):
        return ()
    variance = [
        (inverse_row * (scatter * inverse_row).sum(axis=1)).sum()
        for inverse_row in map(partial(solved, hessian), np.eye(2))
    ]
    return [float(np.sqrt(part)) for part in variance]


def _derivatives(values: _Values, betas: list[Floats]) -> list[tuple[Floats, Floats]]:
    """Compute the gradient and negative Hessian of each fit's log likelihood, in one pass."""

    def terms(part: slice) -> list[Floats]:
        x, count, positives = values.log_odds(part), values.counts.count[part], values.counts.positives[part]
        return [array for beta in betas for array in line_terms(beta, x, count, positives)]

    sums = map(math.fsum, sums_by_part(terms, values.size))
    derivatives = []
    for beta in betas:
        gradient = np.array(list(islice(sums, len(beta))))
        hessian = np.array([[next(sums)]]) if len(beta) == 1 else symmetric(*islice(sums, 3))
        derivatives.append((gradient, hessian))
    return derivatives


def _moments_of(weight: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    return weight, weight * x, weight * x**2


def symmetric(first: float, mixed: float, second: float) -> Floats:
    """Return a symmetric matrix; shape (2, 2)."""
    return np.array([[first, mixed], [mixed, second]])

"""Calibration intercept and slope: the logistic line of labels on the log-odds of scores (Cox 1958)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from uqcli.counts import Floats, ValueCounts, pool_neighbours
from uqcli.kernels.logistic import likelihood_has_maximum, logistic_fit, sigmoid

_CLIP = 1e-12
_COARSE = 4096
_PART = 1 << 14
_MOST_STEPS = 30
_FAR = 20.0


@dataclass(frozen=True, kw_only=True)
class CalibrationLine:
    """``logit P(y) = intercept + slope logit(s)``, and the intercept where the slope is held at 1.

    Attributes
    ----------
    intercept, slope
        None without a maximum of the likelihood: one class, equal scores, or classes that a score separates.
    in_the_large
        None with one class.
    intercept_error, slope_error
        Standard errors that hold for any shape of the truth (sandwich).
    """

    intercept: float | None
    slope: float | None
    in_the_large: float | None
    intercept_error: float | None = None
    slope_error: float | None = None


def calibration_line(counts: ValueCounts, near: CalibrationLine | None = None) -> CalibrationLine:
    """Fit the line by maximum likelihood; scores are clipped to [1e-12, 1 - 1e-12] for their log-odds.

    Parameters
    ----------
    near
        The line of similar rows to begin with, where only intercept and slope are asked for.
    """
    clipped = np.clip(counts.value, _CLIP, 1 - _CLIP)
    log_odds: Floats = np.log(clipped) - np.log1p(-clipped)
    total = int(counts.positives.sum())
    alone = None
    if near is None and total not in (0, counts.rows):
        alone = float(_fit(counts, log_odds, slope=False)[0])
    varies = log_odds[0] < log_odds[-1]
    if not varies or not likelihood_has_maximum(log_odds, counts.count, counts.positives, falling=True):
        return CalibrationLine(intercept=None, slope=None, in_the_large=alone)
    start = None
    if near is not None and near.intercept is not None and near.slope is not None:
        start = np.array([near.intercept, near.slope])
    fitted = _fit(counts, log_odds, slope=True, start=start)
    errors = _errors(counts, log_odds, fitted)
    return CalibrationLine(
        intercept=float(fitted[0]),
        slope=float(fitted[1]),
        in_the_large=alone,
        intercept_error=errors[0],
        slope_error=errors[1],
    )


def _fit(counts: ValueCounts, log_odds: Floats, *, slope: bool, start: Floats | None = None) -> Floats:
    """Intercept and slope, or the intercept beside a slope of 1: from neighbours pooled to all values."""
    if start is None:
        coarse = pool_neighbours(counts, log_odds, _COARSE)
        start = _newton(coarse, coarse.value, slope)
        if len(log_odds) <= _COARSE:
            return start
    near = _steps_from(start, counts, log_odds, slope)
    return _newton(counts, log_odds, slope) if near is None else near


def _steps_from(start: Floats, counts: ValueCounts, log_odds: Floats, slope: bool) -> Floats | None:
    """Newton's steps from nearby; None where they do not settle."""
    beta, used = start.copy(), slice(0, 2 if slope else 1)
    for _ in range(_MOST_STEPS):
        gradient, hessian, _ = _moments(counts, log_odds, beta)
        try:
            step = np.linalg.solve(hessian[used, used], gradient[used])
        except np.linalg.LinAlgError:
            return None
        beta[used] += step
        size = float(np.abs(step).max())
        if size <= 1e-9 * max(1.0, float(np.abs(beta).max())):
            return beta
        if not size < _FAR:
            return None
    return None


def _newton(counts: ValueCounts, log_odds: Floats, slope: bool) -> Floats:
    if slope:
        return logistic_fit(log_odds[None, :], counts.count, counts.positives)
    alone = logistic_fit(np.empty((0, len(log_odds))), counts.count, counts.positives, offset=log_odds)
    return np.array([alone[0], 1.0])


def _errors(counts: ValueCounts, log_odds: Floats, beta: Floats) -> tuple[float | None, float | None]:
    _, hessian, scatter = _moments(counts, log_odds, beta)
    if not np.linalg.det(hessian) > 0:
        return None, None
    inverse = np.linalg.inv(hessian)
    variance = np.diag(inverse @ scatter @ inverse)
    return float(np.sqrt(variance[0])), float(np.sqrt(variance[1]))


def _moments(counts: ValueCounts, log_odds: Floats, beta: Floats) -> tuple[Floats, Floats, Floats]:
    """Gradient and negative Hessian of the log likelihood, and the scatter of the rows' gradients."""
    cuts = itertools.pairwise([*range(0, len(log_odds), _PART), len(log_odds)])
    parts = [_part(counts, log_odds, beta, slice(a, b)) for a, b in cuts]
    sums = [math.fsum(column) for column in zip(*parts, strict=True)]
    gradient = np.array(sums[:2])
    hessian = np.array([[sums[2], sums[3]], [sums[3], sums[4]]])
    return gradient, hessian, np.array([[sums[5], sums[6]], [sums[6], sums[7]]])


def _part(counts: ValueCounts, log_odds: Floats, beta: Floats, part: slice) -> tuple[float, ...]:
    x, count, positives = log_odds[part], counts.count[part], counts.positives[part]
    probability = sigmoid(beta[0] + beta[1] * x)
    residual = positives - count * probability
    curvature = count * (probability * (1 - probability))
    squares = positives * (1 - probability) ** 2 + (count - positives) * probability**2
    gradient, hessian = (residual, residual * x), (curvature, curvature * x, curvature * x**2)
    lines = (*gradient, *hessian, squares, squares * x, squares * x**2)
    return tuple(float(line.sum()) for line in lines)

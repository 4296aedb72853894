"""Calibration intercept and slope: the logistic line of labels on the log-odds of scores (Cox 1958)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from uqcli.counts import Floats, ValueCounts, pool_neighbours
from uqcli.kernels.logistic import likelihood_has_maximum, logistic_fit, sigmoid

_CLIP = 1e-12
_COARSE, _TOGETHER = 4096, 128
"""Pooled values, and how many of many are pooled, so that one step from their line is enough."""

_PART = 1 << 14
_MOST_STEPS = 30
_FAR, _SMALL_STEP = 20.0, 1e-6


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
        Standard errors that hold for any shape of the truth (sandwich), where they were asked for.
    """

    intercept: float | None
    slope: float | None
    in_the_large: float | None
    intercept_error: float | None = None
    slope_error: float | None = None


def calibration_line(
    counts: ValueCounts, near: CalibrationLine | None = None, *, errors: bool = False
) -> CalibrationLine:
    """Fit the line by maximum likelihood; scores are clipped to [1e-12, 1 - 1e-12] for their log-odds.

    Parameters
    ----------
    near
        The line of similar rows to begin with, where only intercept and slope are asked for.
    errors
        Whether standard errors are.
    """
    log_odds = _log_odds(counts.value)
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
    found = _errors(counts, log_odds, fitted) if errors else (None, None)
    return CalibrationLine(
        intercept=float(fitted[0]),
        slope=float(fitted[1]),
        in_the_large=alone,
        intercept_error=found[0],
        slope_error=found[1],
    )


def _log_odds(score: Floats) -> Floats:
    """Log-odds of clipped scores; large data are touched as little as can be."""
    other = np.clip(score, _CLIP, 1 - _CLIP)
    log_odds: Floats = np.log(other)
    np.negative(other, out=other)
    log_odds -= np.log1p(other, out=other)
    return log_odds


def _fit(counts: ValueCounts, log_odds: Floats, *, slope: bool, start: Floats | None = None) -> Floats:
    """Intercept and slope, or the intercept beside a slope of 1: from neighbours pooled to all values."""
    if start is None:
        coarse = pool_neighbours(counts, log_odds, max(_COARSE, len(log_odds) // _TOGETHER))
        start = _newton(coarse, coarse.value, slope)
        if len(log_odds) <= _COARSE:
            return start
    near = _steps_from(start, counts, log_odds, slope)
    return _newton(counts, log_odds, slope) if near is None else near


def _steps_from(start: Floats, counts: ValueCounts, log_odds: Floats, slope: bool) -> Floats | None:
    """Newton's steps from nearby; None where they do not settle."""
    beta, used = start.copy(), slice(0, 2 if slope else 1)
    for _ in range(_MOST_STEPS):
        gradient, hessian, _ = _moments(counts, log_odds, beta, scattered=False)
        try:
            step = np.linalg.solve(hessian[used, used], gradient[used])
        except np.linalg.LinAlgError:
            return None
        beta[used] += step
        size = float(np.abs(step).max())
        if size <= _SMALL_STEP * max(1.0, float(np.abs(beta).max())):
            return beta  # what is left is of the order of its square
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


def _moments(
    counts: ValueCounts, log_odds: Floats, beta: Floats, *, scattered: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Gradient and negative Hessian of the log likelihood, and the scatter of the gradients, or zeros."""
    cuts = itertools.pairwise([*range(0, len(log_odds), _PART), len(log_odds)])
    parts = [_part(counts, log_odds, beta, slice(a, b), scattered=scattered) for a, b in cuts]
    sums = [math.fsum(column) for column in zip(*parts, strict=True)]
    gradient = np.array(sums[:2])
    hessian = np.array([[sums[2], sums[3]], [sums[3], sums[4]]])
    return gradient, hessian, np.array([[sums[5], sums[6]], [sums[6], sums[7]]])


def _part(
    counts: ValueCounts, log_odds: Floats, beta: Floats, part: slice, *, scattered: bool
) -> tuple[float, ...]:
    x, count, positives = log_odds[part], counts.count[part], counts.positives[part]
    probability = sigmoid(beta[0] + beta[1] * x)
    residual = positives - count * probability
    curvature = count * (probability * (1 - probability))
    sums = [residual, residual * x, curvature, curvature * x, curvature * x**2]
    if scattered:
        squares = positives * (1 - probability) ** 2 + (count - positives) * probability**2
        sums += [squares, squares * x, squares * x**2]
    found = [float(each.sum()) for each in sums]
    return (*found, *([] if scattered else [0.0] * 3))

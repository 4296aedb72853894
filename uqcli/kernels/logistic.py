"""Maximum likelihood of a logistic model on pooled counts, by Newton's method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add

import numpy as np

from uqcli.base.blockwise import parts, sums_by_part, values_per_task
from uqcli.base.counts import Floats, Ints
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.base.running.concurrency import parallel_map
from uqcli.kernels.compile import kernel_beside
from uqcli.kernels.linear import least_solution, solved

POOLED_VALUES = 1 << 16
"""Values up to which a model is fitted to all of them at once."""

_MAX_PART_STEP, _LAST_STEP = 1.0, 1e-8
_MAX_STEPS = 200
_MAX_HALVINGS = 60


def logistic_fit(
    features: Floats,
    count: Ints | Floats,
    positives: Ints | Floats,
    ridge: float = 0.0,
    offset: Floats | float = 0.0,
) -> Floats:
    """Fit the coefficients of ``P(positive) = sigmoid(offset + b0 + b1*x1 + ... + bd*xd)``, shape (d+1,).

    Newton's method on the penalised log likelihood of standardised features; the penalty is ``ridge/2`` times
    the sum of squared coefficients. A step is halved until it does not lower the objective. Sums are
    sequential over rows, without threads.

    Features have shape (d, m); with d = 0 only the intercept is fitted, and a constant feature has slope 0.
    Without ridge a maximum must exist. The offset is the known part of the log-odds.
    """
    divisors = np.array([max(1.0, float(np.abs(x).max()) / 1e100) for x in features])  # keeps squares finite
    features = features / divisors[:, None]
    total = count.sum()
    mean = np.array([(x * count).sum() / total for x in features])
    centred = [x - m for x, m in zip(features, mean, strict=True)]
    scale = np.array([np.sqrt((count * x**2).sum() / total) for x in centred])
    varies = scale > 1e-15 * np.abs(mean)
    used = np.flatnonzero(varies)
    regressors = [np.ones(len(count)), *(centred[i] / scale[i] for i in used)]
    penalty = np.full(len(regressors), ridge)
    standardised = _newton(
        regressors, count.astype(np.float64), positives.astype(np.float64), penalty, offset
    )
    coefficients = np.zeros(len(features) + 1)
    coefficients[1 + used] = standardised[1:] / scale[used]
    coefficients[0] = standardised[0] - (coefficients[1 + used] * mean[used]).sum()
    coefficients[1:] /= divisors
    return coefficients


def fit_in_parts(features: Floats, count: Ints, positives: Ints) -> Floats:
    """Fit as ``logistic_fit`` without ridge, for any number of values; a maximum must exist.

    Adjacent values are first pooled to ``POOLED_VALUES``. Newton steps on all values follow, part by part, so
    that memory does not grow. The last step is so small that the error left is of the order of rounding. Each
    feature ascends along the values, or descends.
    """
    if len(count) <= POOLED_VALUES:
        return logistic_fit(features, count, positives)
    coefficients = logistic_fit(*pooled_values(features, count, positives))
    for _ in range(_MAX_STEPS):
        step = _step_in_parts(coefficients, features, count, positives)
        if not np.isfinite(step).all() or np.abs(step).max() > _MAX_PART_STEP:
            return logistic_fit(features, count, positives)  # the pooled fit is no good start
        coefficients = coefficients - step
        if np.abs(step).max() <= _LAST_STEP * max(1.0, float(np.abs(coefficients).max())):
            break
    return coefficients


def pooled_values(features: Floats, count: Ints, positives: Ints) -> tuple[Floats, Ints, Ints]:
    """Pool adjacent values to at most ``POOLED_VALUES``, each at the mean of its features."""
    if len(count) <= POOLED_VALUES:
        return features, count, positives
    return pool_adjacent(lambda inside: features[:, inside], count, positives, POOLED_VALUES)


def pool_adjacent(
    features: Callable[[slice], Floats], count: Ints, positives: Ints, size: int
) -> tuple[Floats, Ints, Ints]:
    """Pool m adjacent values to ``size``, in threads; return the mean of each feature, and the counts.

    A function from positions to the features there gives them in shape (d, positions).
    """
    starts = np.arange(size + 1) * len(count) // size

    def pooled(part: slice) -> tuple[Floats, Ints, Ints]:
        inside, first = slice(starts[part.start], starts[part.stop]), starts[part] - starts[part.start]
        total = np.add.reduceat(count[inside], first, dtype=np.int64)
        means = np.stack([np.add.reduceat(x * count[inside], first) / total for x in features(inside)])
        return means, total, np.add.reduceat(positives[inside], first, dtype=np.int64)

    tasks = parts(size, max(1, values_per_task() * size // len(count)))
    means, total, positive = zip(*parallel_map(pooled, tasks), strict=True)
    return np.concatenate(means, axis=1), np.concatenate(total), np.concatenate(positive)


def _step_in_parts(coefficients: Floats, features: Floats, count: Ints, positives: Ints) -> Floats:
    """Return the Newton step, from sums over parts in order."""
    size = len(coefficients)
    pairs = [(i, j) for i in range(size) for j in range(i + 1)]

    def terms(part: slice) -> Iterator[Floats]:
        regressors = [np.ones(part.stop - part.start), *features[:, part]]
        log_odds = sum(b * x for b, x in zip(coefficients, regressors, strict=True))
        probability = sigmoid(np.asarray(log_odds))
        weight = count[part]
        residual = weight * probability - positives[part]
        curvature = weight * probability * (1 - probability)
        yield from (residual * x for x in regressors)
        yield from (curvature * regressors[i] * regressors[j] for i, j in pairs)

    # Python's sum is compensated from 3.12 on
    totals = [reduce(add, sums, 0.0) for sums in sums_by_part(terms, len(count))]
    hessian = np.zeros((size, size))
    for (i, j), total in zip(pairs, totals[size:], strict=True):
        hessian[i, j] = hessian[j, i] = total
    return solved(hessian, np.array(totals[:size]))


def negative_log_likelihood(coefficients: Floats, features: Floats, count: Ints, positives: Ints) -> float:
    """Compute the loss of a logistic model; shapes as in ``logistic_fit``."""
    regressors = [np.ones(len(count)), *features]
    return _loss(coefficients, regressors, count, positives, np.zeros(len(regressors)), 0.0)[0]


def loss_at(log_odds: Floats, count: Floats | Ints, positives: Floats | Ints) -> float:
    """Compute the negative log likelihood of log-odds; shape (m,) each."""
    softplus = np.maximum(log_odds, 0) + np.log1p(np.exp(-np.abs(log_odds)))
    return float((count * softplus - positives * log_odds).sum())


def likelihood_has_maximum(x: Floats, count: Ints, positives: Ints, *, falling: bool) -> bool:
    """Whether the likelihood of a logistic model of one feature has a maximum; its values ascend.

    It has none with a single class, or if a threshold separates the classes. Positives are then above it, or
    with ``falling`` above or below.
    """
    ends = class_ends(count, positives)
    if ends is None:
        return False
    return bool(x[0] == x[-1]) or not separates(x[ends], falling=falling)


def class_ends(count: Ints, positives: Ints) -> Ints | None:
    """Find the first and last positions of positive rows and of negative rows; None with a single class."""
    ends = [
        index
        for negative in (False, True)
        for backwards in (False, True)
        if (index := _end(count, positives, negative=negative, backwards=backwards)) is not None
    ]
    return np.array(ends) if len(ends) == 4 else None


def _end(count: Ints, positives: Ints, *, negative: bool, backwards: bool) -> int | None:
    """Find the first or last position with rows of a class; stops at the first part that has one."""
    cuts = parts(len(count))
    for part in reversed(cuts) if backwards else cuts:
        nonempty = np.flatnonzero(positives[part] < count[part] if negative else positives[part])
        if len(nonempty):
            return int(part.start + nonempty[-1 if backwards else 0])
    return None


def separates(x: Floats, *, falling: bool) -> bool:
    """Whether a threshold separates the classes: positives above it, or with ``falling`` also below.

    The feature is given at the positions of ``class_ends``.
    """
    return bool(x[0] >= x[3] or (falling and x[1] <= x[2]))


def sigmoid(log_odds: Floats) -> Floats:
    """Compute the sigmoid function, without overflow."""
    return _probability(log_odds, np.exp(-np.abs(log_odds)))


def _probability(log_odds: Floats, small: Floats) -> Floats:
    """Compute the sigmoid function, where ``small`` is ``exp(-|log_odds|)``."""
    probability: Floats = np.where(log_odds >= 0, 1.0, small) / (1 + small)
    return probability


def line_terms(beta: Floats, x: Floats, count: Ints, positives: Ints) -> Floats:
    """Return the terms of the log likelihood's gradient at a line, then those of its negative Hessian.

    The log-odds are ``beta[0] + x``, or ``beta[0] + beta[1] * x``; the result has shape (2, n) or (5, n). Few
    steps do all of it, since threads wait for each other between the steps of numpy.
    """
    line = beta[0] + (beta[1] * x if len(beta) == 2 else x)
    small = np.abs(line)
    np.exp(np.negative(small, out=small), out=small)
    terms = np.empty((2 if len(beta) == 1 else 5, len(x)))
    fill_line_terms.run(len(x) // ROWS_PER_STEP, line, small, x, count, positives, terms)
    return terms


def _line_term_arrays(
    line: Floats, small: Floats, x: Floats, count: Ints, positives: Ints, terms: Floats
) -> None:
    probability = _probability(line, small)
    residual = positives - count * probability
    curvature = count * (probability * (1 - probability))
    if len(terms) == 2:
        terms[:] = residual, curvature
    else:
        terms[:] = residual, residual * x, curvature, curvature * x, curvature * x**2


@kernel_beside(_line_term_arrays)
def fill_line_terms(
    line: Floats, small: Floats, x: Floats, count: Ints, positives: Ints, terms: Floats
) -> None:
    """Fill in the terms at the log-odds ``line``, where ``small`` is ``exp(-|line|)``."""
    has_slope = len(terms) > 2
    for row in range(len(x)):
        probability = (1.0 if line[row] >= 0 else small[row]) / (1.0 + small[row])
        residual = positives[row] - count[row] * probability
        curvature = count[row] * (probability * (1.0 - probability))
        terms[0, row] = residual
        if has_slope:
            terms[1, row] = residual * x[row]
            terms[2, row] = curvature
            terms[3, row] = curvature * x[row]
            terms[4, row] = curvature * (x[row] * x[row])
        else:
            terms[1, row] = curvature


def _newton(
    regressors: list[Floats], count: Floats, positives: Floats, penalty: Floats, offset: Floats | float
) -> Floats:
    beta: Floats = np.zeros(len(regressors))
    beta[0] = np.log((positives.sum() + 0.5) / ((count - positives).sum() + 0.5))
    loss, log_odds = _loss(beta, regressors, count, positives, penalty, offset)
    for _ in range(_MAX_STEPS):
        probability = sigmoid(log_odds)
        residual = count * probability - positives
        gradient = np.array([(residual * x).sum() for x in regressors]) + penalty * beta
        curvature = count * probability * (1 - probability)
        curved = [curvature * x for x in regressors]
        hessian = np.array([[(x * y).sum() for y in regressors] for x in curved]) + np.diag(penalty)
        step = least_solution(hessian, gradient)
        size = 1.0
        for _ in range(_MAX_HALVINGS):
            candidate = beta - size * step
            new_loss, new_log_odds = _loss(candidate, regressors, count, positives, penalty, offset)
            if new_loss <= loss:
                break
            size /= 2
        else:
            return beta
        improved = loss - new_loss
        beta, loss, log_odds = candidate, new_loss, new_log_odds
        if improved <= 1e-15 * abs(loss) and np.abs(size * step).max() <= 1e-9 * max(1.0, np.abs(beta).max()):
            return beta
    return beta


def _loss(
    beta: Floats,
    regressors: list[Floats],
    count: Floats | Ints,
    positives: Floats | Ints,
    penalty: Floats,
    offset: Floats | float,
) -> tuple[float, Floats]:
    """Compute the penalised negative log likelihood, and the log-odds."""
    log_odds: Floats = np.asarray(offset + sum(b * x for b, x in zip(beta, regressors, strict=True)))
    return loss_at(log_odds, count, positives) + float((penalty * beta**2).sum()) / 2, log_odds

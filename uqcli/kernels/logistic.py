"""Maximum likelihood of a logistic model on pooled counts, by Newton's method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from operator import add

import numpy as np

from uqcli.base.blockwise import VALUES_PER_PART, parts, sums_by_part, values_per_task
from uqcli.base.counts import Floats, Ints, Matrix
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
    regressors, unscaled = _standardised(features, count)
    penalty = np.full(len(regressors), ridge)
    return unscaled(
        _newton(regressors, count.astype(np.float64), positives.astype(np.float64), penalty, offset)
    )


def fits_by_ridge(features: Floats, count: Ints, positives: Ints, ridges: Sequence[float]) -> list[Floats]:
    """Fit as ``logistic_fit`` with each of some positive ridges, up to rounding, in a fraction of the time.

    Each fit starts from the last one, so ridges that follow one another should be alike.
    """
    regressors, unscaled = _standardised(features, count)
    basis = np.stack(regressors)
    beta, fits = intercept_alone(len(basis), count, positives), []
    for ridge in ridges:
        beta = penalised_fit(basis, count, positives, ridge * np.eye(len(basis)), beta, bounded=False)
        fits.append(unscaled(beta))
    return fits


def _standardised(features: Floats, count: Ints | Floats) -> tuple[list[Floats], Callable[[Floats], Floats]]:
    """Return a constant and the standardised features that vary, and what converts coefficients of them."""
    divisors = np.array([max(1.0, float(np.abs(x).max()) / 1e100) for x in features])  # keeps squares finite
    features = features / divisors[:, None]
    total = count.sum()
    mean = np.array([(x * count).sum() / total for x in features])
    centred = [x - m for x, m in zip(features, mean, strict=True)]
    scale = np.array([np.sqrt((count * x**2).sum() / total) for x in centred])
    varies = scale > 1e-15 * np.abs(mean)
    used = np.flatnonzero(varies)

    def unscaled(standardised: Floats) -> Floats:
        coefficients = np.zeros(len(features) + 1)
        coefficients[1 + used] = standardised[1:] / scale[used]
        coefficients[0] = standardised[0] - (coefficients[1 + used] * mean[used]).sum()
        coefficients[1:] /= divisors
        return coefficients

    return [np.ones(len(count)), *(centred[i] / scale[i] for i in used)], unscaled


def intercept_alone(size: int, count: Floats | Ints, positives: Floats | Ints) -> Floats:
    """Return coefficients to start from, all but the first of which are 0."""
    beta: Floats = np.zeros(size)
    beta[0] = np.log((positives.sum() + 0.5) / ((count - positives).sum() + 0.5))
    return beta


def penalised_fit(
    basis: Matrix, count: Ints, positives: Ints, penalty: Matrix, beta: Floats, *, bounded: bool
) -> Floats:
    """Minimise the loss, with half a quadratic form of the coefficients, by Newton's method from ``beta``.

    The basis has shape (d, m), its first function a constant. If ``bounded``, all coefficients but the first
    are at least 0, and a step is taken by those that are not at this bound.
    """
    loss, log_odds = _quadratic_loss(beta, basis, count, positives, penalty)
    for _ in range(_MAX_STEPS):
        probability = sigmoid(log_odds)
        gradient = np.einsum("im,m->i", basis, count * probability - positives)
        gradient += np.einsum("ij,j->i", penalty, beta)
        is_free = (beta > 0) | (gradient < 0) | (np.arange(len(beta)) == 0) | (not bounded)
        free = np.flatnonzero(is_free)
        used = basis if is_free.all() else basis[free]
        curved = used * (count * probability * (1 - probability))
        hessian = np.einsum("im,jm->ij", curved, used) + penalty[np.ix_(free, free)]
        step = solved(hessian, gradient[free])
        if not np.isfinite(step).all():
            step = least_solution(hessian, gradient[free])
        size = 1.0
        for _ in range(_MAX_HALVINGS):
            candidate = beta.copy()
            candidate[free] -= size * step
            if bounded:
                candidate[1:] = np.maximum(candidate[1:], 0)
            new_loss, new_log_odds = _quadratic_loss(candidate, basis, count, positives, penalty)
            if new_loss <= loss:
                break
            size /= 2
        else:
            return beta
        improved = loss - new_loss
        beta, loss, log_odds = candidate, new_loss, new_log_odds
        # where the loss is flat, other rows may tell more of the coefficients than these do
        if improved <= 1e-13 * abs(loss) and (bounded or np.abs(size * step).max() <= 1e-6):
            return beta
    return beta


def _quadratic_loss(
    beta: Floats, basis: Matrix, count: Ints, positives: Ints, penalty: Matrix
) -> tuple[float, Floats]:
    """Compute the penalised negative log likelihood, and the log-odds."""
    log_odds: Floats = np.einsum("i,im->m", beta, basis)
    form = float(np.einsum("i,ij,j->", beta, penalty, beta))
    return loss_at(log_odds, count, positives) + form / 2, log_odds


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

    def terms(part: slice) -> Iterator[Floats]:
        x = log_odds[part]
        softplus = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
        yield count[part] * softplus - positives[part] * x

    return float(_sums(terms, 0, len(log_odds))[0])


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
    beta = intercept_alone(len(regressors), count, positives)
    loss, log_odds = _loss(beta, regressors, count, positives, penalty, offset)
    size_of_hessian = (len(beta), len(beta))
    for _ in range(_MAX_STEPS):
        derivatives = _sums(partial(_derivative_terms, regressors, count, positives, log_odds), 0, len(count))
        gradient = derivatives[: len(beta)] + penalty * beta
        hessian = derivatives[len(beta) :].reshape(size_of_hessian) + np.diag(penalty)
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


def _derivative_terms(
    regressors: list[Floats], count: Floats, positives: Floats, log_odds: Floats, part: slice
) -> Iterator[Floats]:
    """Yield the terms of the gradient, then of the Hessian by rows, at some positions."""
    within = [x[part] for x in regressors]
    probability = sigmoid(log_odds[part])
    weight = count[part]
    residual = weight * probability - positives[part]
    yield from (residual * x for x in within)
    curvature = weight * probability * (1 - probability)
    for x in within:
        curved = curvature * x
        yield from (curved * y for y in within)


def _sums(terms: Callable[[slice], Iterable[Floats]], start: int, stop: int) -> Floats:
    """Sum terms over positions in numpy's order, by halves, but in parts that stay in the cache."""
    size = stop - start
    if size <= VALUES_PER_PART:
        return np.array([values.sum() for values in terms(slice(start, stop))])
    half = size // 2
    half -= half % 8  # numpy adds up eight sums
    return _sums(terms, start, start + half) + _sums(terms, start + half, stop)


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

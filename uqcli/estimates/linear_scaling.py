"""Probabilities as logits, and their linear scaling with an intercept for each class.

Linear scaling is Platt scaling for two classes, and vector scaling for more; it can be refitted to reweighted
rows. An intercept lets the mean probability of each class be its share of the rows, which a temperature alone
does not. A weak penalty pulls to the given probabilities, so that few rows, or classes that a threshold
separates, do not change them without evidence. The loss is minimised by Newton's method if there are few
coefficients, and by L-BFGS, with sums in a fixed order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, cached_property, reduce
from typing import Final

import numpy as np

from uqcli.base.blockwise import each_part
from uqcli.base.counts import Floats, Ints, Matrix
from uqcli.base.records import dataclass
from uqcli.base.rows import ClassCounts
from uqcli.kernels.linear import inverse, solved

_MEMORY: Final = 12
_MAX_STEPS: Final = 1000
_MAX_HALVINGS: Final = 40


def minimum(
    loss: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    tolerance: float = 1e-8,
    precondition: Callable[[Floats], Floats] = lambda gradient: gradient,
) -> Floats:
    """Find the minimum of a function of a point of shape (n,), which returns its value and gradient.

    The search ends when the largest component of the gradient is at most ``tolerance``. ``precondition``
    multiplies by a rough inverse of the second derivatives, symmetric and positive definite.

    Examples
    --------
    >>> minimum(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(1)).round(6).tolist()
    [3.0]
    """
    point, (value, gradient) = start, loss(start)
    moves: list[tuple[Floats, Floats, float]] = []
    for _ in range(_MAX_STEPS):
        if np.abs(gradient).max() <= tolerance:
            break
        direction = _direction(gradient, moves, precondition)
        slope = float((direction * gradient).sum())
        size = 1.0
        for _ in range(_MAX_HALVINGS):
            candidate = point + size * direction
            new_value, new_gradient = loss(candidate)
            if new_value <= value + 1e-4 * size * slope:
                break
            size /= 2
        else:
            break  # no descent within rounding
        step, change = candidate - point, new_gradient - gradient
        curvature = float((step * change).sum())
        if curvature > 0:
            moves = [*moves[-_MEMORY + 1 :], (step, change, curvature)]
        point, value, gradient = candidate, new_value, new_gradient
    return point


def _direction(
    gradient: Floats, moves: list[tuple[Floats, Floats, float]], precondition: Callable[[Floats], Floats]
) -> Floats:
    """Return the negative gradient times the approximate inverse Hessian (the two-loop recursion)."""
    direction = -gradient
    factors = []
    for step, change, curvature in reversed(moves):
        factor = float((step * direction).sum()) / curvature
        direction = direction - factor * change
        factors.append(factor)
    direction = precondition(direction)
    if moves:
        _, change, curvature = moves[-1]
        direction = direction * (curvature / float((change * precondition(change)).sum()))
    for (step, change, curvature), factor in zip(moves, reversed(factors), strict=True):
        direction = direction + step * (factor - float((change * direction).sum()) / curvature)
    return direction


CLIP = 1e-12
"""Probabilities are clipped to this distance from 0 and 1 before a logarithm."""


VALUES_PER_BLOCK: Final = 1 << 15
"""Probabilities that are worked on together, since they stay in the cache."""

_FEW_COLUMNS = 8
"""Number of terms from which numpy adds them in another order than one after another."""


def class_logits(probability: Matrix) -> Matrix:
    """Compute the logarithms of class probabilities clipped to [1e-12, 1], centred over the classes."""

    def logits(part: slice, result: Matrix) -> None:
        np.log(np.clip(probability[part], CLIP, 1, out=result), out=result)
        result -= (row_sums(result) / result.shape[1])[:, np.newaxis]

    return by_rows(logits, probability)


def softmax(logits: Matrix) -> Matrix:
    """Return the class probabilities of shape (n, C) from logits."""

    def probabilities(part: slice, result: Matrix) -> None:
        values = logits[part]
        np.subtract(values, reduce(np.maximum, values.T)[:, np.newaxis], out=result)
        np.exp(result, out=result)
        result /= row_sums(result)[:, np.newaxis]

    return by_rows(probabilities, logits)


def by_rows(fill: Callable[[slice, Matrix], None], like: Matrix) -> Matrix:
    """Fill in a matrix like another, of shape (n, C), in blocks of rows, which stay in the cache."""
    result = np.empty_like(like)
    rows, classes = like.shape
    each_part(lambda part: fill(part, result[part]), rows, max(1, VALUES_PER_BLOCK // classes))
    return result


def row_sums(matrix: Matrix) -> Floats:
    """Add up the columns: one after another if they are few, as numpy adds them, but not row by row."""
    few = matrix.shape[1] < _FEW_COLUMNS
    sums: Floats = reduce(np.add, matrix.T) if few else matrix.sum(axis=1)
    return sums


def log_odds(probability: Floats) -> Floats:
    """Compute the log-odds of probabilities clipped to [1e-12, 1 - 1e-12]."""
    clipped = np.clip(probability, CLIP, 1 - CLIP)
    odds: Floats = np.log(clipped)
    np.negative(clipped, out=clipped)
    odds -= np.log1p(clipped, out=clipped)  # in place: fresh memory takes longer than the arithmetic
    return odds


RIDGES: Final = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Penalties that are tried, from the smoothest, per squared coefficient and mean log loss."""

MIDDLE: Final = 2

_FOLDS: Final = 5
_FIT_TOLERANCE: Final = 1e-6
_REFIT_TOLERANCE: Final = 1e-3
"""Errors of the mean probability of a class, relative to the smallest share of a class."""

_SLOPE_PENALTY: Final = 1.0
_INTERCEPT_PENALTY: Final = 0.1
"""Penalties per squared distance and log loss of all rows: normal priors, of standard deviations 1 and 3."""


@dataclass(frozen=True, kw_only=True)
class Penalty:
    """Ridge penalties of linear scaling: of the diagonal's distance from 1, and of the intercepts.

    The weights of other classes, if there are any, have another. The penalties were chosen with so many rows;
    with more rows they are smaller in proportion.
    """

    diagonal: float = RIDGES[MIDDLE]
    intercept: float = RIDGES[MIDDLE]
    other: float | None = None
    rows: int = 0

    def scaled(self, rows: int) -> float:
        """Return the factor of the penalties for a number of rows."""
        return self.rows / rows if self.rows else 1.0


def fit_coefficients(
    counts: ClassCounts,
    penalty: Penalty,
    start: Matrix | None = None,
    tolerance: float = 1e-7,
    *,
    weight: Floats | None = None,
    centre: Matrix | None = None,
    precondition: Callable[[Floats], Floats] | None = None,
) -> Matrix:
    """Fit ``softmax(A z + b)`` with ridge penalties, where z are the centred logarithms of p.

    Without ``penalty.other`` the matrix A is diagonal (vector scaling). Otherwise it is full, and the
    diagonal, the other weights and the intercepts are penalised apart (structured matrix scaling).

    The search begins at ``start``, of shape (C, C + 1) or (C, 2), and the penalty pulls to ``centre``; None
    for the identity. Weights may take the place of the counts of the distinct rows. ``precondition`` is as in
    ``minimum``; None for one that is made for the matrix.
    """
    logits = np.ascontiguousarray(class_logits(counts.probability).T)
    classes, rows = logits.shape
    count = counts.count if weight is None else weight
    share = count / count.sum()
    labels = counts.label, np.arange(rows)
    is_full = penalty.other is not None
    unchanged = identity(classes, is_full=is_full)
    ridge = penalty.scaled(int(counts.count.sum())) * _ridges(unchanged, penalty)
    middle = unchanged if centre is None else centre

    def loss(flat: Floats) -> tuple[float, Floats]:
        coefficients = flat.reshape(unchanged.shape)
        if is_full:
            scores = np.einsum("lr,kl->kr", logits, coefficients[:, :-1])
        else:
            scores = coefficients[:, :1] * logits
        scores += coefficients[:, -1:]
        scores -= scores.max(axis=0)
        label_score = scores[labels]
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        distance = coefficients - middle
        value = float((share * (np.log(total) - label_score)).sum() + (ridge * distance**2).sum() / 2)
        scores *= share / total
        scores[labels] -= share
        gradient = ridge * distance
        if is_full:
            gradient[:, :-1] += np.einsum("kr,lr->kl", scores, logits)
        else:
            gradient[:, 0] += (scores * logits).sum(axis=1)
        gradient[:, -1] += scores.sum(axis=1)
        return value, gradient.ravel()

    first = unchanged if start is None else start
    if precondition is None:
        precondition = _precondition(logits, share, ridge) if is_full else _unchanged
    flat = minimum(loss, first.ravel(), tolerance=tolerance, precondition=precondition)
    return flat.reshape(unchanged.shape)


FEW_COEFFICIENTS: Final = 32
"""Coefficients whose second derivatives take less time than the additional steps of L-BFGS."""

_LAST_STEP: Final = 1e-9
"""Step, relative to the largest coefficient, that Newton's method need not take."""

_SMALL_STEP: Final = 1e-6
"""Step after which the next one is far smaller, or of rounding."""

_LOSS_ROUNDING: Final = 1e-12
"""Relative increase of the loss that is of rounding."""


def fit_few_coefficients(counts: ClassCounts, penalty: Penalty, start: Matrix | None) -> Matrix:
    """Fit as ``fit_coefficients`` to rounding, by Newton's method; for at most ``FEW_COEFFICIENTS``."""
    logits = np.ascontiguousarray(class_logits(counts.probability).T)
    is_full = penalty.other is not None
    unchanged = identity(len(logits), is_full=is_full)
    rows = int(counts.count.sum())
    ridge = penalty.scaled(rows) * _ridges(unchanged, penalty)
    share = counts.count / rows

    def derivatives(coefficients: Matrix) -> tuple[float, Floats, Matrix]:
        distance = coefficients - unchanged

        def sums(part: slice) -> tuple[float, Matrix, Matrix]:
            return derivatives_of_rows(coefficients, logits[:, part], share[part], counts.label[part])

        block = max(1, VALUES_PER_BLOCK // coefficients.size)
        value, gradient, packed = zip(*each_part(sums, logits.shape[1], block), strict=True)
        curvature = unpacked(reduce(np.add, packed), is_full=is_full) + np.diag(ridge.ravel())
        return (
            math.fsum(value) + float((ridge * distance**2).sum()) / 2,
            (reduce(np.add, gradient) + ridge * distance).ravel(),
            curvature,
        )

    point = unchanged if start is None else start
    value, gradient, curvature = derivatives(point)
    last = math.inf
    for _ in range(_MAX_STEPS):
        step = solved(curvature, gradient).reshape(point.shape)
        length = float(np.abs(step).max()) / max(1.0, float(np.abs(point).max()))
        # near the minimum each step is as the square of the last one, until it is one of rounding
        following = max(1.0, length / last**2) * length**2
        if following <= _LAST_STEP or _SMALL_STEP >= length > last / 2:
            return point - step
        last = length
        for _ in range(_MAX_HALVINGS):
            candidate = point - step
            new_value, gradient, curvature = derivatives(candidate)
            if new_value <= value + _LOSS_ROUNDING * abs(value):
                break
            step = step / 2
        point, value = candidate, new_value
    return point


def derivatives_of_rows(
    coefficients: Matrix, logits: Matrix, share: Floats, label: Ints
) -> tuple[float, Matrix, Matrix]:
    """Return the loss of some rows, its derivatives by the coefficients, and second ones (see ``unpacked``).

    The logits have shape (C, n), and each row has a share of all.
    """
    classes, rows = logits.shape
    is_full, labels = coefficients.shape[1] > 2, (label, np.arange(rows))
    with_one = np.vstack([logits, np.ones(rows)])
    if is_full:
        scores = np.einsum("kl,lr->kr", coefficients, with_one)
    else:
        scores = coefficients[:, :1] * logits + coefficients[:, 1:]
    scores -= scores.max(axis=0)
    label_score = scores[labels]
    np.exp(scores, out=scores)
    total = scores.sum(axis=0)
    value = float((share * (np.log(total) - label_score)).sum())
    scores /= total
    residual = share * scores
    if is_full:
        first, second = _pairs(classes, 1)
        row, column = _pairs(classes + 1, 0)
        packed = np.einsum("pr,mr->pm", residual[first] * scores[second], with_one[row] * with_one[column])
    else:
        own = np.concatenate([residual * logits, residual])
        packed = -np.einsum("ir,jr->ij", own, np.concatenate([scores * logits, scores]))
        slopes, intercepts = np.arange(classes), np.arange(classes, 2 * classes)
        packed[slopes, slopes] += (own[:classes] * logits).sum(axis=1)
        packed[slopes, intercepts] += own[:classes].sum(axis=1)
        packed[intercepts, slopes] = packed[slopes, intercepts]
        packed[intercepts, intercepts] += residual.sum(axis=1)
    residual[labels] -= share
    if is_full:
        return value, np.einsum("kr,lr->kl", residual, with_one), packed
    return value, np.column_stack([(residual * logits).sum(axis=1), residual.sum(axis=1)]), packed


@cache
def _pairs(size: int, least: int) -> tuple[Ints, Ints]:
    """Return the indices of the pairs of which the second is above the first by at least a number."""
    return np.triu_indices(size, least)


def unpacked(packed: Matrix, *, is_full: bool) -> Matrix:
    """Return the second derivatives by all coefficients, in the order of their rows.

    Without other classes, those by the slopes come before those by the intercepts. Otherwise each pair of
    classes has the sums of all products of two regressors; those of a class with itself follow, since its
    probability is 1 less the others.
    """
    if not is_full:
        classes = len(packed) // 2
        order = np.arange(2 * classes).reshape(2, classes).T.ravel()
        return packed[np.ix_(order, order)]
    classes = (1 + math.isqrt(1 + 8 * len(packed))) // 2
    first, second = (index[:, np.newaxis] for index in _pairs(classes, 1))
    row, column = _pairs(classes + 1, 0)
    blocks = np.zeros((classes, classes, classes + 1, classes + 1))
    for one, other in ((first, second), (second, first)):
        blocks[one, other, row, column] = blocks[one, other, column, row] = -packed
    for index in range(classes):
        blocks[index, index] = -blocks[index].sum(axis=0)
    size = classes * (classes + 1)
    return blocks.transpose(0, 2, 1, 3).reshape(size, size)


def scaled(coefficients: Matrix, probability: Matrix) -> Matrix:
    """Compute ``softmax(A z + b)`` of class probabilities; float64, shape (n, C)."""
    slopes, intercepts = coefficients[:, :-1], coefficients[:, -1]
    logits = class_logits(probability)
    if slopes.shape[1] == 1:
        return softmax(slopes[:, 0] * logits + intercepts)
    return softmax(np.einsum("rl,kl->rk", logits, slopes) + intercepts)


def _precondition(logits: Matrix, share: Floats, ridge: Matrix) -> Callable[[Floats], Floats]:
    """Multiply each class's coefficients by the inverse of their mean curvature at the identity."""
    regressors = np.vstack([logits, np.ones(logits.shape[1])])
    probability = softmax(logits.T)
    weight = share * (1 - (probability**2).sum(axis=1)) / len(logits)
    curvature = np.einsum("kr,lr->kl", regressors * weight, regressors)
    inverted = inverse(curvature + np.diag(ridge[-1, [0] * len(logits) + [-1]]))

    def multiplied(gradient: Floats) -> Floats:
        product: Floats = np.einsum("kl,lm->km", gradient.reshape(ridge.shape), inverted).ravel()
        return product

    return multiplied


def _unchanged(gradient: Floats) -> Floats:
    return gradient


def identity(classes: int, *, is_full: bool) -> Matrix:
    """Return the coefficients of the map that changes nothing, with all slopes or one for each class."""
    slopes = np.eye(classes) if is_full else np.ones((classes, 1))
    return np.column_stack([slopes, np.zeros(classes)])


def _ridges(unchanged: Matrix, penalty: Penalty) -> Matrix:
    ridges = np.where(unchanged == 1, penalty.diagonal, penalty.other or 0.0)
    ridges[:, -1] = penalty.intercept
    return ridges


@dataclass(frozen=True, kw_only=True)
class LinearScaling:
    """Fits of vector scaling to labelled rows of C ``classes``."""

    counts: ClassCounts
    classes: int

    @cached_property
    def fitted(self) -> Matrix:
        """Coefficients fitted to all rows; float64, shape (C, 2)."""
        return _fit(self.counts)

    @cached_property
    def _precondition(self) -> Callable[[Floats], Floats]:
        return _by_curvature(self.counts, self.fitted)

    def refit(self, weight: Floats, random: np.random.Generator) -> Matrix:
        """Fit the map to the rows with other weights, shape (m,), with a penalty whose centre is drawn.

        Coefficients on which the rows have little to say then vary as much as the penalty lets them.
        """
        deviations = np.array([_SLOPE_PENALTY, _INTERCEPT_PENALTY]) ** -0.5
        centre = identity(self.classes, is_full=False)
        centre += deviations * random.standard_normal(centre.shape)
        return fit_coefficients(
            self.counts,
            _penalty(self.counts),
            self.fitted,
            _tolerance(self.counts, _REFIT_TOLERANCE),
            weight=weight,
            centre=centre,
            precondition=self._precondition,
        )

    def cross_fitted(self) -> Matrix:
        """Compute the probabilities of each row under maps that were fitted without it; shape (m, C).

        Rows are dealt to five folds in turn in sorted order, so there is nothing random. The mean over the
        folds stands for equal rows of several folds.
        """
        counts = self.counts
        last = np.cumsum(counts.count)
        total = np.zeros(counts.probability.shape)
        for fold in range(_FOLDS):
            held_out = (last - 1 - fold) // _FOLDS - (last - counts.count - 1 - fold) // _FOLDS
            outside = counts.count - held_out
            if outside.any() and held_out.any():
                kept = counts.select(outside > 0)
                training = ClassCounts(
                    probability=kept.probability, label=kept.label, count=outside[outside > 0]
                )
                total += held_out[:, None] * scaled(_fit(training), counts.probability)
        mean: Matrix = total / counts.count[:, None]
        return mean


def _fit(counts: ClassCounts) -> Matrix:
    classes = counts.probability.shape[1]
    return fit_coefficients(
        counts,
        _penalty(counts),
        tolerance=_tolerance(counts, _FIT_TOLERANCE),
        precondition=_by_curvature(counts, identity(classes, is_full=False)),
    )


def _by_curvature(counts: ClassCounts, coefficients: Matrix) -> Callable[[Floats], Floats]:
    """Return the multiplication by the inverse second derivatives of the penalised loss at a point."""
    logits = class_logits(counts.probability)
    probability = softmax(coefficients[:, 0] * logits + coefficients[:, 1]).T
    regressors = np.stack([logits.T, np.ones(probability.shape)], axis=1)
    share = counts.count / counts.count.sum()
    products = (probability[:, None] * regressors).reshape(-1, len(share))
    curvature = -np.einsum("in,jn->ij", products * share, products)
    within_class = np.einsum("kin,kjn->kij", regressors * (share * probability)[:, None], regressors)
    for index, block in enumerate(within_class):
        own = slice(2 * index, 2 * index + 2)
        curvature[own, own] += block
    penalty = _penalty(counts)
    curvature += np.diag([penalty.diagonal, penalty.intercept] * len(probability))
    inverted = inverse(curvature)

    def multiplied(gradient: Floats) -> Floats:
        product: Floats = (inverted * gradient).sum(axis=1)
        return product

    return multiplied


def _tolerance(counts: ClassCounts, relative: float) -> float:
    rows_of_labels = np.bincount(counts.label, counts.count)
    smallest = float(rows_of_labels[rows_of_labels > 0].min() / rows_of_labels.sum())
    return relative * min(smallest, 0.01)


def _penalty(counts: ClassCounts) -> Penalty:
    rows = int(counts.count.sum())
    return Penalty(diagonal=_SLOPE_PENALTY / rows, intercept=_INTERCEPT_PENALTY / rows)

"""Class weights w(y) = q(y)/p(y) under label shift [LS sec. 2-3]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from uqcli.base.class_counts import Matrix
from uqcli.base.counts import Floats
from uqcli.base.errors import InfeasibleError
from uqcli.base.records import dataclass
from uqcli.kernels.linear import extreme_singular_values, solved

_MIN_SINGULAR_RATIO = 1e-9
_CONVERGENCE_TOLERANCE = 1e-10
_MAX_STEPS = 20_000
_MIN_EXPECTED = 5
"""Expected count on either side below which a class is too rare for the G-test."""


@dataclass(frozen=True, kw_only=True)
class ClassWeights:
    """Class weights, and diagnostics of their estimation.

    Attributes
    ----------
    weights : float64, shape (C,)
        q(y)/p(y), with ``sum of w(y) p(y) = 1``.
    smallest_singular, condition
        Smallest singular value and condition number of the confusion matrix; None if none was inverted.
    clipped
        Classes whose negative weight was set to 0.
    """

    weights: Floats
    smallest_singular: float | None = None
    condition: float | None = None
    clipped: tuple[int, ...] = ()


def bbse(confusion: Matrix, predicted: Floats, classes: Sequence[str]) -> ClassWeights:
    """Estimate class weights by black-box shift estimation (Lipton et al. 2018): solve ``C w = mu``.

    Parameters
    ----------
    confusion : float64, shape (C, C)
        ``C[i, j]`` is the share of source rows predicted as i with label j (hard). If soft, it is the mean
        probability of i over rows of label j, times their share.
    predicted : float64, shape (C,)
        The distribution of predictions in the target.

    Raises
    ------
    InfeasibleError
        The matrix is singular, or all weights are negative.
    """
    solution, smallest, largest = solve_weights(confusion, predicted, classes)
    clipped = tuple(np.flatnonzero(solution < 0).tolist())
    weights: Floats = np.maximum(solution, 0.0)
    total = float((weights * confusion.sum(axis=0)).sum())
    if total <= 0:
        raise InfeasibleError(
            "all class weights are negative", expected="new data with the same classes as the labelled rows"
        )
    return ClassWeights(
        weights=weights / total, smallest_singular=smallest, condition=largest / smallest, clipped=clipped
    )


def solve_weights(
    confusion: Matrix, predicted: Floats, classes: Sequence[str]
) -> tuple[Floats, float, float]:
    """Solve ``C w = mu``, with possibly negative elements; also return the extreme singular values of C.

    Raises
    ------
    InfeasibleError
        The matrix is singular.
    """
    smallest, largest = extreme_singular_values(confusion)
    if smallest <= _MIN_SINGULAR_RATIO * largest:
        empty = [class_index for class_index, column in enumerate(confusion.T) if not column.any()]
        if empty:
            raise _missing_class(classes[empty[0]])
        why = "predictions do not separate the classes"
        raise InfeasibleError(
            f"the confusion matrix is singular ({why}; smallest singular value {smallest:.3g})",
            expected="predictions that differ between the classes",
            remedy="merge classes, or use --confusion soft or another estimator",
        )
    return solved(confusion, predicted), smallest, largest


def em(
    expectation: Callable[[Floats], Floats],
    source_prior: Floats,
    classes: Sequence[str],
    start: Floats | None = None,
) -> ClassWeights:
    """Fit the target prior by maximum likelihood (Saerens et al. 2002), for calibrated probabilities.

    Parameters
    ----------
    expectation
        Function from weights to the mean over the target of ``w(y) p(y|x) / sum over k of w(k) p(k|x)``,
        shape (C,).
    source_prior : float64, shape (C,)
        All positive.
    start : float64, shape (C,), optional
        Initial weights, all positive; None for 1 each.

    Raises
    ------
    InfeasibleError
        A class is missing from the source, or the iteration does not converge.
    """
    if (source_prior <= 0).any():
        raise _missing_class(classes[int(np.argmin(source_prior))])
    weights = np.ones(len(source_prior)) if start is None else start
    change = np.inf
    for _ in range(_MAX_STEPS // 2):
        updated = expectation(weights) / source_prior
        change = float(np.abs((updated - weights) * source_prior).max())
        if change < _CONVERGENCE_TOLERANCE:
            return ClassWeights(weights=updated / float((updated * source_prior).sum()))
        weights = _extrapolated(weights, updated, expectation(updated) / source_prior)
    raise InfeasibleError(
        f"EM did not converge in {_MAX_STEPS} steps (last change {change:.3g})",
        expected="probabilities that separate the classes",
        remedy="use --estimator bbse",
    )


def _extrapolated(start: Floats, after_one: Floats, after_two: Floats) -> Floats:
    """Extrapolate from two EM steps (Varadhan and Roland 2008), keeping the weights positive."""
    first_difference, second_difference = after_one - start, after_two - 2 * after_one + start
    curvature = float(np.sqrt((second_difference**2).sum()))
    if curvature == 0:
        return after_two
    reach = max(1.0, float(np.sqrt((first_difference**2).sum())) / curvature)
    extrapolated: Floats = np.maximum(
        start + 2 * reach * first_difference + reach**2 * second_difference, after_two / 10
    )
    return extrapolated


def known(target_prior: Floats, source_prior: Floats, classes: Sequence[str]) -> ClassWeights:
    """Return the class weights of a given target prior.

    Raises
    ------
    InfeasibleError
        The target has a class that the source lacks.
    """
    unseen = np.flatnonzero((source_prior == 0) & (target_prior > 0))
    if len(unseen):
        raise _missing_class(classes[int(unseen[0])])
    weights = np.divide(target_prior, source_prior, out=np.zeros(len(source_prior)), where=source_prior > 0)
    return ClassWeights(weights=weights)


def _missing_class(name: str) -> InfeasibleError:
    return InfeasibleError(
        f"no labelled row is of class '{name}'",
        expected="labelled rows of every class",
        remedy="label some rows of this class",
    )


def no_shift_p_value(source: Floats, target: Floats) -> float:
    """Compute the p-value of a G-test that predictions are distributed alike in source and target.

    Classes with an expected count below five on a side are pooled. If the pooled classes still expect fewer,
    they join the smallest class kept; if only one is kept, Fisher's exact test takes the place of the G-test.
    The statistic is divided by Williams' correction (1976), so that the level also holds in small tables.

    Parameters
    ----------
    source, target : float64, shape (C,)
        Rows by predicted class.
    """
    total = source + target
    sides = np.array([source.sum(), target.sum()])
    expected = total * (sides / total.sum()).min()
    rare = expected < _MIN_EXPECTED
    table = np.stack([source, target])
    kept = np.flatnonzero(~rare)
    if len(kept) and 0 < expected[rare].sum() < _MIN_EXPECTED:
        if len(kept) == 1:
            return _exact_p_value(table[:, rare].sum(axis=1), sides)
        rare[kept[expected[kept].argmin()]] = True
    cells = np.concatenate([table[:, ~rare], table[:, rare].sum(axis=1, keepdims=True)], axis=1)
    return _g_test(cells[:, cells.sum(axis=0) > 0])


def contradiction_p_value(joint: Matrix, predicted: Floats, target_prior: Floats) -> float:
    """Compute the p-value of a G-test that predictions in the target agree with its estimated priors.

    The priors and the confusion of the labelled rows imply shares of predicted classes. These are compared
    with those of the target as if observed on as many rows as give the same variance. In each column of the
    confusion one more row is divided among the classes.

    Parameters
    ----------
    joint : float64, shape (C, C)
        Labelled rows by predicted class and label.
    predicted : float64, shape (C,)
        Target rows by predicted class.
    target_prior : float64, shape (C,)
    """
    mass = joint + 1 / len(joint)
    rows = mass.sum(axis=0)
    confusion = mass / rows
    implied = (confusion * target_prior).sum(axis=1)
    variance = float((target_prior**2 * confusion * (1 - confusion) / rows).sum())
    spread = float((implied * (1 - implied)).sum())
    effective = spread / variance if variance > 0 else float(rows.sum())
    return no_shift_p_value(effective * implied, predicted)


def _exact_p_value(rare: Floats, sides: Floats) -> float:
    """Compute the p-value of Fisher's exact test, two-sided: all tables that are not more likely.

    Parameters
    ----------
    rare, sides : float64, shape (2,)
        Rows of the rare class and all rows, in source and target; rounded to integers.
    """
    (first, second), (rows, other_rows) = (np.rint(side).astype(int).tolist() for side in (rare, sides))
    rows_of_both = first + second
    lowest, highest = max(0, rows_of_both - other_rows), min(rows_of_both, rows)
    count = np.arange(lowest, highest, dtype=np.float64)  # of the source; each with the next
    step = np.log(rows_of_both - count) + np.log(rows - count) - np.log(count + 1)
    step -= np.log(other_rows - rows_of_both + count + 1)
    log_share = np.concatenate([[0.0], np.cumsum(step)])
    share = np.exp(log_share - log_share.max())
    return float(share[share <= share[first - lowest] * (1 + 1e-7)].sum() / share.sum())


def _g_test(cells: Matrix) -> float:
    """Compute the p-value of equal shares in two rows of cells, none empty."""
    from scipy.special import chdtrc, xlogy

    sides = cells.sum(axis=1)
    degrees_of_freedom = cells.shape[1] - 1
    if degrees_of_freedom == 0:
        return 1.0
    columns, rows = cells.sum(axis=0), float(cells.sum())
    expected = sides[:, None] * columns / rows
    statistic = 2 * float(xlogy(cells, cells / expected).sum())
    side_excess, column_excess = rows * (1 / sides).sum() - 1, rows * (1 / columns).sum() - 1
    correction = 1 + side_excess * column_excess / (6 * rows * degrees_of_freedom)
    return float(chdtrc(degrees_of_freedom, max(0.0, statistic) / correction))

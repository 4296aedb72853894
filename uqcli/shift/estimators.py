"""Estimators of class weights w(y) = q(y)/p(y) under label shift, and the data of each [LS sec. 2-3].

Each gives its estimate, and estimates from bootstrap draws. Drawing rows with replacement never yields a
class or an error that the sample lacks by chance. Intervals from it have far too little coverage if few rows
of a class are expected. Shares are therefore drawn from Dirichlet distributions with some mass on unseen
outcomes. In the target this is half a row per class (Jeffreys). Among the predictions of each label, and
among the labels, it is one row in total (Perks). With many classes the added mass therefore does not outweigh
the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from uqcli.base.counts import Floats, Ints, Matrix, distinct_numbers
from uqcli.base.errors import InfeasibleError, words
from uqcli.base.records import dataclass
from uqcli.base.rows import ClassCounts
from uqcli.base.wording import p_text, printable
from uqcli.estimates.linear_scaling import LinearScaling, scaled
from uqcli.kernels.linear import extreme_singular_values, is_positive_definite, solved

_MIN_SINGULAR_RATIO = 1e-9
_CONVERGENCE_TOLERANCE = 1e-10
_MAX_STEPS = 20_000
_MIN_EXPECTED = 5
"""Expected count on either side below which a class is too rare for the G-test."""


@dataclass(frozen=True, kw_only=True)
class ClassWeights:
    """Class weights q(y)/p(y), with ``sum of w(y) p(y) = 1``; shape (C,)."""

    weights: Floats


@dataclass(frozen=True, kw_only=True)
class SolvedWeights(ClassWeights):
    """Class weights from the inverse of a confusion matrix, whose condition says how reliable they are.

    ``clipped`` are the classes whose negative weight was set to 0.
    """

    smallest_singular: float
    condition: float
    clipped: tuple[int, ...]


def bbse(confusion: Matrix, predicted: Floats, classes: Sequence[str]) -> ClassWeights:
    """Estimate class weights by black-box shift estimation (Lipton et al. 2018): solve ``C w = mu``.

    ``C[i, j]`` is the share of source rows predicted as i with label j (hard). If soft, it is the mean
    probability of i over rows of label j, times their share. ``predicted``, shape (C,), is the distribution
    of predictions in the target.

    Raises InfeasibleError if the matrix is singular, or all weights are negative.
    """
    solution, smallest, largest = solve_weights(confusion, predicted, classes)
    clipped = tuple(np.flatnonzero(solution < 0).tolist())
    weights: Floats = np.maximum(solution, 0.0)
    total = float((weights * confusion.sum(axis=0)).sum())
    if total <= 0:
        raise InfeasibleError(
            "all class weights are negative", expected="new data with the same classes as the labelled rows"
        )
    return SolvedWeights(
        weights=weights / total, smallest_singular=smallest, condition=largest / smallest, clipped=clipped
    )


def solve_weights(
    confusion: Matrix, predicted: Floats, classes: Sequence[str]
) -> tuple[Floats, float, float]:
    """Solve ``C w = mu``, with possibly negative elements; also return the extreme singular values of C.

    Raises InfeasibleError if the matrix is singular.
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
            remedy=words("merge classes, or use --confusion soft or another estimator"),
        )
    return solved(confusion, predicted), smallest, largest


def em(
    expectation: Callable[[Floats], Floats],
    source_prior: Floats,
    classes: Sequence[str],
    start: Floats | None = None,
) -> ClassWeights:
    """Fit the target prior by maximum likelihood (Saerens et al. 2002), for calibrated probabilities.

    ``expectation`` is a function from weights to the mean over the target of ``w(y) p(y|x) / sum over k of
    w(k) p(k|x)``, shape (C,). The source prior and the initial weights, 1 each if None, are of shape (C,) and
    positive.

    Raises InfeasibleError if a class is missing from the source, or the iteration does not converge.
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
        remedy=words("use --estimator bbse"),
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

    Raises InfeasibleError if the target has a class that the source lacks.
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


def pooled_classes(source: Floats, target: Floats) -> tuple[Ints, bool]:
    """Pool predicted classes that are too rare to be compared.

    Both are rows by predicted class, shape (C,). Classes with an expected count below five on a side are
    pooled. If the pooled classes still expect fewer, they join the smallest class kept. If only one is kept,
    they stay apart, and the table of two cells needs an exact test.

    Returns
    -------
    The cell of each class, without empty cells in between, shape (C,); classes without rows are in the pooled
    one. Whether an exact test is needed.
    """
    total = source + target
    sides = np.array([source.sum(), target.sum()])
    expected = total * (sides / total.sum()).min()
    rare = expected < _MIN_EXPECTED
    kept, is_exact = np.flatnonzero(~rare), False
    if len(kept) and 0 < expected[rare].sum() < _MIN_EXPECTED:
        is_exact = len(kept) == 1
        if not is_exact:
            rare[kept[expected[kept].argmin()]] = True
    cell_of = np.cumsum(~rare) - 1
    pooled = int(np.count_nonzero(~rare))
    cell_of[rare] = pooled if total[rare].any() else max(pooled - 1, 0)
    return cell_of, is_exact


def no_shift_p_value(source: Floats, target: Floats) -> float:
    """Compute the p-value of a G-test that predictions are distributed alike in source and target.

    Both are rows by predicted class, shape (C,), pooled by ``pooled_classes``. If that asks for it, Fisher's
    exact test takes the place of the G-test. The statistic is divided by Williams' correction (1976), so that
    the level also holds in small tables.
    """
    cell_of, is_exact = pooled_classes(source, target)
    cells = np.zeros((2, int(cell_of.max()) + 1))
    for side, rows in zip(cells, (source, target), strict=True):
        np.add.at(side, cell_of, rows)
    return _exact_p_value(cells[:, 1], cells.sum(axis=1)) if is_exact else _g_test(cells)


def contradiction_p_value(joint: Matrix, predicted: Floats, target_prior: Floats) -> float:
    """Compute the p-value of a G-test that predictions in the target agree with its estimated priors.

    ``joint``, shape (C, C), are labelled rows by predicted class and label, and ``predicted``, shape (C,),
    target rows by predicted class. The priors and the confusion of the labelled rows imply shares of
    predicted classes. These are compared with those of the target as if observed on as many rows as give the
    same variance. In each column of the confusion one more row is divided among the classes.
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

    Rows of the rare class and all rows are those in source and target, rounded to integers.
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


_MIN_START = 1e-3
"""Lower bound of EM's starting weights in a draw, since EM never leaves 0."""

_CONTRADICTION = 1e-3
"""P-value below which the predicted classes of the target contradict an estimate."""

_UNSEEN_IN_TARGET = 0.5
"""Rows per class that are added to the target."""

_MIN_INFORMATION = 1e-6
"""Minimum information about the priors, relative to observed labels."""

_MIN_PRIOR = 1e-3
"""Lower bound of the priors: at 0 a label would carry infinite information."""

_UNITS_PER_ONE = 1 << 45
"""Probabilities are added in integer units of 2**-45."""

_ROWS_PER_PART = 1 << 14


Draw = tuple[Floats, Floats]
"""Class weights of a draw, neither clipped nor renormalised, and the target priors, of shape (C,) each."""


class Evidence(Protocol):
    """Counts, or distinct rows, of source and target."""

    def estimate(self) -> ClassWeights:
        """Estimate class weights; raise InfeasibleError if they are not identified."""

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> Draw:
        """Estimate from a bootstrap draw; raise InfeasibleError if it has no estimate."""


@dataclass(frozen=True, kw_only=True)
class KnownPrior:
    """A given target prior, and the source rows by class."""

    target_prior: Floats
    class_counts: Ints
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        return known(self.target_prior, self.class_counts / self.class_counts.sum(), self.classes)

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> Draw:
        """See Evidence."""
        del estimate
        prior = _draw_labels(self.class_counts, random)
        weights = known(self.target_prior, prior, self.classes).weights
        return weights, weights * prior


@dataclass(frozen=True, kw_only=True)
class PredictedClasses:
    """Source rows by predicted class and label, shape (C, C), and target rows by predicted class."""

    joint: Ints
    target: Ints
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        return bbse(self.joint / self.joint.sum(), self.target / self.target.sum(), self.classes)

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> Draw:
        """See Evidence."""
        del estimate
        confusion = _draw_confusion(self.joint, random)
        return _solved(confusion, _draw_shares(self.target, _UNSEEN_IN_TARGET, random), self.classes)


@dataclass(frozen=True, kw_only=True)
class MeanProbabilities:
    """Distinct rows of source and target, whose probabilities replace predicted classes."""

    source: ClassCounts
    target: ClassCounts
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence."""
        target = exact_sums(self.target.shares, self.target.count) / self.target.count.sum()
        return bbse(self._confusion, target, self.classes)

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> Draw:
        """See Evidence."""
        del estimate
        source, target = self.source, self.target
        confusion = _draw_mean_confusion(source.shares, source.label, source.count, len(self.classes), random)
        target_sums = np.einsum("ij,i->j", target.shares, random.standard_gamma(target.count))
        by_class = self._confusion / self._confusion.sum(axis=0)
        mass = target_sums + (by_class * random.standard_gamma(_UNSEEN_IN_TARGET, len(self.classes))).sum(
            axis=1
        )
        return _solved(confusion, mass / mass.sum(), self.classes)

    @cached_property
    def _confusion(self) -> Matrix:
        """Soft confusion: mean probabilities by label, times the label's share; shape (C, C)."""
        shares, label, count = self.source.shares, self.source.label, self.source.count
        columns = [
            exact_sums(shares, count * (label == class_index)) for class_index in range(len(self.classes))
        ]
        joint: Matrix = np.stack(columns, axis=1) / count.sum()
        return joint


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """Distinct rows of source and target, whose probabilities are calibrated on the source."""

    source: ClassCounts
    target: ClassCounts
    classes: Sequence[str]

    def estimate(self) -> ClassWeights:
        """See Evidence; the priors must be identified, and the target's predicted classes agree with them."""
        rows, prior = self.target, self._labels / self._labels.sum()
        probability = scaled(self._scaling.fitted, rows.probability)
        weights = em(mean_responsibilities(probability, rows.count), prior, self.classes)
        _require_identified(probability, rows.count, prior, weights.weights)
        self._require_agreement(weights.weights * prior)
        return weights

    def redrawn(self, random: np.random.Generator, estimate: ClassWeights) -> Draw:
        """See Evidence."""
        rows, classes = self.target, len(self.classes)
        weight = random.standard_gamma(self.source.count)
        probability = scaled(self._scaling.refit(weight, random), rows.probability)
        labels = _sums(self.source.label, weight, classes)
        share = labels / labels.sum()
        # EM weights cannot go below 0: half of the draws add no unseen rows, so that weight 0 is possible
        unseen = _UNSEEN_IN_TARGET * random.integers(2)
        mass = random.standard_gamma(np.concatenate([rows.count, np.full(classes, unseen)]))
        expectation = mean_responsibilities(np.concatenate([probability, np.eye(classes)]), mass)
        start = np.maximum(estimate.weights, _MIN_START)
        target_prior = em(expectation, share, self.classes, start).weights * share
        # an unseen labelled row adds to the priors as in _draw_labels, but not to the calibration
        labels += random.standard_gamma(1 / classes, classes)
        source_prior = labels / labels.sum()
        weights = target_prior / source_prior
        return weights, weights * source_prior

    @cached_property
    def _scaling(self) -> LinearScaling:
        return LinearScaling(counts=self.source, classes=len(self.classes))

    @property
    def _labels(self) -> Floats:
        return _sums(self.source.label, self.source.count, len(self.classes))

    def _require_agreement(self, target_prior: Floats) -> None:
        source, target, size = self.source, self.target, len(self.classes)
        cell = source.probability.argmax(axis=1) * size + source.label
        joint = _sums(cell, source.count, size**2).reshape(size, size)
        predicted = _sums(target.probability.argmax(axis=1), target.count, size)
        p_value = contradiction_p_value(joint, predicted, target_prior)
        if p_value < _CONTRADICTION:
            shares = ", ".join(
                f"{printable(name, 20)} {share:.3g}"
                for name, share in zip(self.classes[:6], target_prior, strict=False)
            )
            raise InfeasibleError(
                f"the predicted classes of the new data contradict EM's class priors ({shares}; "
                f"G-test, {p_text(p_value)})",
                expected="new data that differ from the labelled rows in class priors only",
                remedy=words("use --estimator bbse, and label some of the new rows to check"),
            )


def _sums(index: Ints, weight: Ints | Floats, size: int) -> Floats:
    return np.bincount(index, weight, size).astype(np.float64)


def _solved(confusion: Matrix, predicted: Floats, classes: Sequence[str]) -> Draw:
    """Solve for the weights; each column of the confusion sums to the prior of its class."""
    weights, _, _ = solve_weights(confusion, predicted, classes)
    return weights, weights * confusion.sum(axis=0)


def _draw_shares(count: Ints, unseen: float, random: np.random.Generator) -> Floats:
    """Draw shares from a Dirichlet distribution, with ``unseen`` rows added to each count."""
    mass = random.standard_gamma(count + unseen)
    shares: Floats = mass / mass.sum()
    return shares


def _draw_labels(count: Ints, random: np.random.Generator) -> Floats:
    """Draw class priors, with one row divided among the classes; shape (C,)."""
    return _draw_shares(count, 1 / len(count), random)


def _draw_confusion(joint: Ints, random: np.random.Generator) -> Matrix:
    """Draw the joint distribution of prediction and label, from the rows of each, shape (C, C)."""
    size = len(joint)
    mass = random.standard_gamma(joint + 1 / size)
    confusion: Matrix = mass / mass.sum(axis=0) * _draw_labels(joint.sum(axis=0), random)
    return confusion


def _draw_mean_confusion(
    probability: Matrix, label: Ints, count: Ints, classes: int, random: np.random.Generator
) -> Matrix:
    """Draw the joint distribution if rows count for all classes in proportion to their probabilities (soft).

    Probabilities have shape (m, C), labels and counts (m,).
    """
    weight = random.standard_gamma(count)
    mass = random.standard_gamma(1 / classes, (classes, classes))
    for class_index in range(classes):
        has_label = label == class_index
        mass[:, class_index] += np.einsum("ij,i->j", probability[has_label], weight[has_label])
    labels = np.bincount(label, count, classes).astype(np.int64)
    confusion: Matrix = mass / mass.sum(axis=0) * _draw_labels(labels, random)
    return confusion


def exact_sums(values: Matrix, weight: Ints) -> Floats:
    """Compute the weighted column sums, shape (C,), of numbers in [0, 1], shape (n, C), added as integers."""
    total = [0] * values.shape[1]
    for start in range(0, len(values), _ROWS_PER_PART):
        part, times = values[start : start + _ROWS_PER_PART], weight[start : start + _ROWS_PER_PART]
        for multiplicity in distinct_numbers(times[times > 0]).tolist():
            units = np.rint(part[times == multiplicity] * _UNITS_PER_ONE).astype(np.int64)
            total = [
                old + multiplicity * new for old, new in zip(total, units.sum(axis=0).tolist(), strict=True)
            ]
    return np.array([column_total / _UNITS_PER_ONE for column_total in total])


def mean_responsibilities(probability: Matrix, weight: Ints | Floats) -> Callable[[Floats], Floats]:
    """Build the function from w to the mean over rows of ``w(y) p(y|x) / sum over k of w(k) p(k|x)``.

    Sums are in the order of the rows; sorted rows give the same result for any order of the inputs.
    Probabilities have shape (n, C), weights (n,).
    """
    share = weight / weight.sum()

    def mean(weights: Floats) -> Floats:
        mixture = np.maximum(np.einsum("ij,j->i", probability, weights), 1e-300)
        total: Floats = weights * np.einsum("ij,i->j", probability, share / mixture)
        return total

    return mean


def _require_identified(probability: Matrix, weight: Ints, source_prior: Floats, weights: Floats) -> None:
    """Refuse a maximum of the likelihood that the target rows hardly determine, by an InfeasibleError.

    There are two conditions on the target rows, whose probabilities have shape (n, C). They must differ,
    unless they all name one class. The information about the free priors must be at least a millionth of that
    of as many observed labels, in every direction. The class weights are those at the maximum of the
    likelihood.
    """
    shares = weight / weight.sum()
    mean = (shares[:, None] * probability).sum(axis=0)
    spread = float((shares[:, None] * (probability - mean) ** 2).sum())
    impurity = float(1 - (mean**2).sum())
    if impurity > _MIN_PRIOR and spread < _MIN_INFORMATION * impurity:
        raise _unidentified("all its rows have nearly the same probabilities")
    prior = np.maximum(weights * source_prior, _MIN_PRIOR / len(weights))
    prior /= prior.sum()
    joint = probability * (prior / source_prior)
    posterior = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    deviation = (posterior - prior)[:, :-1]
    information = np.einsum("ij,ik->jk", deviation, deviation * shares[:, None])
    label_information = np.diag(prior[:-1]) - np.outer(prior[:-1], prior[:-1])
    if not is_positive_definite(information - _MIN_INFORMATION * label_information):
        raise _unidentified("probabilities of some classes are collinear")


def _unidentified(why: str) -> InfeasibleError:
    return InfeasibleError(
        f"cannot estimate the class priors of the new data: {why}",
        expected="probabilities that separate the classes",
        remedy=words("merge classes, or use --estimator bbse or known"),
    )

"""Coverage of prediction sets: scores, thresholds that guarantee it, and exact tests of it [LS sec. 2].

Thresholds are exact order statistics. The coverage that n calibration rows give is itself random. For
exchangeable rows it is Beta(k, n+1-k) with k = ceil((1-alpha)(n+1)), so the number of covered rows among m
new ones is beta-binomial. A test that assumes coverage 1 - alpha for every single calibration set raises
false alarms, and more of them with more classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Self

import numpy as np

from uqcli.base.choices import ConformalMethod, ConformalMode
from uqcli.base.counts import Bools, Floats, Ints, Matrix
from uqcli.base.records import dataclass
from uqcli.base.single_precision import highest_alike, lowest_alike
from uqcli.estimates.survey import limit_of_clusters, tail_of_clusters
from uqcli.kernels.nonconformity import sets_below, true_label_scores
from uqcli.kernels.units import dense_ranks


@dataclass(frozen=True, kw_only=True)
class ScoreRule:
    """A non-conformity score.

    ``label_scores`` is a function from probabilities (n, C), labels (n,) and uniforms (n,) to the labels'
    scores (n,), ``sets`` one from probabilities (n, C), thresholds (n or 1, C) and uniforms (n,) to sets (n,
    C), and ``sets_of_format_1`` the same for thresholds of rule files of format 1. At ``every_label``, the
    largest score, every label is in the set.
    """

    label_scores: Callable[[Matrix, Ints, Floats], Floats]
    sets: Callable[[Matrix, Matrix, Floats], np.ndarray]
    sets_of_format_1: Callable[[Matrix, Matrix, Floats], np.ndarray]
    every_label: float


_IMPOSSIBLE: Final = 2.0
"""Score of a class of probability 0. Above 1, it is above every class of positive probability of any row."""


def _aps(probability: Matrix, label: Ints, uniform: Floats) -> Floats:
    """Cumulate probabilities (Romano, Sesia and Candes 2020); a class of probability 0 scores 2."""
    score = true_label_scores(probability, label, uniform)
    score[probability[np.arange(len(label)), label] <= 0] = _IMPOSSIBLE
    return score


def _aps_sets(probability: Matrix, threshold: Matrix, uniform: Floats) -> np.ndarray:
    inside: np.ndarray = sets_below(probability, threshold, uniform)
    inside &= (probability > 0) | (threshold >= _IMPOSSIBLE)
    return inside


def _lac(probability: Matrix, label: Ints, uniform: Floats) -> Floats:
    """Compute 1 less the label's probability (Sadinle et al. 2019)."""
    del uniform
    score: Floats = 1 - probability[np.arange(len(label)), label]
    return score


def _lac_sets(probability: Matrix, threshold: Matrix, uniform: Floats) -> np.ndarray:
    del uniform
    inside: np.ndarray = 1 - probability <= threshold
    return inside


def widened(threshold: float, scores: Floats, *, is_single: bool) -> float:
    """Widen a threshold of lac, so that 32-bit probabilities and their texts are in the same sets.

    It stays if another of the scores lies in between. With a single score, the probability of the negative
    label is 1 less the number in the file.

    Examples
    --------
    >>> p, wide = 0.7, widened(1 - 0.7, np.array([0.1, 0.5]), is_single=False)
    >>> 1 - p <= wide, 1 - float(np.float32(p)) <= wide
    (True, True)
    """
    number = highest_alike(np.array(threshold)) if is_single else np.array(threshold)
    wide = min(1.0, max(threshold, float(1 - lowest_alike(1 - number))))
    return threshold if ((scores > threshold) & (scores <= wide)).any() else wide


SCORES: Final[Mapping[ConformalMethod, ScoreRule]] = MappingProxyType(
    {
        ConformalMethod.APS: ScoreRule(
            label_scores=_aps, sets=_aps_sets, sets_of_format_1=sets_below, every_label=_IMPOSSIBLE
        ),
        ConformalMethod.LAC: ScoreRule(
            label_scores=_lac, sets=_lac_sets, sets_of_format_1=_lac_sets, every_label=1.0
        ),
    }
)


EVERY_LABEL = 2.0
"""Threshold at which every label is in the set: no score of any method is larger."""

_UNIT: Final = 1 << 32
"""Unit of the shares of rows, so that their sums are exact."""


@dataclass(frozen=True, kw_only=True)
class LabelScores:
    """Non-conformity scores of the calibration rows' labels, each of shape (n,).

    Labels are class indices, of any integer width. Rows are independent.
    """

    score: Floats
    label: Ints
    weight: Ints | None

    @property
    def rows(self) -> int:
        """Total weight."""
        return len(self.score) if self.weight is None else int(self.weight.sum())

    @property
    def weights(self) -> Ints:
        """Weight of each row, where there are none 1."""
        return np.ones(len(self.score), dtype=np.int64) if self.weight is None else self.weight

    def select(self, rows: Bools) -> Self:
        """Select rows."""
        columns = {name: column for name, column in vars(self).items() if isinstance(column, np.ndarray)}
        return replace(self, **{name: column[rows] for name, column in columns.items()})

    def threshold(self, alpha: Fraction) -> float:
        """Find the threshold of these rows by the marginal rule."""
        return marginal_threshold(self.score, self.weight, alpha)


@dataclass(frozen=True, kw_only=True)
class ClusteredScores(LabelScores):
    """Scores of rows that depend on each other within clusters of a column; shape (n,)."""

    column: str
    cluster: Ints

    def threshold(self, alpha: Fraction) -> float:
        """Find the threshold of these rows by the marginal rule of clusters."""
        return clustered_threshold(self.score, self.weights, self.cluster, alpha)


def rank_of(rows: int, alpha: Fraction) -> int:
    """Compute the rank of the threshold, ``ceil((1-alpha)(n+1))``; n + 1 means that sets contain every label.

    >>> rank_of(9, Fraction(1, 10)), rank_of(8, Fraction(1, 10))
    (9, 9)
    """
    return min(rows + 1, -((alpha - 1) * (rows + 1) // 1))


def marginal_threshold(scores: Floats, weight: Ints | None, alpha: Fraction) -> float:
    """Find the k-th smallest score, k = ceil((1-alpha)(n+1)); every label if k > n.

    Weights, int64, are 1 each if None.

    >>> marginal_threshold(np.array([0.1, 0.2, 0.3, 0.4]), None, Fraction(1, 2))
    0.3
    """
    rows = len(scores) if weight is None else int(weight.sum())
    rank = rank_of(rows, alpha)
    if rank > rows:
        return EVERY_LABEL
    if weight is None:
        return float(np.partition(scores, rank - 1)[rank - 1])
    order = np.argsort(scores, kind="stable")
    index = int(np.searchsorted(np.cumsum(weight[order]), rank))
    return float(scores[order[index]])


def clustered_threshold(scores: Floats, weight: Ints, cluster: Ints, alpha: Fraction) -> float:
    """Find the threshold for a row drawn at random from a new cluster (Lee, Barber and Willett 2023).

    Each cluster has the share of its rows with scores up to t. The threshold is the smallest t at which these
    shares add up to ``(1-alpha)(C+1)``; every label if there is none. Shares are rounded down to whole 2^-32.

    >>> scores, cluster = np.array([0.1, 0.2, 0.3, 0.4]), np.array([7, 7, 8, 9])
    >>> clustered_threshold(scores, np.ones(4, dtype=np.int64), cluster, Fraction(1, 2))
    0.3
    """
    clusters, index = dense_ranks(cluster)
    size = np.zeros(len(clusters), dtype=np.int64)
    np.add.at(size, index, weight)
    share = _UNIT // size[index] * weight
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(share[order])
    needed = -((alpha - 1) * (len(size) + 1) * _UNIT // 1)
    position = int(np.searchsorted(reached, int(needed)))
    return float(scores[order[position]]) if position < len(order) else EVERY_LABEL


def label_conditional_thresholds(rows: LabelScores, alphas: Sequence[Fraction]) -> list[float]:
    """Apply the marginal rule within each class at its own alpha; an unseen class is in every set."""
    return [rows.select(rows.label == label).threshold(alpha) for label, alpha in enumerate(alphas)]


def label_shift_thresholds(rows: LabelScores, weights: Sequence[float], alpha: Fraction) -> list[float]:
    """Return the thresholds that keep the coverage if classes are w = q(y)/p(y) times as frequent.

    ``tau(y)`` is the smallest t with ``sum over r_i <= t of w(y_i) >= (1-alpha)(sum of w(y_i) + w(y))``, or
    every label if there is none. The sums are compared as exact fractions; with equal weights, which are
    finite and non-negative, this is the marginal rule.
    """
    integers = _as_integers(weights)
    ordered, cumulative = [], []
    for label in range(len(integers)):
        part = rows.select(rows.label == label)
        order = np.argsort(part.score, kind="stable")
        ordered.append(part.score[order])
        cumulative.append(np.concatenate([[0], np.cumsum(part.weights[order])]))
    steps = np.unique(np.concatenate(ordered))
    cached: dict[int, int] = {}

    def mass(step: int) -> int:
        """Return the total integer weight of all scores up to a step."""
        if step not in cached:
            value = steps[step]
            cached[step] = sum(
                weight * int(total[scores.searchsorted(value, side="right")])
                for weight, scores, total in zip(integers, ordered, cumulative, strict=True)
                if weight
            )
        return cached[step]

    everything = mass(len(steps) - 1) if len(steps) else 0
    share = 1 - alpha
    thresholds = []
    for weight in integers:
        required = share * (everything + weight)
        first, last = 0, len(steps)
        while first < last:
            middle = (first + last) // 2
            first, last = (first, middle) if mass(middle) >= required else (middle + 1, last)
        thresholds.append(float(steps[first]) if first < len(steps) else EVERY_LABEL)
    return thresholds


def _as_integers(weights: Sequence[float]) -> list[int]:
    """Multiply doubles by their common denominator."""
    fractions = [Fraction(weight) for weight in weights]
    scale = max(fraction.denominator for fraction in fractions)  # denominators are powers of two
    return [int(fraction * scale) for fraction in fractions]


_Thresholds = Callable[[LabelScores, Sequence[Fraction], Sequence[float] | None], list[float]]

THRESHOLDS: Final[Mapping[ConformalMode, _Thresholds]] = MappingProxyType(
    {
        ConformalMode.MARGINAL: lambda rows, alphas, _: [rows.threshold(alphas[0])] * len(alphas),
        ConformalMode.LABEL_CONDITIONAL: lambda rows, alphas, _: label_conditional_thresholds(rows, alphas),
        ConformalMode.LABEL_SHIFT: lambda rows, alphas, weights: label_shift_thresholds(
            rows, weights or (), alphas[0]
        ),
    }
)
"""Functions from scores, the alpha of each class, and its weight q(y)/p(y) if the mode has weights.

Alphas are all equal except for mode label-conditional.
"""


_QUANTILES = 1000
"""Quantiles of the guaranteed coverage that p-values of clusters and groups are averaged over."""

_MAX_DEVIATIONS = 40
"""Number of standard deviations beyond which outcomes do not change a sum of doubles."""


def coverage_p_value(covered: int, rows: int, calibration_rows: int, alpha: Fraction) -> float:
    """Compute the p-value of the guarantee: probability of at most this many covered rows.

    A new row is covered if its prediction set contains its label; ``calibration_rows`` determined the
    threshold.

    >>> round(coverage_p_value(80, 100, 100, Fraction(1, 10)), 3)
    0.022
    """
    rank = rank_of(calibration_rows, alpha)
    if rank > calibration_rows or covered >= rows:
        return 1.0
    return _beta_binomial_cdf(covered, rows, rank, calibration_rows + 1 - rank)


def clustered_p_value(covered: Ints, rows: Ints, calibration_rows: int, alpha: Fraction) -> float | None:
    """Compute the p-value of the guarantee on clusters of dependent rows; None for fewer than 10 clusters.

    It is the level at which the interval of the coverage excludes the guarantee, averaged over the coverage
    that so many independent calibration rows give. Covered rows and all rows are those of each cluster, shape
    (C,).
    """
    return tail_of_clusters(rows - covered, rows, 1 - coverage_chances(calibration_rows, alpha))


def coverage_chances(calibration_rows: int, alpha: Fraction) -> Floats:
    """Return equally likely coverages of a rule of so many independent calibration rows.

    Too few rows, which put every label into every set, promise nothing that new rows could break: 0.
    """
    from scipy.special import betaincinv

    rank = rank_of(calibration_rows, alpha)
    if rank > calibration_rows:
        return np.zeros(1)
    level = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    chances: Floats = betaincinv(rank, calibration_rows + 1 - rank, level)
    return chances


def independent_share(covered: Ints, rows: Ints) -> float:
    """Return how many independent rows the rows of clusters count as, as a share; shape (C,) each."""
    limit = limit_of_clusters(rows - covered, rows)
    return 1.0 if limit is None else min(1.0, (limit.x + limit.y - 1) / int(rows.sum()))


def _beta_binomial_cdf(successes: int, trials: int, a: int, b: int) -> float:
    from scipy.special import betaln, gammaln

    mean = a / (a + b)
    variance = trials * mean * (1 - mean) * (a + b + trials) / (a + b + 1)
    lowest = max(
        0,
        min(successes, math.floor(trials * mean))
        - math.ceil(_MAX_DEVIATIONS * math.sqrt(variance) + _MAX_DEVIATIONS),
    )
    outcome = np.arange(lowest, successes + 1, dtype=np.float64)
    choose = gammaln(trials + 1) - gammaln(outcome + 1) - gammaln(trials - outcome + 1)
    log_p = choose + betaln(outcome + a, trials - outcome + b) - betaln(a, b)
    return min(1.0, float(np.exp(log_p).sum()))


def effective_rows(
    rows_of_class: Sequence[int], weights: Sequence[float], missed: Ints, tested: Ints, alpha: Fraction
) -> int:
    """Return the number of unweighted calibration rows whose coverage has the same variance.

    It is ``(sum w)^2 / sum w^2``, or fewer if classes of large weight are missed more often. Up to scale, the
    weighted coverage at the threshold has variance ``sum w^2 (miss - alpha)^2``. ``tested`` are the new rows
    of each class, and ``missed`` those whose set misses the label; shape (C,).
    """
    classes = list(zip(rows_of_class, weights, missed.tolist(), tested.tolist(), strict=True))
    total = math.fsum(rows * weight for rows, weight, _, _ in classes)
    squares = math.fsum(rows * weight**2 for rows, weight, _, _ in classes)
    if not squares:
        return 0
    a = float(alpha)
    spread = math.fsum(
        rows * weight**2 * ((k + 1) / (n + 2) * (1 - a) ** 2 + (n - k + 1) / (n + 2) * a**2)
        for rows, weight, k, n in classes
    )
    return math.floor(total**2 / max(squares, spread / (a * (1 - a))))


def shifted_p_value(
    coverage: Floats, calibration_rows: int, alpha: Fraction, random: np.random.Generator
) -> float:
    """Compute the p-value of the guarantee for estimated class weights, from B draws of the coverage."""
    rank = rank_of(calibration_rows, alpha)
    if rank > calibration_rows:
        return 1.0
    guaranteed = random.beta(rank, calibration_rows + 1 - rank, len(coverage))
    return float((1 + np.count_nonzero(coverage >= guaranteed)) / (len(coverage) + 1))

"""Non-conformity scores and sets by method, and thresholds as exact order statistics [LS sec. 2]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.base.choices import ConformalMethod, ConformalMode
from uqcli.base.class_counts import Matrix
from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.records import dataclass
from uqcli.kernels.nonconformity import sets_below, true_label_scores


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

    Labels are class indices, of any integer width. ``cluster`` is None if rows are independent.
    """

    score: Floats
    label: Ints
    weight: Ints | None
    cluster: Ints | None = None

    @property
    def rows(self) -> int:
        """Total weight."""
        return len(self.score) if self.weight is None else int(self.weight.sum())

    def select(self, rows: Bools) -> LabelScores:
        """Select rows."""
        return LabelScores(
            score=self.score[rows],
            label=self.label[rows],
            weight=None if self.weight is None else self.weight[rows],
            cluster=None if self.cluster is None else self.cluster[rows],
        )

    def threshold(self, alpha: Fraction) -> float:
        """Find the threshold of these rows by the marginal rule, of clusters if there are any."""
        if self.cluster is None:
            return marginal_threshold(self.score, self.weight, alpha)
        weight = np.ones(len(self.score), dtype=np.int64) if self.weight is None else self.weight
        return clustered_threshold(self.score, weight, self.cluster, alpha)


def marginal_threshold(scores: Floats, weight: Ints | None, alpha: Fraction) -> float:
    """Find the k-th smallest score, k = ceil((1-alpha)(n+1)); every label if k > n.

    Weights, int64, are 1 each if None.

    >>> marginal_threshold(np.array([0.1, 0.2, 0.3, 0.4]), None, Fraction(1, 2))
    0.3
    """
    rows = len(scores) if weight is None else int(weight.sum())
    rank = -((alpha - 1) * (rows + 1) // 1)
    if rank > rows:
        return EVERY_LABEL
    if weight is None:
        return float(np.partition(scores, int(rank) - 1)[int(rank) - 1])
    order = np.argsort(scores, kind="stable")
    index = int(np.searchsorted(np.cumsum(weight[order]), int(rank)))
    return float(scores[order[index]])


def clustered_threshold(scores: Floats, weight: Ints, cluster: Ints, alpha: Fraction) -> float:
    """Find the threshold for a row drawn at random from a new cluster (Lee, Barber and Willett 2023).

    Each cluster has the share of its rows with scores up to t. The threshold is the smallest t at which these
    shares add up to ``(1-alpha)(C+1)``; every label if there is none. Shares are rounded down to whole 2^-32.

    >>> scores, cluster = np.array([0.1, 0.2, 0.3, 0.4]), np.array([7, 7, 8, 9])
    >>> clustered_threshold(scores, np.ones(4, dtype=np.int64), cluster, Fraction(1, 2))
    0.3
    """
    _, index = np.unique(cluster, return_inverse=True)
    size = np.zeros(int(index.max(initial=-1)) + 1, dtype=np.int64)
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
        row_weights = np.ones(len(order), dtype=np.int64) if part.weight is None else part.weight[order]
        ordered.append(part.score[order])
        cumulative.append(np.concatenate([[0], np.cumsum(row_weights)]))
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

"""Heuristic tree whose splits increase the AUC after calibration [HC app. 12].

The log-odds of each class on each side of a split are assumed normal. Each side gets the Platt map that fits
its mixture; the AUC over both calibrated sides then has a closed form. The paper's own two-point quadratic
often has no real root and ignores the sizes of the sides.
"""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.questions import Node
from uqcli.calibrate.tree import TreeMatrix
from uqcli.kernels.logistic import logistic_fit

_MAX_CANDIDATES = 32
_MIN_GAIN = 1e-4
_MIN_VARIANCE = 1e-6
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True, kw_only=True)
class _Normal:
    """Weight, mean and variance of the log-odds of one class on one side."""

    size: float
    mean: float
    variance: float


@dataclass(frozen=True, kw_only=True)
class _Split:
    """Best split found: its AUC, its column, and the largest rank that goes left."""

    auc: float
    column: int
    threshold: float


def learn_auc_tree(rows: Rows, matrix: TreeMatrix, options: CalibrationOptions) -> tuple[Node, ...]:
    """Split nodes as long as this increases their calibrated AUC; missing values go right.

    Parameters
    ----------
    rows
        With log-odds as scores.
    matrix
        Feature ranks of the same rows.
    """
    nodes: list[Node] = []
    leaves = 0

    def grow(node_rows: Rows, rank: Floats, depth: int) -> int:
        nonlocal leaves
        index = len(nodes)
        split = _best_split(node_rows, rank, options.rows_of_leaf) if depth < options.depth else None
        if split is None:
            nodes.append(Node(leaf=leaves))
            leaves += 1
            return index
        nodes.append(Node())  # numbered before its children
        with np.errstate(invalid="ignore"):
            left = rank[:, split.column] <= split.threshold
        children = [grow(node_rows.select(side), rank[side], depth + 1) for side in (left, ~left)]
        nodes[index] = matrix.question(
            split.column, split.threshold, missing_left=False, left=children[0], right=children[1]
        )
        return index

    grow(rows, matrix.rank, 0)
    return tuple(nodes)


def _best_split(rows: Rows, rank: Floats, min_leaf: int) -> _Split | None:
    weight = rows.weights()
    unsplit = [_side(rows, np.ones(len(rows), dtype=np.bool_))]
    if unsplit[0] is None:
        return None
    best = _Split(auc=calibrated_auc([unsplit[0]]) + _MIN_GAIN, column=-1, threshold=0.0)
    for column in range(rank.shape[1]):
        value = rank[:, column]
        for threshold in _candidates(value, weight):
            with np.errstate(invalid="ignore"):
                left = value <= threshold
            if min(weight[left].sum(), weight[~left].sum()) < min_leaf:
                continue
            sides = [_side(rows, left), _side(rows, ~left)]
            normals = [side for side in sides if side is not None]
            auc = calibrated_auc(normals) if len(normals) == 2 else 0.0
            if auc > best.auc:
                best = _Split(auc=auc, column=column, threshold=float(threshold))
    return best if best.column >= 0 else None


def _candidates(rank: Floats, weight: Ints) -> Floats:
    """Return at most 32 candidate ranks for a split, spaced at equal weights."""
    present = ~np.isnan(rank)
    distinct, distinct_index = np.unique(rank[present], return_inverse=True)
    if len(distinct) < 2:
        return distinct[:0]
    cumulative = np.cumsum(np.bincount(distinct_index, weights=weight[present]))
    index = np.searchsorted(
        cumulative, np.arange(1, _MAX_CANDIDATES + 1) * cumulative[-1] / (_MAX_CANDIDATES + 1)
    )
    candidates: Floats = np.unique(distinct[np.minimum(index, len(distinct) - 2)])
    return candidates


def _side(rows: Rows, inside: Bools) -> tuple[_Normal, _Normal] | None:
    """Return the positives and negatives of one side; None if a class is missing."""
    normals = []
    for in_class in (inside & rows.labels, inside & ~rows.labels):
        weight, log_odds = rows.weights()[in_class], rows.score[in_class]
        size = float(weight.sum())
        if size == 0:
            return None
        mean = float((weight * log_odds).sum() / size)
        variance = float((weight * (log_odds - mean) ** 2).sum() / size)
        normals.append(_Normal(size=size, mean=mean, variance=max(variance, _MIN_VARIANCE)))
    return normals[0], normals[1]


def calibrated_auc(sides: list[tuple[_Normal, _Normal]]) -> float:
    """Compute the AUC of all sides together, after the Platt map of each.

    ``sum over k, l of (n1_k/n1)(n0_l/n0) Phi((m1_k - m0_l)/sqrt(v1_k + v0_l))``.
    """
    from scipy.special import ndtr

    calibrated = [_platt(side) for side in sides]
    positives = sum(positive.size for positive, _ in calibrated)
    negatives = sum(negative.size for _, negative in calibrated)
    total = 0.0
    for positive, _ in calibrated:
        for _, negative in calibrated:
            gap = (positive.mean - negative.mean) / np.sqrt(positive.variance + negative.variance)
            total += positive.size / positives * negative.size / negatives * float(ndtr(gap))
    return total


def _platt(side: tuple[_Normal, _Normal]) -> tuple[_Normal, _Normal]:
    """Compute the log-odds of both classes after the logistic map that fits their mixture, by quadrature."""
    points = np.concatenate([normal.mean + np.sqrt(normal.variance) * _NODES for normal in side])
    mass = [normal.size * _WEIGHTS / _WEIGHTS.sum() for normal in side]
    hits = np.concatenate([mass[0], np.zeros(len(_NODES))])
    intercept, slope = logistic_fit(points[None, :], np.concatenate(mass), hits)
    positive, negative = (
        _Normal(
            size=normal.size,
            mean=intercept + slope * normal.mean,
            variance=max(slope**2 * normal.variance, 1e-12),
        )
        for normal in side
    )
    return positive, negative

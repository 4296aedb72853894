"""Low-depth trees that partition rows by readable questions [HC Alg. 1, app. 12-13].

Their splits increase the purity, or the AUC after calibration.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from uqcli.base.choices import Partitioner
from uqcli.base.counts import Bools, Feature, Floats, Ints
from uqcli.base.errors import MissingExtraError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps.base import FeatureColumn, Node
from uqcli.kernels.logistic import logistic_fit, sigmoid

Nodes = tuple[Node, ...]
"""Nodes of a tree, the root first."""

MIN_LEVEL_ROWS = 20
"""Levels with fewer rows than this in the learning data count as "other"."""

BOOSTING_STAGES = 3
FOREST_TREES = 20
_LEARNING_RATE = 0.5
"""Boosting stages, trees of a forest, and the learning rate of boosting."""

_SEED_RANGE = 2**32
"""scikit-learn accepts seeds below this; the split into halves accepts any seed."""


def learn_trees(
    features: Mapping[str, Feature], positive: Bools, weight: Ints, options: CalibrationOptions
) -> tuple[Sequence[FeatureColumn], Sequence[Nodes]]:
    """Learn trees that partition the rows by positive rate; return their columns and nodes.

    Levels are ordered by positive rate, which suffices to find the best binary split for two classes (Breiman
    et al. 1984, sec. 4.2).
    """
    require_trees()
    matrix = TreeMatrix.from_features(features, positive, weight)
    if 2 * options.rows_of_leaf > int(weight.sum()):
        trees: list[Nodes] = [(Node(leaf=0),)]  # too few rows for any split
    else:
        trees = LEARNERS[options.partitioner](matrix, positive, weight, options)
    return matrix.columns, trees


def require_trees() -> None:
    """Check that scikit-learn is installed."""
    if importlib.util.find_spec("sklearn") is None:
        raise MissingExtraError(
            "trees need scikit-learn", expected="the extra 'trees'", remedy='pip install "uqcli[trees]"'
        )


def ordered_column(name: str, feature: Feature, positive: Bools, weight: Ints) -> FeatureColumn:
    """Order the frequent levels of a column by positive rate."""
    if feature.levels is None:
        return FeatureColumn(name=name)
    code = feature.value.astype(np.int64)
    is_level = (code >= 0) & (code < len(feature.levels))
    level_weight = np.bincount(code[is_level], weights=weight[is_level], minlength=len(feature.levels))
    positive_weight = np.bincount(
        code[is_level], weights=(weight * positive)[is_level], minlength=len(feature.levels)
    )
    frequent = [
        level_index
        for level_index in range(len(feature.levels))
        if level_weight[level_index] >= MIN_LEVEL_ROWS
    ]
    frequent.sort(
        key=lambda level_index: (positive_weight[level_index] / level_weight[level_index], level_index)
    )
    return FeatureColumn(name=name, levels=[feature.levels[level_index] for level_index in frequent])


def recoded(feature: Feature, column: FeatureColumn) -> Floats:
    """Recode a feature to the levels of a column: other texts are ``len(levels)``, missing is -1."""
    if feature.levels is None or column.levels is None:
        return feature.value
    code_by_level = {text: code for code, text in enumerate(column.levels)}
    table = np.array(
        [*(code_by_level.get(text, len(code_by_level)) for text in feature.levels), len(code_by_level), -1],
        dtype=np.float64,
    )
    result: Floats = table[feature.value.astype(np.int64)]
    return result


@dataclass(frozen=True, kw_only=True)
class TreeMatrix:
    """Feature matrix of trees: ranks of numbers or of levels, so that only the order matters.

    Ranks have shape (n, d), NaN if missing; unknown texts rank last. A numeric column has its distinct
    values, ascending; a categorical one None.
    """

    rank: Floats
    columns: tuple[FeatureColumn, ...]
    distinct_values: tuple[Floats | None, ...]

    @classmethod
    def from_features(cls, features: Mapping[str, Feature], positive: Bools, weight: Ints) -> TreeMatrix:
        """Rank features."""
        columns = tuple(ordered_column(name, feature, positive, weight) for name, feature in features.items())
        distinct_values: list[Floats | None] = []
        ranks = []
        for column in columns:
            value = recoded(features[column.name], column)
            if not column.is_text:
                distinct = np.unique(value[~np.isnan(value)])
                distinct_values.append(distinct)
                ranks.append(np.where(np.isnan(value), np.nan, np.searchsorted(distinct, value)))
            else:
                distinct_values.append(None)
                ranks.append(np.where(value < 0, np.nan, value))
        return cls(rank=np.stack(ranks, axis=1), columns=columns, distinct_values=tuple(distinct_values))

    def question(self, column: int, rank: float, *, missing_left: bool, left: int, right: int) -> Node:
        """Return the question that sends values up to a given rank left."""
        feature, distinct = self.columns[column], self.distinct_values[column]
        if distinct is None:
            levels = feature.levels or []
            return Node(
                feature=feature.name,
                levels=[level for level_index, level in enumerate(levels) if level_index <= rank],
                other_left=len(levels) <= rank,
                missing_left=missing_left,
                left=left,
                right=right,
            )
        # scikit-learn splits off missing values by an infinite threshold
        threshold = _between(distinct, int(np.floor(min(rank, len(distinct)))))
        return Node(
            feature=feature.name, threshold=threshold, missing_left=missing_left, left=left, right=right
        )


def _between(steps: Floats, index: int) -> float:
    """Return a threshold from one distinct value to below the next; index -1 gives one below all values."""
    if index < 0:
        return float(np.nextafter(steps[0], -np.inf)) if len(steps) else 0.0
    if index + 1 >= len(steps):
        return float(steps[-1]) if len(steps) else 0.0
    middle = steps[index] / 2 + steps[index + 1] / 2
    return float(middle if steps[index] <= middle < steps[index + 1] else steps[index])


def _limits(options: CalibrationOptions, weight: Ints) -> dict[str, Any]:
    """Return the limits on depth and leaf weight for scikit-learn; a row of weight 2 counts as two."""
    return {"max_depth": options.depth, "min_weight_fraction_leaf": options.rows_of_leaf / int(weight.sum())}


def _single(matrix: TreeMatrix, positive: Bools, weight: Ints, options: CalibrationOptions) -> list[Nodes]:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(**_limits(options, weight), random_state=options.seed % _SEED_RANGE)
    return [nodes_of(tree.fit(matrix.rank, positive, weight).tree_, matrix)]


def _forest(matrix: TreeMatrix, positive: Bools, weight: Ints, options: CalibrationOptions) -> list[Nodes]:
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        n_estimators=FOREST_TREES,
        **_limits(options, weight),
        random_state=options.seed % _SEED_RANGE,
        n_jobs=1,
    )
    return [nodes_of(tree.tree_, matrix) for tree in forest.fit(matrix.rank, positive, weight).estimators_]


def _boosted(matrix: TreeMatrix, positive: Bools, weight: Ints, options: CalibrationOptions) -> list[Nodes]:
    """Learn trees by gradient boosting of the log loss: each is fitted to the residuals of earlier trees."""
    from sklearn.tree import DecisionTreeRegressor

    log_odds = np.zeros(len(positive))
    trees = []
    for stage in range(BOOSTING_STAGES):
        probability = sigmoid(log_odds)
        tree = DecisionTreeRegressor(
            **_limits(options, weight), random_state=(options.seed + stage) % _SEED_RANGE
        )
        tree.fit(matrix.rank, positive - probability, weight)
        trees.append(nodes_of(tree.tree_, matrix))
        leaf = tree.apply(matrix.rank)
        gradient = np.bincount(leaf, weights=weight * (positive - probability))
        curvature = np.bincount(leaf, weights=weight * probability * (1 - probability))
        log_odds = log_odds + _LEARNING_RATE * (gradient / np.maximum(curvature, 1e-9))[leaf]
    return trees


LEARNERS: Mapping[Partitioner, Callable[[TreeMatrix, Bools, Ints, CalibrationOptions], list[Nodes]]] = {
    Partitioner.TREE: _single,
    Partitioner.FOREST: _forest,
    Partitioner.BOOSTED: _boosted,
}


def nodes_of(tree: Any, matrix: TreeMatrix) -> Nodes:
    """Convert a scikit-learn tree; leaves are numbered from left to right."""
    nodes: list[Node] = []
    leaves = 0

    def copy(node_index: int) -> int:
        nonlocal leaves
        index = len(nodes)
        left, right = int(tree.children_left[node_index]), int(tree.children_right[node_index])
        if left < 0:
            nodes.append(Node(leaf=leaves))
            leaves += 1
            return index
        nodes.append(Node())  # numbered before its children
        below = copy(left), copy(right)
        nodes[index] = matrix.question(
            int(tree.feature[node_index]),
            float(tree.threshold[node_index]),
            missing_left=bool(tree.missing_go_to_left[node_index]),
            left=below[0],
            right=below[1],
        )
        return index

    copy(0)
    return tuple(nodes)


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


def learn_auc_tree(rows: Rows, matrix: TreeMatrix, options: CalibrationOptions) -> Nodes:
    """Split nodes as long as this increases their calibrated AUC; missing values go right.

    Rows have log-odds as scores; the matrix has the ranks of their features.
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
        column, threshold = split
        nodes.append(Node())  # numbered before its children
        with np.errstate(invalid="ignore"):
            left = rank[:, column] <= threshold
        children = [grow(node_rows.select(side), rank[side], depth + 1) for side in (left, ~left)]
        nodes[index] = matrix.question(
            column, threshold, missing_left=False, left=children[0], right=children[1]
        )
        return index

    grow(rows, matrix.rank, 0)
    return tuple(nodes)


def _best_split(rows: Rows, rank: Floats, min_leaf: int) -> tuple[int, float] | None:
    """Return the column of the best split, and the largest rank that goes left; None if none is better."""
    weight = rows.weights()
    unsplit = [_side(rows, np.ones(len(rows), dtype=np.bool_))]
    if unsplit[0] is None:
        return None
    best, best_auc = None, calibrated_auc([unsplit[0]]) + _MIN_GAIN
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
            if auc > best_auc:
                best, best_auc = (column, float(threshold)), auc
    return best


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

"""Low-depth trees that partition rows by readable questions [HC Alg. 1, app. 12-13].

Their splits increase the purity, or the AUC after calibration.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from uqcli.base.choices import Partitioner
from uqcli.base.counts import Bools, Feature, Floats, Ints, run_starts
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


def learn_trees(rows: Rows, matrix: TreeMatrix, options: CalibrationOptions) -> Sequence[Nodes]:
    """Learn trees that partition the rows by positive rate; the matrix has the ranks of their features.

    Levels are ordered by positive rate, which suffices to find the best binary split for two classes (Breiman
    et al. 1984, sec. 4.2).
    """
    require_trees()
    weight = rows.weights()
    if 2 * options.rows_of_leaf > int(weight.sum()):
        return [(Node(leaf=0),)]  # too few rows for any split
    return LEARNERS[options.partitioner](matrix, rows.labels, weight, options)


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
class FeatureRanks:
    """Distinct values of numeric columns, ascending, and the rank of each row among them; -1 if missing.

    Those of parts of the rows follow without sorting again.
    """

    distinct_values: Mapping[str, Floats]
    rank: Mapping[str, NDArray[np.int32]]

    @classmethod
    def of(cls, rows: Rows) -> FeatureRanks:
        """Rank the numeric features of rows."""
        distinct_values, ranks = {}, {}
        for name, feature in rows.features.items():
            if feature.levels is None:
                order = np.argsort(feature.value, kind="stable")  # missing values come last
                order = order[: len(order) - np.count_nonzero(np.isnan(feature.value))]
                ordered = feature.value[order]
                starts = run_starts(ordered)
                ranks[name] = np.full(len(feature.value), -1, dtype=np.int32)
                ranks[name][order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
                distinct_values[name] = ordered[starts]
        return cls(distinct_values=distinct_values, rank=ranks)

    def among(self, name: str, position: Ints | None) -> tuple[Floats, Floats]:
        """Return the distinct values at some positions, None for all, and the ranks there, NaN if missing."""
        distinct = self.distinct_values[name]
        rank = self.rank[name] if position is None else self.rank[name][position]
        is_present = np.zeros(len(distinct) + 1, dtype=np.bool_)
        is_present[rank] = True  # index -1, missing, is the last entry
        rank_among = np.cumsum(is_present, dtype=np.float64) - 1
        rank_among[-1] = np.nan
        return distinct[is_present[:-1]], rank_among[rank]


@dataclass(frozen=True, kw_only=True)
class TreeMatrix:
    """Feature matrix of trees: ranks of numbers or of levels, so that only the order matters.

    Ranks have shape (n, d), NaN if missing, in single precision, as scikit-learn takes them; unknown texts
    rank last. A numeric column has its distinct values, ascending; a categorical one None.
    """

    rank: NDArray[np.float32]
    columns: tuple[FeatureColumn, ...]
    distinct_values: tuple[Floats | None, ...]

    @classmethod
    def from_rows(cls, rows: Rows, ranks: FeatureRanks) -> TreeMatrix:
        """Rank the features of rows, given the ranks among all rows, of which theirs have the positions."""
        weight = rows.weights()
        columns = tuple(
            ordered_column(name, feature, rows.labels, weight) for name, feature in rows.features.items()
        )
        distinct_values: list[Floats | None] = []
        by_column = np.empty((len(columns), len(rows)), dtype=np.float32)
        for column, rank in zip(columns, by_column, strict=True):
            if column.is_text:
                code = recoded(rows.features[column.name], column)
                distinct_values.append(None)
                rank[:] = np.where(code < 0, np.nan, code)
            else:
                distinct, rank[:] = ranks.among(column.name, rows.position)
                distinct_values.append(distinct)
        return cls(rank=by_column.T, columns=columns, distinct_values=tuple(distinct_values))

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
    """Convert a scikit-learn tree, whose nodes come before their children, those on the left first.

    So the leaves are numbered from left to right.
    """
    leaf = count()
    nodes = zip(
        tree.children_left.tolist(),
        tree.children_right.tolist(),
        tree.feature.tolist(),
        tree.threshold.tolist(),
        tree.missing_go_to_left.tolist(),
        strict=True,
    )
    return tuple(
        Node(leaf=next(leaf))
        if left < 0
        else matrix.question(feature, threshold, missing_left=bool(missing_left), left=left, right=right)
        for left, right, feature, threshold, missing_left in nodes
    )


def cut_tree(nodes: Nodes, depth: int) -> tuple[Nodes, Sequence[int]]:
    """Cut a tree off at some depth; return its nodes, and the positions they had.

    Trees are grown from the root, and what is below a node has no effect on it, so this is the tree that
    would have been learned with this depth, up to ties.
    """
    kept: list[Node] = []
    positions: list[int] = []
    leaves = 0
    pending: list[tuple[int, int, int]] = [(0, depth, -1)]
    while pending:  # the left child comes after its parent, and the right one after all that is left of it
        position, depth_below, parent = pending.pop()
        if parent >= 0:
            kept[parent] = replace(kept[parent], right=len(kept))
        node = nodes[position]
        positions.append(position)
        if node.is_leaf or depth_below == 0:
            kept.append(Node(leaf=leaves))
            leaves += 1
            continue
        left, right = node.children
        pending += [(right, depth_below - 1, len(kept)), (left, depth_below - 1, -1)]
        kept.append(replace(node, left=len(kept) + 1))
    return tuple(kept), positions


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
    # a stack as above, since a function that calls itself would keep the rows in memory
    pending: list[tuple[Rows, NDArray[np.float32], int, int]] = [(rows, matrix.rank, 0, -1)]
    while pending:
        node_rows, rank, depth, parent = pending.pop()
        if parent >= 0:
            nodes[parent] = replace(nodes[parent], right=len(nodes))
        split = _best_split(node_rows, rank, options.rows_of_leaf) if depth < options.depth else None
        if split is None:
            nodes.append(Node(leaf=leaves))
            leaves += 1
            continue
        column, threshold = split
        with np.errstate(invalid="ignore"):
            is_left = rank[:, column] <= threshold
        pending.append((node_rows.select(~is_left), rank[~is_left], depth + 1, len(nodes)))
        pending.append((node_rows.select(is_left), rank[is_left], depth + 1, -1))
        left = len(nodes) + 1
        nodes.append(matrix.question(column, threshold, missing_left=False, left=left, right=left))
    return tuple(nodes)


def _best_split(rows: Rows, rank: NDArray[np.float32], min_leaf: int) -> tuple[int, float] | None:
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


def _candidates(rank: NDArray[np.float32], weight: Ints) -> NDArray[np.float32]:
    """Return at most 32 candidate ranks for a split, spaced at equal weights."""
    present = ~np.isnan(rank)
    distinct, distinct_index = np.unique(rank[present], return_inverse=True)
    if len(distinct) < 2:
        return distinct[:0]
    cumulative = np.cumsum(np.bincount(distinct_index, weights=weight[present]))
    index = np.searchsorted(
        cumulative, np.arange(1, _MAX_CANDIDATES + 1) * cumulative[-1] / (_MAX_CANDIDATES + 1)
    )
    candidates: NDArray[np.float32] = np.unique(distinct[np.minimum(index, len(distinct) - 2)])
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

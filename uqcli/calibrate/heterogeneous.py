"""Heterogeneous calibration [HC Alg. 1]: one calibration map per leaf of a partition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from uqcli.base.choices import LeafMethod, Partitioner
from uqcli.base.counts import Ints, ValueCounts
from uqcli.base.rows import Rows
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps.beta import fit_beta
from uqcli.calibrate.maps.groups import GroupsMap
from uqcli.calibrate.maps.isotonic import fit_isotonic
from uqcli.calibrate.maps.leaves import Leaf, calibrated_in_leaves
from uqcli.calibrate.maps.logistic import fit_platt
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.calibrate.maps.trees import Tree, TreesMap
from uqcli.calibrate.partition import rule_of
from uqcli.calibrate.questions import FeatureColumn, Node
from uqcli.calibrate.scale import Scale
from uqcli.calibrate.tree import LearnedTrees, leaves_of, recoded

LEAF_FITS: Mapping[LeafMethod, Callable[[ValueCounts, Scale], ScoreMap]] = {
    LeafMethod.PLATT: lambda counts, scale: fit_platt(counts, scale).map,
    LeafMethod.BETA: lambda counts, scale: fit_beta(counts, scale).map,
    LeafMethod.ISOTONIC: lambda counts, _: fit_isotonic(counts),
}


def fit_trees(learned: LearnedTrees, rows: Rows, options: CalibrationOptions) -> TreesMap:
    """Calibrate the leaves of trees on rows that the trees were not learned from.

    The trees of a forest are calibrated separately and averaged. Boosted trees are sequential: each
    calibrates, leaf by leaf, the log-odds that the previous tree predicts.

    Parameters
    ----------
    rows
        With corrected scores, and all features of the trees.
    """
    trees, boosted = [], options.partitioner is Partitioner.BOOSTED
    for tree_index, nodes in enumerate(learned.trees):
        leaf = leaves_of(learned, tree_index, rows.features)
        tree = _calibrated_tree(nodes, learned.columns, leaf, rows, options)
        trees.append(tree)
        if boosted:
            probability = calibrated_in_leaves(tree.leaves, leaf, rows.score, options.scale)
            rows = rows.scored(Scale().log_odds(probability))
            options = replace(options, scale=Scale(real=True))
    return TreesMap(features=list(learned.columns), combine="sequence" if boosted else "mean", trees=trees)


def _calibrated_tree(
    nodes: Sequence[Node],
    columns: Sequence[FeatureColumn],
    leaf: Ints,
    rows: Rows,
    options: CalibrationOptions,
) -> Tree:
    leaves: dict[int, Leaf] = {}

    def visit(node_index: int, path: list[tuple[Node, bool]], parent_map: ScoreMap) -> None:
        node = nodes[node_index]
        counts = rows.counts(rows.score, np.isin(leaf, _leaves_below(nodes, node_index)))
        part = _part(rule_of(path, columns), counts, options, parent_map)
        if node.leaf is not None:
            leaves[node.leaf] = part
        elif node.left is not None and node.right is not None:
            visit(node.left, [*path, (node, True)], part.calibration)
            visit(node.right, [*path, (node, False)], part.calibration)

    overall_map = _fit(rows.counts(rows.score), options)
    visit(0, [], overall_map)
    return Tree(nodes=list(nodes), leaves=[leaves[leaf_index] for leaf_index in range(len(leaves))])


def _leaves_below(nodes: Sequence[Node], node_index: int) -> list[int]:
    node = nodes[node_index]
    if node.leaf is not None:
        return [node.leaf]
    return [
        leaf for child in (node.left, node.right) if child is not None for leaf in _leaves_below(nodes, child)
    ]


def _part(rule: str, counts: ValueCounts, options: CalibrationOptions, larger: ScoreMap) -> Leaf:
    """Calibrate a part by its own rows, or by the map of a larger part if these are too few."""
    enough = counts.rows >= max(1, options.rows_of_leaf)
    return Leaf(
        rule=rule,
        rows=counts.rows,
        positives=int(counts.positives.sum()),
        own=enough,
        calibration=_fit(counts, options) if enough else larger,
    )


def _fit(counts: ValueCounts, options: CalibrationOptions) -> ScoreMap:
    return LEAF_FITS[options.leaf_method](counts, options.scale)


def fit_groups(rows: Rows, options: CalibrationOptions) -> GroupsMap:
    """Calibrate each combination of feature levels, and all rows for unknown combinations.

    Parameters
    ----------
    rows
        With corrected scores.
    """
    columns = [
        FeatureColumn(name=name, levels=list(feature.levels or ())) for name, feature in rows.features.items()
    ]
    codes = np.stack(
        [recoded(rows.features[column.name], column).astype(np.int64) for column in columns], axis=1
    )
    combinations, group = np.unique(codes, axis=0, return_inverse=True)
    all_counts = rows.counts(rows.score)
    overall_map = _fit(all_counts, options)
    leaves, groups = [], []
    for group_index, combination in enumerate(combinations.tolist()):
        counts = rows.counts(rows.score, group == group_index)
        texts = [
            None if code < 0 else (column.levels or [])[code]
            for column, code in zip(columns, combination, strict=True)
        ]
        conditions = [
            f"{column.name} = {'missing' if text is None else text}"
            for column, text in zip(columns, texts, strict=True)
        ]
        groups.append(texts)
        leaves.append(_part(" and ".join(conditions), counts, options, overall_map))
    leaves.append(
        Leaf(
            rule="any other",
            rows=all_counts.rows,
            positives=int(all_counts.positives.sum()),
            own=True,
            calibration=overall_map,
        )
    )
    return GroupsMap(features=columns, groups=groups, leaves=leaves)

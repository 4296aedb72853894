"""Fit a calibration map of any method to rows, or choose a method.

The one chosen is the simplest whose cross-fitted log loss is as good as the lowest; so is the size of a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, get_args

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import Binning, CalibrationMethod, LeafMethod, Partitioner, SplitCriterion
from uqcli.base.counts import Ints, ValueCounts
from uqcli.base.defaults import MEASURED_ROWS
from uqcli.base.draws import Purpose, generator
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.memory import is_scarce
from uqcli.bin.grid import GridSpec, pool_by, uncertainty_edges_of
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.folds import (
    CrossFittedLosses,
    ScoreFolds,
    can_be_split,
    deal_rows,
    folds_from,
    folds_of,
    thinned,
    units_of,
    weights_of_folds,
)
from uqcli.calibrate.maps import CalibrationMap
from uqcli.calibrate.maps.base import Calibrated, FeatureColumn, Fit, Node, leaf_of, rule_of
from uqcli.calibrate.maps.formulas import fit_beta, fit_platt
from uqcli.calibrate.maps.heterogeneous import GroupsMap, Leaf, Tree, TreesMap, calibrated_in_leaves
from uqcli.calibrate.maps.isotonic import fit_by_uncertainty, fit_isotonic
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.calibrate.maps.surface import fit_surface
from uqcli.calibrate.scale import Scale
from uqcli.calibrate.tree import Nodes, TreeMatrix, learn_auc_tree, learn_trees, recoded
from uqcli.comparison.run import PairedRows
from uqcli.engines.refusals import require_few_groups
from uqcli.estimates.score_metrics import log_losses
from uqcli.kernels.units import dense_ranks


@dataclass(frozen=True, kw_only=True)
class FittedCalibration:
    """A calibration map, the options it was fitted with, and notes on the fit."""

    map: CalibrationMap
    options: CalibrationOptions
    notes: tuple[str, ...] = ()

    @property
    def method(self) -> CalibrationMethod:
        """Method of the map."""
        return self.options.chosen_method

    def predict(self, rows: Rows) -> Calibrated:
        """Calibrate rows."""
        scale = self.options.scale
        corrected = scale.corrected(rows.score)
        values = {
            feature.name: recoded(rows.features[feature.name], feature) for feature in self.map.features
        }
        return self.map.predict(corrected, scale, rows.uncertainty, values)

    def paired(self, rows: Rows, cluster: str | None) -> PairedRows:
        """Pair the probabilities as given, before any correction, with the calibrated ones."""
        before = replace(self.options.scale, undersampled=1.0).probability(rows.score)
        return PairedRows(rows=rows, before=before, after=self.predict(rows).probability, cluster=cluster)


def fit(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None = None) -> FittedCalibration:
    """Fit a calibration map to at least one row, pooled.

    Trees are learned from the separate ``tree_rows``; None to split the rows in halves.
    """
    options.check()
    if options.chosen_method in ROW_FITS:
        fitted = ROW_FITS[options.chosen_method](rows, options, tree_rows)
        return FittedCalibration(map=fitted, options=options)
    return _fitted(rows.counts(options.scale.corrected(rows.score)), options)


def fit_counts(counts: ValueCounts, options: CalibrationOptions) -> FittedCalibration:
    """Fit a map of the score alone to counts of uncorrected scores."""
    options.check()
    return _fitted(options.corrected(counts), options)


def _fitted(counts: ValueCounts, options: CalibrationOptions) -> FittedCalibration:
    fitted, notes = fit_scores(counts, options)
    return FittedCalibration(map=fitted, options=options, notes=notes)


def fit_scores(counts: ValueCounts, options: CalibrationOptions) -> Fit:
    """Fit a map of the score alone to counts of corrected scores."""
    return SCORE_FITS[options.chosen_method](counts, options)


SCORE_FITS: Mapping[CalibrationMethod, Callable[[ValueCounts, CalibrationOptions], Fit]] = {
    method: map_.fit for method in CalibrationMethod for map_ in get_args(ScoreMap) if method in map_.methods
}
"""Methods that use the score alone."""


def _by_uncertainty(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> CalibrationMap:
    del tree_rows
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=options.uncertainty_bins, score_bins=None)
    edges = uncertainty_edges_of(rows, spec)
    return fit_by_uncertainty(pool_by(_corrected(rows, options), edges), edges, options.scale)


def _surface(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> CalibrationMap:
    del tree_rows
    return fit_surface(_corrected(rows, options), options)


def _heterogeneous(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> CalibrationMap:
    if not options.trees:
        return fit_groups(_corrected(rows, options), options)
    if tree_rows is None:
        tree_rows = rows
        if can_be_split(rows, options.cluster):
            halves = deal_rows(rows, 2, generator(options.seed, Purpose.SPLIT, 0), options.cluster)
            tree_rows, rows = (rows.reweighted(half) for half in halves)
    columns, trees = _learn(tree_rows, options)
    return fit_trees(columns, trees, _corrected(rows, options), options)


ROW_FITS: Mapping[CalibrationMethod, Callable[[Rows, CalibrationOptions, Rows | None], CalibrationMap]] = {
    CalibrationMethod.MIST: _by_uncertainty,
    CalibrationMethod.SURFACE: _surface,
    CalibrationMethod.HETEROGENEOUS: _heterogeneous,
}
"""Methods that use more than the score."""


def _corrected(rows: Rows, options: CalibrationOptions) -> Rows:
    return rows.scored(options.scale.corrected(rows.score))


def _learn(rows: Rows, options: CalibrationOptions) -> tuple[Sequence[FeatureColumn], Sequence[Nodes]]:
    if options.split is SplitCriterion.GINI:
        return learn_trees(rows.features, rows.labels, rows.weights(), options)
    matrix = TreeMatrix.from_features(rows.features, rows.labels, rows.weights())
    log_odds = options.scale.log_odds(options.scale.corrected(rows.score))
    log_odds_rows = Rows(numbers={"score": log_odds}, positive=rows.positive, weight=rows.weight)
    return matrix.columns, [learn_auc_tree(log_odds_rows, matrix, options)]


def cross_validated(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> PairedRows:
    """Cross-validate: calibrate each row by a map fitted without it.

    The rows are pooled and sorted; they are split into at most five folds after a random permutation. There
    are at least two rows, or clusters (see ``can_be_split``).
    """
    weight = rows.weights()

    def held_out(fold: Ints) -> PairedRows:
        fitted = fit(rows.reweighted(weight - fold), options, tree_rows)
        return fitted.paired(rows.reweighted(fold), options.cluster)

    one_by_one = rows.size > MEASURED_ROWS or is_scarce()  # else all folds are in memory at once
    each = map if one_by_one else parallel_map
    return PairedRows.joined(list(each(held_out, weights_of_folds(rows, options.seed, options.cluster))))


LEAF_FITS: Mapping[LeafMethod, Callable[[ValueCounts, Scale], ScoreMap]] = {
    LeafMethod.PLATT: lambda counts, scale: fit_platt(counts, scale).map,
    LeafMethod.BETA: lambda counts, scale: fit_beta(counts, scale).map,
    LeafMethod.ISOTONIC: fit_isotonic,
}


def fit_trees(
    columns: Sequence[FeatureColumn], trees: Sequence[Nodes], rows: Rows, options: CalibrationOptions
) -> TreesMap:
    """Calibrate the leaves of trees on rows that the trees were not learned from, with corrected scores.

    The trees of a forest are calibrated separately and averaged. Boosted trees are sequential: each
    calibrates, leaf by leaf, the log-odds that the previous tree predicts.
    """
    calibrated, boosted = [], options.partitioner is Partitioner.BOOSTED
    values = {column.name: recoded(rows.features[column.name], column) for column in columns}
    for nodes in trees:
        leaf = leaf_of(nodes, columns, values)
        tree = _calibrated_tree(nodes, columns, leaf, rows, options)
        calibrated.append(tree)
        if boosted:
            probability = calibrated_in_leaves(tree.leaves, leaf, rows.score, options.scale)
            rows = rows.scored(Scale().log_odds(probability))
            options = replace(options, scale=Scale(real=True))
    return TreesMap(features=list(columns), combine="sequence" if boosted else "mean", trees=calibrated)


def _calibrated_tree(
    nodes: Nodes, columns: Sequence[FeatureColumn], leaf: Ints, rows: Rows, options: CalibrationOptions
) -> Tree:
    leaves: dict[int, Leaf] = {}

    def visit(node_index: int, path: list[tuple[Node, bool]], parent_map: ScoreMap) -> None:
        node = nodes[node_index]
        counts = rows.counts(rows.score, np.isin(leaf, _leaves_below(nodes, node_index)))
        part = _part(rule_of(path, columns), counts, options, parent_map)
        if node.is_leaf:
            leaves[node.leaf or 0] = part
        for child, is_left in zip(node.children, (True, False), strict=False):
            visit(child, [*path, (node, is_left)], part.calibration)

    overall_map = _fit(rows.counts(rows.score), options)
    visit(0, [], overall_map)
    return Tree(nodes=list(nodes), leaves=[leaves[leaf_index] for leaf_index in range(len(leaves))])


def _leaves_below(nodes: Sequence[Node], node_index: int) -> list[int]:
    node = nodes[node_index]
    if node.is_leaf:
        return [node.leaf or 0]
    return [leaf for child in node.children for leaf in _leaves_below(nodes, child)]


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

    Rows have corrected scores.
    """
    columns = [
        FeatureColumn(name=name, levels=list(feature.levels or ())) for name, feature in rows.features.items()
    ]
    codes = np.stack(
        [recoded(rows.features[column.name], column).astype(np.int64) for column in columns], axis=1
    )
    group = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:  # ranks of the first columns together, and then of one more
        first, group = dense_ranks(group * (int(column.max()) + 2) + column + 1)
    combinations = np.empty((len(first), len(columns)), dtype=np.int64)
    combinations[group] = codes
    all_counts = rows.counts(rows.score)
    overall_map = _fit(all_counts, options)
    require_few_groups(len(combinations), *rows.features)
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


@dataclass(frozen=True, kw_only=True)
class Tried:
    """Cross-fitted log loss of a method, its excess over the lowest, and the standard error of the excess."""

    method: CalibrationMethod
    log_loss: float
    excess: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A choice among methods; ``tried`` are those from the simplest, none if there are too few rows."""

    method: CalibrationMethod
    tried: tuple[Tried, ...]

    @classmethod
    def among(cls, losses: Mapping[CalibrationMethod, CrossFittedLosses]) -> Choice:
        """Choose the first method whose loss exceeds the lowest by at most one standard error."""
        above = excesses(list(losses.values()))
        tried = tuple(
            Tried(method=method, log_loss=loss.mean, excess=excess, error=error)
            for (method, loss), (excess, error) in zip(losses.items(), above, strict=True)
        )
        return cls(method=tried[first_within_error(above)].method, tried=tried)

    def reason(self) -> str:
        """State why the method was chosen."""
        if not self.tried:
            return f"Chose {self.method}: too few rows to compare methods."
        lowest = min(self.tried, key=lambda candidate: candidate.log_loss)
        if self.method is CalibrationMethod.IDENTITY:
            better = "no map has a lower log loss"
            if lowest.method is not self.method:
                better = f"the best map, {lowest.method}, is within a standard error of their log loss"
            return f"The scores stay as they are (method identity): {better}."
        if lowest.method is self.method:
            chosen = f"Chose {self.method}: of {len(self.tried)} methods tried, it has the lowest log loss"
            others = [candidate for candidate in self.tried if candidate is not lowest]
            if all(candidate.excess > candidate.error for candidate in others):
                return f"{chosen}, by more than a standard error."
            simplest = self.tried[0] is lowest
            return f"{chosen}{', and it is the simplest' if simplest else ''}."
        return (
            f"Chose {self.method}: simpler than {lowest.method}, and within a standard error of its log loss."
        )


def excesses(losses: Sequence[CrossFittedLosses]) -> list[tuple[float, float]]:
    """Return by how much each mean loss exceeds the lowest, with the standard error of the excess."""
    best = min(losses, key=lambda loss: loss.mean)
    return [loss.excess(best) for loss in losses]


def first_within_error(above: Sequence[tuple[float, float]]) -> int:
    """Return the first position whose excess is at most its standard error (see ``excesses``)."""
    return next(index for index, (excess, error) in enumerate(above) if excess <= error)


SIMPLEST_FIRST: Final = (
    CalibrationMethod.IDENTITY,
    CalibrationMethod.TEMPERATURE,
    CalibrationMethod.PLATT,
    CalibrationMethod.BETA,
    CalibrationMethod.SPLINE,
    CalibrationMethod.ISOTONIC,
)
"""Methods of the score among which one is chosen; the first only for scores that are probabilities."""

_WITHOUT_COMPARISON: Final = CalibrationMethod.TEMPERATURE
"""Method for too few rows to compare."""


def chosen_for_counts(counts: ValueCounts, options: CalibrationOptions) -> Choice:
    """Choose a method for pooled scores, as they were read."""
    return _chosen(thinned(options.corrected(counts), options.seed), options)


def chosen_for_rows(rows: Rows, options: CalibrationOptions) -> Choice:
    """Choose a method for rows, some of which depend on each other; the folds keep clusters together."""
    if units_of(rows, options.cluster) < defaults.FOLDS:
        return Choice(method=_WITHOUT_COMPARISON, tried=())
    parts = [held_out for _, held_out in folds_of(rows, options.seed, options.cluster)]
    return _chosen(folds_from([options.corrected(part.counts(part.score)) for part in parts]), options)


def _chosen(folds: ScoreFolds, options: CalibrationOptions) -> Choice:
    if not folds.has_training_rows:
        return Choice(method=_WITHOUT_COMPARISON, tried=())
    losses = {}
    for method in SIMPLEST_FIRST[options.scale.real :]:
        single = replace(options, method=method)
        maps: list[ScoreMap] = [fit_scores(training, single).map for training in folds.training]
        losses[method] = folds.losses(maps, options.scale)
    return Choice.among(losses)


_DEPTHS: Final = (1, 2, 3, 4, 5)
_LEAVES: Final = (2000, 500, 200)
"""Sizes of a tree that are compared: its depth first, then the least rows of a leaf."""


def fit_with_tree_sizes(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> FittedCalibration:
    """Fit a map, after its tree's sizes are chosen if not given."""
    options, notes = with_tree_sizes(rows, options, tree_rows)
    fitted = fit(rows, options, tree_rows)
    return replace(fitted, notes=(*fitted.notes, *notes))


def with_tree_sizes(
    rows: Rows, options: CalibrationOptions, tree_rows: Rows | None
) -> tuple[CalibrationOptions, tuple[str, ...]]:
    """Choose the depth and the least rows of a leaf of one tree, where they are not given, and note it."""
    is_tree = options.method is CalibrationMethod.HETEROGENEOUS and options.trees
    has_both = options.max_depth is not None and options.min_leaf is not None
    if not is_tree or options.partitioner is not Partitioner.TREE or has_both:
        return options, ()
    if units_of(rows, options.cluster) < defaults.FOLDS:
        return options, ()
    if options.max_depth is None:
        options = _simplest([replace(options, max_depth=depth) for depth in _DEPTHS], rows, tree_rows)
    if options.min_leaf is None:
        options = _simplest([replace(options, min_leaf=leaf) for leaf in _LEAVES], rows, tree_rows)
    sizes = f"depth {options.depth} with at least {options.rows_of_leaf:,} rows a leaf"
    return options, (f"Tree of {sizes}, by cross-validation.",)


def _simplest(
    candidates: Sequence[CalibrationOptions], rows: Rows, tree_rows: Rows | None
) -> CalibrationOptions:
    """Return the first candidate within one standard error of the lowest cross-fitted log loss."""
    losses = [_held_out_losses(candidate, rows, tree_rows) for candidate in candidates]
    return candidates[first_within_error(excesses(losses))]


def _held_out_losses(options: CalibrationOptions, rows: Rows, tree_rows: Rows | None) -> CrossFittedLosses:
    held_out = cross_validated(rows, options, tree_rows)
    if_positive, if_negative = log_losses(held_out.after)
    return CrossFittedLosses(
        loss=np.where(held_out.rows.labels, if_positive, if_negative), count=held_out.rows.weights()
    )

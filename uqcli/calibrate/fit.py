"""Fit a calibration map of any method to rows, or choose a method.

The one chosen is the simplest whose cross-fitted log loss is as good as the lowest; so is the size of a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar, get_args

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import Binning, CalibrationMethod, LeafMethod, Partitioner, SplitCriterion
from uqcli.base.counts import Floats, Ints, ValueCounts, indices_by_bin
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
from uqcli.calibrate.maps.base import Calibrated, FeatureColumn, FittedMap, Node, goes_left, leaf_of, rule_of
from uqcli.calibrate.maps.formulas import fit_beta, fit_platt
from uqcli.calibrate.maps.heterogeneous import GroupsMap, Leaf, Tree, TreesMap, calibrated_in_leaves
from uqcli.calibrate.maps.isotonic import fit_by_uncertainty, fit_isotonic
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.calibrate.maps.surface import fit_surface
from uqcli.calibrate.scale import Scale
from uqcli.calibrate.tree import (
    FeatureRanks,
    Nodes,
    TreeMatrix,
    cut_tree,
    learn_auc_tree,
    learn_trees,
    recoded,
)
from uqcli.comparison.run import PairedRows
from uqcli.engines.refusals import require_few_groups
from uqcli.estimates.score_metrics import log_losses
from uqcli.kernels.units import dense_ranks

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class FittedCalibration:
    """A calibration map, the options it was fitted with, and notes on the fit.

    The rows are cross-fitted, once, if options were chosen by that.
    """

    map: CalibrationMap
    options: CalibrationOptions
    notes: tuple[str, ...] = ()
    cross_fitted: tuple[CrossFitted, ...] = ()

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
        before = given_probability(rows, self.options)
        return PairedRows(rows=rows, before=before, after=self.predict(rows).probability, cluster=cluster)


@dataclass(frozen=True, kw_only=True)
class CrossFitted:
    """Rows, and the probability of each row of each fold by a map that was fitted without it."""

    rows: Rows
    probability: Floats
    options: CalibrationOptions

    def dealt(self) -> tuple[Ints, Ints]:
        """Return the positions of the rows, fold by fold, and their weights there."""
        folds = weights_of_folds(self.rows, self.options.seed, self.options.cluster)
        fold, position = np.nonzero(folds)
        return position, folds[fold, position]

    def paired(self) -> PairedRows:
        """Pair the probabilities as given with those that are cross-fitted."""
        position, weight = self.dealt()
        rows = replace(self.rows.select(position), weight=weight)
        before = given_probability(rows, self.options)
        return PairedRows(rows=rows, before=before, after=self.probability, cluster=self.options.cluster)


def given_probability(rows: Rows, options: CalibrationOptions) -> Floats:
    """Return the probabilities as given, before any correction."""
    return replace(options.scale, undersampled=1.0).probability(rows.score)


def fit(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None = None) -> FittedCalibration:
    """Fit a calibration map to at least one row, pooled.

    Trees are learned from the separate ``tree_rows``; None to split the rows in halves.
    """
    return fit_each(rows, [options], tree_rows)[0]


def fit_each(
    rows: Rows, several: Sequence[CalibrationOptions], tree_rows: Rows | None
) -> list[FittedCalibration]:
    """Fit a map of each method to the same rows, as ``fit`` does; those of the score alone share its counts.

    The methods have the same scale.
    """
    fits, counts = [], None
    for options in several:
        options.check()
        if options.chosen_method in ROW_FITS:
            fitted = ROW_FITS[options.chosen_method](rows, options, tree_rows)
            fits.append(FittedCalibration(map=fitted, options=options))
            continue
        if counts is None:
            counts = rows.counts(options.scale.corrected(rows.score))
        fits.append(_fitted(counts, options))
    return fits


def fit_counts(counts: ValueCounts, options: CalibrationOptions) -> FittedCalibration:
    """Fit a map of the score alone to counts of uncorrected scores."""
    options.check()
    return _fitted(options.corrected(counts), options)


def _fitted(counts: ValueCounts, options: CalibrationOptions) -> FittedCalibration:
    fitted, notes = fit_scores(counts, options)
    return FittedCalibration(map=fitted, options=options, notes=notes)


def fit_scores(counts: ValueCounts, options: CalibrationOptions) -> FittedMap:
    """Fit a map of the score alone to counts of corrected scores."""
    return SCORE_FITS[options.chosen_method](counts, options)


SCORE_FITS: Mapping[CalibrationMethod, Callable[[ValueCounts, CalibrationOptions], FittedMap]] = {
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
    return fit_sizes(rows, [options], None if tree_rows is None else LearnedTrees.of(tree_rows, [options]))[0]


ROW_FITS: Mapping[CalibrationMethod, Callable[[Rows, CalibrationOptions, Rows | None], CalibrationMap]] = {
    CalibrationMethod.MIST: _by_uncertainty,
    CalibrationMethod.SURFACE: _surface,
    CalibrationMethod.HETEROGENEOUS: _heterogeneous,
}
"""Methods that use more than the score."""


def _corrected(rows: Rows, options: CalibrationOptions) -> Rows:
    return rows.scored(options.scale.corrected(rows.score))


@dataclass(frozen=True, kw_only=True)
class LearnedTrees:
    """The columns of trees, and the deepest trees for each least number of rows of a leaf."""

    columns: Sequence[FeatureColumn]
    trees: Mapping[int, Sequence[Nodes]]

    @classmethod
    def of(
        cls, rows: Rows, sizes: Sequence[CalibrationOptions], ranks: FeatureRanks | None = None
    ) -> LearnedTrees:
        """Learn trees of some sizes; ranks of more rows, among which these have positions, save sorting."""
        if ranks is None:
            rows, ranks = replace(rows, position=None), FeatureRanks.of(rows)
        matrix = TreeMatrix.from_rows(rows, ranks)
        deepest = {size.rows_of_leaf: size for size in sorted(sizes, key=lambda size: size.depth)}
        trees = {min_leaf: _learn(rows, matrix, size) for min_leaf, size in deepest.items()}
        return cls(columns=matrix.columns, trees=trees)


def _learn(rows: Rows, matrix: TreeMatrix, options: CalibrationOptions) -> Sequence[Nodes]:
    if options.split is SplitCriterion.GINI:
        return learn_trees(rows, matrix, options)
    log_odds = options.scale.log_odds(options.scale.corrected(rows.score))
    log_odds_rows = Rows(numbers={"score": log_odds}, positive=rows.positive, weight=rows.weight)
    return [learn_auc_tree(log_odds_rows, matrix, options)]


def fit_sizes(
    rows: Rows,
    sizes: Sequence[CalibrationOptions],
    learned: LearnedTrees | None,
    ranks: FeatureRanks | None = None,
) -> list[TreesMap]:
    """Fit a map for each of some sizes of the trees, which have all other options in common.

    Trees that were not learned from other rows are learned from half of the rows (see ``LearnedTrees.of``).
    """
    first = sizes[0]
    if learned is None:
        tree_rows = rows
        if can_be_split(rows, first.cluster):
            halves = deal_rows(rows, 2, generator(first.seed, Purpose.SPLIT, 0), first.cluster)
            tree_rows, rows = (rows.reweighted(half) for half in halves)
        learned = LearnedTrees.of(tree_rows, sizes, ranks)
    return fit_trees(learned, _corrected(rows, first), sizes)


def cross_validated(
    rows: Rows, several: Sequence[CalibrationOptions], tree_rows: Rows | None
) -> Iterator[PairedRows]:
    """Cross-validate: calibrate each row by the map of each method that is fitted without it.

    The rows are pooled and sorted; they are split into at most five folds after a random permutation. There
    are at least two rows, or clusters (see ``can_be_split``). The methods have the same scale and clusters.
    """
    weight, first = rows.weights(), several[0]

    def held_out(fold: Ints) -> tuple[Rows, list[Floats]]:
        fits, rest = fit_each(rows.reweighted(weight - fold), several, tree_rows), rows.reweighted(fold)
        return rest, [fitted.predict(rest).probability for fitted in fits]

    folds, probabilities = zip(*_by_fold(held_out, rows, first), strict=True)
    joined = Rows.joined(folds)
    before = given_probability(joined, first)
    for after in zip(*probabilities, strict=True):
        yield PairedRows(rows=joined, before=before, after=np.concatenate(after), cluster=first.cluster)


def _by_fold(work: Callable[[Ints], T], rows: Rows, options: CalibrationOptions) -> list[T]:
    """Apply a function to the weights of the rows of each fold."""
    one_by_one = rows.size > MEASURED_ROWS or is_scarce()  # else all folds are in memory at once
    each = map if one_by_one else parallel_map
    return list(each(work, weights_of_folds(rows, options.seed, options.cluster)))


LEAF_FITS: Mapping[LeafMethod, Callable[[ValueCounts, Scale], ScoreMap]] = {
    LeafMethod.PLATT: lambda counts, scale: fit_platt(counts, scale).map,
    LeafMethod.BETA: lambda counts, scale: fit_beta(counts, scale).map,
    LeafMethod.ISOTONIC: fit_isotonic,
}


def fit_trees(learned: LearnedTrees, rows: Rows, sizes: Sequence[CalibrationOptions]) -> list[TreesMap]:
    """Calibrate the leaves of trees of some sizes on rows that they were not learned from.

    The rows have corrected scores. A part of a tree has the same map in trees of all depths.
    """
    values = {column.name: recoded(rows.features[column.name], column) for column in learned.columns}
    calibrated = {
        size.rows_of_leaf: _calibrated_parts(learned, values, rows, size)
        for size in {size.rows_of_leaf: size for size in sizes}.values()
    }
    boosted = sizes[0].partitioner is Partitioner.BOOSTED
    return [
        TreesMap(
            features=list(learned.columns),
            combine="sequence" if boosted else "mean",
            trees=[_tree(nodes, parts, size.depth) for nodes, parts in calibrated[size.rows_of_leaf]],
        )
        for size in sizes
    ]


def _calibrated_parts(
    learned: LearnedTrees, values: Mapping[str, Floats], rows: Rows, options: CalibrationOptions
) -> list[tuple[Nodes, list[Leaf]]]:
    """Calibrate the part of the rows at each node of the trees.

    The trees of a forest are calibrated separately and averaged. Boosted trees are sequential: each
    calibrates, leaf by leaf, the log-odds that the previous tree predicts.
    """
    calibrated = []
    for nodes in learned.trees[options.rows_of_leaf]:
        parts = _parts_of_nodes(nodes, learned.columns, values, rows, options)
        calibrated.append((nodes, parts))
        if options.partitioner is Partitioner.BOOSTED:
            leaves = _tree(nodes, parts, options.depth).leaves
            leaf = leaf_of(nodes, learned.columns, values)
            probability = calibrated_in_leaves(leaves, leaf, rows.score, options.scale)
            rows = rows.scored(Scale().log_odds(probability))
            options = replace(options, scale=Scale(real=True))
    return calibrated


def _parts_of_nodes(
    nodes: Nodes,
    columns: Sequence[FeatureColumn],
    values: Mapping[str, Floats],
    rows: Rows,
    options: CalibrationOptions,
) -> list[Leaf]:
    levels_of = {column.name: column.levels for column in columns}
    parts: list[Leaf] = []
    # a stack, since a function that calls itself would keep the rows in memory
    pending: list[tuple[int, list[tuple[Node, bool]], Ints, ScoreMap | None]] = []
    pending.append((0, [], np.arange(len(rows)), None))
    while pending:
        node_index, path, inside, larger = pending.pop()
        node = nodes[node_index]
        part = _part(rule_of(path, columns), rows, inside, options, larger)
        parts.append(part)  # nodes come before their children, those on the left first
        if not node.is_leaf:
            feature, (left, right) = str(node.feature), node.children
            is_left = goes_left(node, levels_of[feature], values[feature][inside])
            pending.append((right, [*path, (node, False)], inside[~is_left], part.calibration))
            pending.append((left, [*path, (node, True)], inside[is_left], part.calibration))
    return parts


def _tree(nodes: Nodes, parts: Sequence[Leaf], depth: int) -> Tree:
    kept, positions = cut_tree(nodes, depth)
    leaves = [parts[position] for node, position in zip(kept, positions, strict=True) if node.is_leaf]
    return Tree(nodes=list(kept), leaves=leaves)


def _part(rule: str, rows: Rows, inside: Ints, options: CalibrationOptions, larger: ScoreMap | None) -> Leaf:
    """Calibrate a part by its own rows, or by the map of a larger part, if any, where these are too few."""
    weight = rows.weights()[inside]
    size = int(weight.sum())
    enough = size >= max(1, options.rows_of_leaf)
    if enough or larger is None:
        larger = _fit(rows.counts(rows.score, inside), options)
    return Leaf(
        rule=rule, rows=size, positives=int(weight[rows.labels[inside]].sum()), own=enough, calibration=larger
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
    by_group = indices_by_bin(group, len(combinations))
    for combination, inside in zip(combinations.tolist(), by_group, strict=True):
        texts = [
            None if code < 0 else (column.levels or [])[code]
            for column, code in zip(columns, combination, strict=True)
        ]
        conditions = [
            f"{column.name} = {'missing' if text is None else text}"
            for column, text in zip(columns, texts, strict=True)
        ]
        groups.append(texts)
        leaves.append(_part(" and ".join(conditions), rows, inside, options, overall_map))
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
    """Fit a map, after the depth and the least rows of a leaf of one tree are chosen, where not given."""
    is_tree = options.method is CalibrationMethod.HETEROGENEOUS and options.trees
    has_both = options.max_depth is not None and options.min_leaf is not None
    if not is_tree or options.partitioner is not Partitioner.TREE or has_both:
        return fit(rows, options, tree_rows)
    if units_of(rows, options.cluster) < defaults.FOLDS:
        return fit(rows, options, tree_rows)
    ranks = FeatureRanks.of(rows) if tree_rows is None else None
    tried: dict[tuple[int, int], CrossFitted] = {}

    def simplest(sizes: Sequence[CalibrationOptions]) -> CrossFitted:
        """Return the first size within one standard error of the lowest cross-fitted log loss."""
        new = [size for size in sizes if (size.depth, size.rows_of_leaf) not in tried]
        for cross_fitted in _cross_fitted(new, rows, tree_rows, ranks):
            tried[cross_fitted.options.depth, cross_fitted.options.rows_of_leaf] = cross_fitted
        compared = [replace(tried[size.depth, size.rows_of_leaf], options=size) for size in sizes]
        best = compared[first_within_error(excesses(_losses(compared)))]
        tried.clear()  # no other is compared again
        tried[best.options.depth, best.options.rows_of_leaf] = best
        return best

    if options.max_depth is None:
        best = simplest([replace(options, max_depth=depth) for depth in _DEPTHS])
        options = best.options
    if options.min_leaf is None:
        best = simplest([replace(options, min_leaf=leaf) for leaf in _LEAVES])
        options = best.options
    sizes = f"depth {options.depth} with at least {options.rows_of_leaf:,} rows a leaf"
    fitted = fit(rows, options, tree_rows)
    notes = (*fitted.notes, f"Tree of {sizes}, by cross-validation.")
    return replace(fitted, notes=notes, cross_fitted=(best,))


def _cross_fitted(
    sizes: Sequence[CalibrationOptions], rows: Rows, tree_rows: Rows | None, ranks: FeatureRanks | None
) -> list[CrossFitted]:
    """Cross-fit trees of some sizes, which are learned and calibrated together, on the same folds."""
    weight = rows.weights()
    learned = None if tree_rows is None else LearnedTrees.of(tree_rows, sizes)
    placed = replace(rows, position=np.arange(len(rows)))  # among the ranks

    def held_out(fold: Ints) -> list[Floats]:
        maps = fit_sizes(placed.reweighted(weight - fold), sizes, learned, ranks)
        rest = rows.reweighted(fold)
        fits = [FittedCalibration(map=map_, options=size) for map_, size in zip(maps, sizes, strict=True)]
        return [fitted.predict(rest).probability for fitted in fits]

    by_size = zip(*_by_fold(held_out, rows, sizes[0]), strict=True)
    return [
        CrossFitted(rows=rows, probability=np.concatenate(probability), options=size)
        for probability, size in zip(by_size, sizes, strict=True)
    ]


def _losses(compared: Sequence[CrossFitted]) -> list[CrossFittedLosses]:
    """Compute the log losses of the same rows by maps of several sizes."""
    position, count = compared[0].dealt()
    labels, losses = compared[0].rows.labels[position], []
    for cross_fitted in compared:
        if_positive, if_negative = log_losses(cross_fitted.probability)
        losses.append(CrossFittedLosses(loss=np.where(labels, if_positive, if_negative), count=count))
    return losses

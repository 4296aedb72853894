"""Fit a calibration map of any method to rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import Binning, CalibrationMethod, LeafMethod, Partitioner, SplitCriterion
from uqcli.base.counts import Floats, ValueCounts, merge
from uqcli.base.draws import Purpose, check_seed, generator
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import check_size
from uqcli.base.levels import check_confidence
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.bin.grid import GridSpec, pool_by, uncertainty_edges_of
from uqcli.calibrate.auc_tree import learn_auc_tree
from uqcli.calibrate.heterogeneous import LeafOptions, fit_groups, fit_trees
from uqcli.calibrate.histogram import fit_histogram
from uqcli.calibrate.isotonic import fit_by_uncertainty, fit_isotonic
from uqcli.calibrate.maps import CalibrationMap
from uqcli.calibrate.maps.base import Calibrated
from uqcli.calibrate.maps.identity import IdentityMap
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.calibrate.parametric import FittedMap, fit_beta, fit_platt, fit_temperature
from uqcli.calibrate.sampled_rows import deal_rows, folds_of, units_of
from uqcli.calibrate.scale import Scale
from uqcli.calibrate.spline import fit_spline
from uqcli.calibrate.tree import LearnedTrees, TreeMatrix, TreeOptions, learn_trees, recoded
from uqcli.calibrate.venn_abers import fit_venn_abers
from uqcli.estimates.binning.registry import BinSizes, rule_of


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """Calibration method and its options.

    Attributes
    ----------
    method
        None for the simplest method that fits (see calibrate/choose.py).
    scale
        Whether scores are probabilities, and the undersampling factor of negatives.
    n_bins
        Number of bins of histogram calibration.
    uncertainty_bins
        Number of uncertainty bins of mist.
    confidence
        Confidence of the error bound of histogram calibration.
    leaf_method, min_leaf
        Heterogeneous: method in the leaves, and the rows below which a leaf uses a larger part's map. None
        for the default, or for a choice by cross-fitting (see calibrate/choose.py).
    partitioner, max_depth, split
        Heterogeneous with trees: their options; the depth None as above.
    trees
        Whether heterogeneous calibration learns trees; otherwise each combination of texts is a group.
    cluster
        Group of dependent rows, which halves and folds keep together; None if rows are independent.
    """

    method: CalibrationMethod | None = None
    scale: Scale = field(default_factory=Scale)
    n_bins: int = defaults.SINGLE_SCORE_BINS
    uncertainty_bins: int = defaults.UNCERTAINTY_BINS
    confidence: float = defaults.CONFIDENCE
    leaf_method: LeafMethod = defaults.LEAF_METHOD
    min_leaf: int | None = None
    partitioner: Partitioner = defaults.PARTITIONER
    max_depth: int | None = None
    split: SplitCriterion = defaults.SPLIT
    trees: bool = True
    seed: int = defaults.SEED
    cluster: str | None = None

    @property
    def rows_of_leaf(self) -> int:
        """Rows below which a leaf uses a larger part's map."""
        return defaults.MIN_LEAF if self.min_leaf is None else self.min_leaf

    @property
    def depth(self) -> int:
        """Depth of the trees."""
        return defaults.MAX_DEPTH if self.max_depth is None else self.max_depth

    def corrected(self, counts: ValueCounts) -> ValueCounts:
        """Correct pooled scores for undersampling."""
        value = self.scale.corrected(counts.value)
        if (value[1:] > value[:-1]).all():
            return replace(counts, value=value)
        return merge([replace(counts, value=value)])  # rounding made scores equal

    def histogram_edges(self, counts: ValueCounts) -> Floats:
        """Return the edges of the bins of histogram calibration."""
        return rule_of(Binning.QUANTILE).edges(counts, BinSizes(bins=self.n_bins))

    def check(self) -> None:
        """Refuse options out of range.

        Raises
        ------
        UsageError
            An attribute is out of range.
        """
        if not 1 <= self.scale.undersampled <= 1e9:
            raise UsageError(f"undersampled {self.scale.undersampled:g}", expected="a number from 1 to 1e9")
        check_size("n_bins", self.n_bins)
        check_size("uncertainty_bins", self.uncertainty_bins, defaults.MAX_UNCERTAINTY_BINS)
        check_size("min_leaf", self.rows_of_leaf)
        check_seed(self.seed)
        check_confidence(self.confidence)
        if not 1 <= self.depth <= 12:
            raise UsageError(f"max_depth {self.max_depth}", expected="1 to 12")
        if self.cluster is not None and self.method is CalibrationMethod.HISTOGRAM:
            raise UsageError(
                "--cluster with --method histogram",
                expected="another method, as its error bound assumes independent rows",
            )
        if self.split is SplitCriterion.AUC and self.partitioner is not Partitioner.TREE:
            raise UsageError(f"split auc with partitioner {self.partitioner}", expected="partitioner tree")


@dataclass(frozen=True, kw_only=True)
class FittedCalibration:
    """A calibration map, its score scale, and notes on the fit."""

    map: CalibrationMap
    scale: Scale
    notes: tuple[str, ...] = ()

    def predict(self, rows: Rows) -> Calibrated:
        """Calibrate rows."""
        corrected = self.scale.corrected(rows.score)
        values = {
            feature.name: recoded(rows.features[feature.name], feature) for feature in self.map.features
        }
        return self.map.predict(corrected, self.scale, rows.uncertainty, values)


def fit(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None = None) -> FittedCalibration:
    """Fit a calibration map.

    Parameters
    ----------
    rows
        At least one row, pooled.
    tree_rows
        Separate rows to learn trees from; None to split the rows in halves.

    Raises
    ------
    UsageError, MissingExtraError
        An option is out of range, or trees cannot be learned.
    """
    options.check()
    if options.method is not None and options.method in ROW_FITS:
        fitted = ROW_FITS[options.method](rows, options, tree_rows)
        return FittedCalibration(map=fitted, scale=options.scale)
    return _fitted(rows.counts(options.scale.corrected(rows.score)), options)


def fit_counts(counts: ValueCounts, options: CalibrationOptions) -> FittedCalibration:
    """Fit a map of the score alone to counts of uncorrected scores."""
    options.check()
    return _fitted(options.corrected(counts), options)


def _fitted(counts: ValueCounts, options: CalibrationOptions) -> FittedCalibration:
    fitted, notes = fit_scores(counts, options)
    return FittedCalibration(map=fitted, scale=options.scale, notes=notes)


def fit_scores(counts: ValueCounts, options: CalibrationOptions) -> tuple[ScoreMap, tuple[str, ...]]:
    """Fit a map of the score alone to counts of corrected scores; return it with notes on the fit."""
    assert options.method is not None  # chosen before
    return SCORE_FITS[options.method](counts, options)


ScoreFit = Callable[[ValueCounts, CalibrationOptions], tuple[ScoreMap, tuple[str, ...]]]


def _by_formula(fit_formula: Callable[[ValueCounts, Scale], FittedMap]) -> ScoreFit:
    """Adapt a fit that only needs the scale to the common signature."""

    def fitted(counts: ValueCounts, options: CalibrationOptions) -> tuple[ScoreMap, tuple[str, ...]]:
        formula = fit_formula(counts, options.scale)
        return formula.map, formula.notes

    return fitted


def _spline(counts: ValueCounts, options: CalibrationOptions) -> tuple[ScoreMap, tuple[str, ...]]:
    fitted = fit_spline(counts, options.scale, options.seed)
    return fitted.map, fitted.notes


def _histogram(counts: ValueCounts, options: CalibrationOptions) -> tuple[ScoreMap, tuple[str, ...]]:
    return fit_histogram(counts, options.histogram_edges(counts), options.confidence), ()


SCORE_FITS: Mapping[CalibrationMethod, ScoreFit] = {
    CalibrationMethod.PLATT: _by_formula(fit_platt),
    CalibrationMethod.TEMPERATURE: _by_formula(fit_temperature),
    CalibrationMethod.BETA: _by_formula(fit_beta),
    CalibrationMethod.SPLINE: _spline,
    CalibrationMethod.ISOTONIC: lambda counts, _: (fit_isotonic(counts), ()),
    CalibrationMethod.VENN_ABERS: lambda counts, _: (fit_venn_abers(counts), ()),
    CalibrationMethod.HISTOGRAM: _histogram,
    CalibrationMethod.PRIOR: lambda _, __: (IdentityMap(), ()),
}
"""Methods that use the score alone."""


def _by_uncertainty(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> CalibrationMap:
    del tree_rows
    spec = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=options.uncertainty_bins, score_bins=None)
    edges = uncertainty_edges_of(rows, spec)
    return fit_by_uncertainty(pool_by(_corrected(rows, options), edges), edges)


def _heterogeneous(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> CalibrationMap:
    leaf_options = LeafOptions(method=options.leaf_method, scale=options.scale, min_leaf=options.rows_of_leaf)
    if not options.trees:
        return fit_groups(_corrected(rows, options), leaf_options)
    if tree_rows is None:
        if units_of(rows, options.cluster) == 1:
            tree_rows = rows  # nothing to split
        else:
            halves = deal_rows(rows, 2, generator(options.seed, Purpose.SPLIT, 0), options.cluster)
            tree_rows, rows = (rows.reweighted(half) for half in halves)
    learned = _learn(tree_rows, options)
    boosted = options.partitioner is Partitioner.BOOSTED
    return fit_trees(learned, _corrected(rows, options), leaf_options, boosted=boosted)


ROW_FITS: Mapping[CalibrationMethod, Callable[[Rows, CalibrationOptions, Rows | None], CalibrationMap]] = {
    CalibrationMethod.MIST: _by_uncertainty,
    CalibrationMethod.HETEROGENEOUS: _heterogeneous,
}
"""Methods that use more than the score."""


def _corrected(rows: Rows, options: CalibrationOptions) -> Rows:
    """Return the rows with scores corrected for undersampling."""
    return rows.scored(options.scale.corrected(rows.score))


def _learn(rows: Rows, options: CalibrationOptions) -> LearnedTrees:
    tree_options = TreeOptions(
        partitioner=options.partitioner,
        max_depth=options.depth,
        min_leaf=options.rows_of_leaf,
        seed=options.seed,
    )
    if options.split is SplitCriterion.GINI:
        return learn_trees(rows.features, rows.labels, rows.weights(), tree_options)
    matrix = TreeMatrix.from_features(rows.features, rows.labels, rows.weights())
    log_odds = options.scale.log_odds(options.scale.corrected(rows.score))
    log_odds_rows = Rows(numbers={"score": log_odds}, positive=rows.positive, weight=rows.weight)
    return LearnedTrees(columns=matrix.columns, trees=(learn_auc_tree(log_odds_rows, matrix, tree_options),))


@dataclass(frozen=True, kw_only=True)
class CrossValidated:
    """Rows with cross-validated probabilities.

    Attributes
    ----------
    rows
        Rows by fold; equal rows that are in several folds occur in each.
    probability : float64, shape (n,)
    """

    rows: Rows
    probability: Floats


def cross_validated(rows: Rows, options: CalibrationOptions, tree_rows: Rows | None) -> CrossValidated | None:
    """Cross-validate: calibrate each row by a map fitted without it; None with a single row or cluster.

    Parameters
    ----------
    rows
        Pooled and sorted; split into at most five folds after a random permutation.
    """
    if units_of(rows, options.cluster) < 2:
        return None
    predictions = []
    for training, held_out in folds_of(rows, options.seed, options.cluster):
        fitted = fit(training, options, tree_rows)
        predictions.append((held_out, fitted.predict(held_out).probability))
    return CrossValidated(
        rows=Rows.joined([fold_rows for fold_rows, _ in predictions]),
        probability=np.concatenate([probability for _, probability in predictions]),
    )


def uncorrected_probabilities(rows: Rows, scale: Scale) -> Floats:
    """Compute the probabilities as given, before any correction."""
    return replace(scale, undersampled=1.0).probability(rows.score)

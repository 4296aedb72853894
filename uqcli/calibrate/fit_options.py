"""Calibration method and its options, as all fits take them."""

from __future__ import annotations

from dataclasses import field, replace

from uqcli.base import defaults
from uqcli.base.choices import Binning, CalibrationMethod, LeafMethod, Partitioner, SplitCriterion
from uqcli.base.counts import Floats, ValueCounts, merge
from uqcli.base.draws import check_seed
from uqcli.base.errors import UsageError, words
from uqcli.base.exact_numbers import check_size
from uqcli.base.options import check_confidence
from uqcli.base.records import dataclass
from uqcli.base.single_precision import unless_between
from uqcli.calibrate.scale import Scale
from uqcli.estimates.binning import BINNING_RULES, BinSizes


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """Calibration method and its options.

    Attributes
    ----------
    method
        None for the simplest method that fits (see calibrate/fit.py).
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
        for the default, or for a choice by cross-fitting (see calibrate/fit.py).
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
    def chosen_method(self) -> CalibrationMethod:
        """Method of a fit, which was given or chosen before."""
        assert self.method is not None
        return self.method

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
        edges = BINNING_RULES[Binning.QUANTILE].cut(counts, BinSizes(bins=self.n_bins))
        return unless_between(edges, self.scale.ends_alike(edges)[0], counts.value)

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
                words("--cluster with --method histogram"),
                expected="another method, as its error bound assumes independent rows",
            )
        if self.split is SplitCriterion.AUC and self.partitioner is not Partitioner.TREE:
            raise UsageError(f"split auc with partitioner {self.partitioner}", expected="partitioner tree")

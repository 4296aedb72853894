"""Requests for boundaries."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Self

import msgspec

from uqcli import defaults
from uqcli.artifacts.boundary import BoundaryParameters, SavedConstraint, SavedReview
from uqcli.choices import Algorithm, AlgorithmChoice, Binning, GroupBound
from uqcli.engines.protocol import Destination
from uqcli.engines.request import PREDICTED, DataRequest, dependence
from uqcli.jobs.target_weights import SavedShift
from uqcli.methods.bin.grid import GridSpec
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.zones import ReviewLimit
from uqcli.records import dataclass

_SMOOTHED = frozenset({Algorithm.SMOOTH, Algorithm.ST})


@dataclass(frozen=True, kw_only=True)
class GridRequest:
    """Requested binning; None where the default applies.

    Attributes
    ----------
    binning
        None for the default: shared for smoothed rates, else the paper's.
    uncertainty_bins
        None for the default: chosen by performance for smoothed rates, else 3.
    auto
        Whether to choose the number by performance; ``uncertainty_bins`` is then ignored.
    score_bins
        None for one bin per distinct score.
    """

    binning: Binning | None = None
    uncertainty_bins: int | None = None
    auto: bool = False
    score_bins: int | None = defaults.SCORE_BINS

    def is_auto(self, algorithm: Algorithm) -> bool:
        """Whether the number of uncertainty bins is chosen by performance."""
        return self.auto or (self.uncertainty_bins is None and algorithm is Algorithm.SMOOTH)

    def spec(self, algorithm: Algorithm) -> GridSpec:
        """Return the grid to count for an algorithm; the bins of a shared grid may be merged later."""
        usual = Binning.SHARED if algorithm in _SMOOTHED else defaults.GRID_BINNING
        bins = self.uncertainty_bins or defaults.UNCERTAINTY_BINS
        if self.is_auto(algorithm):
            bins = defaults.SHARED_UNCERTAINTY_BINS
        if algorithm is Algorithm.ST:
            bins = 1
        return GridSpec(binning=self.binning or usual, uncertainty_bins=bins, score_bins=self.score_bins)


@dataclass(frozen=True, kw_only=True)
class BoundaryRequest:
    """Request for a boundary.

    Attributes
    ----------
    review
        Limit of the review of rows below the boundary; None for no review.
    by
        Key column whose groups have their own thresholds; PREDICTED for the predicted classes, None for none.
    bound
        Rows in which the constraint holds: of all groups together, or of each.
    min_group
        Minimum rows of a group by weight; smaller groups have the thresholds of all rows.
    algorithm
        None for the default, which saves a single threshold if that is advised.
    grid
        Binning of the rows; ignored with a saved grid.
    saved_grid
        Path of a grid to use instead of rows, or None.
    shift
        Class weights of target data in which the constraint must hold; None if it must hold in these rows.
    certify
        Risk that new data break the bound, a decimal in (0, 1) as typed. None for no certificate.
    compare
        Uncertainty columns to compare with a single threshold, of which the best is used; empty for none.
    frontier
        Output of the trade-off curve of recall and precision; None for none.
    bounds
        Bounds at which the trade-off curve has net benefits, if there are several; empty for the constraint.
    seed
        Seed of the splits for certificates, comparisons and the number of bins.
    """

    data: DataRequest
    constraint: Constraint
    review: ReviewLimit | None = None
    by: str | None = None
    bound: GroupBound = defaults.GROUP_BOUND
    min_group: int = defaults.MIN_GROUP_ROWS
    algorithm: AlgorithmChoice | None = None
    grid: GridRequest = field(default_factory=GridRequest)
    saved_grid: str | None = None
    shift: SavedShift | None = None
    certify: str | None = None
    compare: tuple[str, ...] = ()
    frontier: Destination | None = None
    bounds: tuple[Constraint, ...] = ()
    seed: int = defaults.SEED

    @property
    def searched(self) -> AlgorithmChoice:
        """Requested or default algorithm."""
        return self.algorithm or defaults.ALGORITHM

    @property
    def saves_advised_rule(self) -> bool:
        """Whether neither algorithm nor bins were requested, so that the advised rule is saved."""
        bins = self.saved_grid is None and (self.grid.auto or self.grid.uncertainty_bins is not None)
        return self.algorithm is None and self.certify is None and not bins

    @property
    def dependence_option(self) -> str:
        """Option that names the column of dependent rows."""
        return f"--{dependence(days=self.data.roles.days)}"

    @property
    def units(self) -> str:
        """What dependent rows are within."""
        return f"{dependence(days=self.data.roles.days)}s"

    def parameters(self, grid: GridSpec) -> BoundaryParameters:
        """Return the options to save with the result, found on the given grid."""
        roles = self.data.roles
        return BoundaryParameters(
            algorithm=self.searched,
            binning=grid.binning,
            uncertainty_bins=grid.uncertainty_bins,
            score_bins="all" if grid.score_bins is None else grid.score_bins,
            constraint=SavedConstraint(
                kind=self.constraint.kind,
                value=self.constraint.value,
                recall=self.constraint.recall or msgspec.UNSET,
            ),
            on_invalid=self.data.on_invalid,
            positive=self.data.positive_value,
            review=msgspec.UNSET
            if self.review is None
            else SavedReview(kind=self.review.kind, value=self.review.value),
            by=msgspec.UNSET if self.by in (None, PREDICTED) else self.by,
            bound=msgspec.UNSET if self.by is None else self.bound,
            min_group=msgspec.UNSET if self.by is None else self.min_group,
            cluster=msgspec.UNSET if roles.cluster is None or roles.days else roles.cluster,
            day=msgspec.UNSET if roles.cluster is None or not roles.days else roles.cluster,
        )

    def with_uncertainty(self, uncertainty: str) -> Self:
        """Return a copy with another uncertainty column."""
        return replace(self, data=self.data.with_uncertainty(uncertainty))

"""What a boundary is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from uqcli import defaults
from uqcli.artifacts.boundary import BoundaryParameters, SavedConstraint
from uqcli.choices import Algorithm, AlgorithmChoice, Binning
from uqcli.engines.protocol import Destination
from uqcli.engines.request import DataRequest
from uqcli.jobs.class_mix import SavedShift
from uqcli.methods.bin.grid import GridSpec
from uqcli.methods.boundary.constraint import Constraint

_SMOOTHED = frozenset({Algorithm.SMOOTH, Algorithm.ST})


@dataclass(frozen=True, kw_only=True)
class GridRequest:
    """How rows are cut, as far as somebody says.

    Attributes
    ----------
    binning
        None for the usual one: shared where rates are smoothed, else that of the paper.
    uncertainty_bins
        None for the usual number: as many as pay where rates are smoothed, else 3.
    auto
        Whether as many are asked for as pay; ``uncertainty_bins`` is then not looked at.
    score_bins
        None for one at each distinct score.
    """

    binning: Binning | None = None
    uncertainty_bins: int | None = None
    auto: bool = False
    score_bins: int | None = defaults.SCORE_BINS

    def is_auto(self, algorithm: Algorithm) -> bool:
        """Whether the number of uncertainty bins is chosen by what pays."""
        return self.auto or (self.uncertainty_bins is None and algorithm is Algorithm.SMOOTH)

    def spec(self, algorithm: Algorithm) -> GridSpec:
        """The grid that is counted for an algorithm; of a shared one bins may be added up afterwards."""
        usual = Binning.SHARED if algorithm in _SMOOTHED else defaults.GRID_BINNING
        bins = self.uncertainty_bins or defaults.UNCERTAINTY_BINS
        if self.is_auto(algorithm):
            bins = defaults.SHARED_UNCERTAINTY_BINS
        if algorithm is Algorithm.ST:
            bins = 1
        return GridSpec(binning=self.binning or usual, uncertainty_bins=bins, score_bins=self.score_bins)


@dataclass(frozen=True, kw_only=True)
class BoundaryRequest:
    """A boundary that is asked for.

    Attributes
    ----------
    algorithm
        None for the usual one, in whose place one score threshold is saved where that is what is advised.
    grid
        How rows are cut; not looked at with a saved grid.
    saved_grid
        Path of a grid artifact to work on instead of rows, or None.
    shift
        Class weights of a target in which the constraint is to hold; None for the rows themselves.
    certify
        Risk that the precision of new rows is below the bound, a decimal in (0, 1) as typed; None for no
        certificate.
    compare
        Columns of uncertainty of which is asked whether they pay, the best of which is used; empty where
        nobody asks.
    frontier
        Where the trade-off of recall and precision goes as a table; None for nowhere.
    seed
        Of the splits that certificates, comparisons and the number of bins rest on.
    """

    data: DataRequest
    constraint: Constraint
    algorithm: AlgorithmChoice | None = None
    grid: GridRequest = field(default_factory=GridRequest)
    saved_grid: str | None = None
    shift: SavedShift | None = None
    certify: str | None = None
    compare: tuple[str, ...] = ()
    frontier: Destination | None = None
    seed: int = defaults.SEED

    @property
    def searched(self) -> AlgorithmChoice:
        """What is asked for, or usual."""
        return self.algorithm or defaults.ALGORITHM

    @property
    def leaves_the_rule(self) -> bool:
        """Whether neither an algorithm nor bins were asked for, so that what is advised is saved."""
        bins = self.saved_grid is None and (self.grid.auto or self.grid.uncertainty_bins is not None)
        return self.algorithm is None and self.certify is None and not bins

    def parameters(self, grid: GridSpec) -> BoundaryParameters:
        """What is saved of it with the result, which was found on such a grid."""
        return BoundaryParameters(
            algorithm=self.searched,
            binning=grid.binning,
            uncertainty_bins=grid.uncertainty_bins,
            score_bins="all" if grid.score_bins is None else grid.score_bins,
            constraint=SavedConstraint(kind=self.constraint.kind, value=self.constraint.value),
            on_invalid=self.data.on_invalid,
            positive=self.data.positive_value,
        )

    def looking_at(self, uncertainty: str) -> Self:
        """The same with another column of uncertainty."""
        roles = self.data.roles
        numbers = {**roles.numbers, "uncertainty": uncertainty}
        return replace(self, data=replace(self.data, roles=replace(roles, numbers=numbers)))

"""What a boundary is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from uqcli import defaults
from uqcli.artifacts.boundary import BoundaryParameters, SavedConstraint
from uqcli.choices import Algorithm, AlgorithmChoice
from uqcli.engines.protocol import Destination
from uqcli.engines.request import DataRequest
from uqcli.jobs.class_mix import SavedShift
from uqcli.methods.bin.grid import GridSpec
from uqcli.methods.boundary.constraint import Constraint

_GRID = GridSpec(
    binning=defaults.GRID_BINNING, uncertainty_bins=defaults.UNCERTAINTY_BINS, score_bins=defaults.SCORE_BINS
)


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
    auto_bins
        Whether the number of uncertainty bins is chosen by what pays on rows held out; the grid's is then not
        looked at.
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
    grid: GridSpec = _GRID
    saved_grid: str | None = None
    shift: SavedShift | None = None
    auto_bins: bool = False
    certify: str | None = None
    compare: tuple[str, ...] = ()
    frontier: Destination | None = None
    seed: int = defaults.SEED

    @property
    def searched(self) -> AlgorithmChoice:
        """What is asked for, or usual."""
        if self.algorithm is not None:
            return self.algorithm
        return defaults.ALGORITHM if self.certify is None else AlgorithmChoice(Algorithm.SMOOTH)

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

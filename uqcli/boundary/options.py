"""Requests for boundaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

from uqcli.base import defaults
from uqcli.base.choices import Algorithm, AlgorithmChoice, Binning, GridBinning, GroupBound
from uqcli.base.exact_numbers import size
from uqcli.base.options import PAPERS, FirstRowsOptions, choice, files, filled, flag, option
from uqcli.base.records import dataclass
from uqcli.engines.request import PREDICTED, TURNED, DataRequest, Inputs

if TYPE_CHECKING:
    from uqcli.base.options import RowOutput
    from uqcli.bin.grid import GridSpec
    from uqcli.boundary.rule_file import BoundaryParameters
    from uqcli.boundary.search.constraint import Constraint
    from uqcli.boundary.search.zones import ReviewLimit
    from uqcli.shift.rule import SavedShift

_SMOOTHED: Final = frozenset({Algorithm.SMOOTH, Algorithm.ST})
AUTO: Final = "auto"
ALL_SCORES: Final = "all"


def size_or(word: str) -> Callable[[str, str], Any]:
    """Return a parser of a number of bins, or of a word in its place; the parser raises UsageError."""
    return lambda option, text: word if text == word else size(option, text)


@dataclass(frozen=True, kw_only=True)
class AlgorithmOptions:
    """Algorithm, of which None saves what is advised, and whether the uncertainty is tested."""

    panel: ClassVar = "Boundary"

    algorithm: AlgorithmChoice | None = choice(
        f"smooth, vw-dpmt (exact), st (one threshold) or all; more: {PAPERS}. "
        f"(default: {defaults.ALGORITHM})",
        metavar="NAME",
        papers="ew-dpmt (for cells of equal size), mist, gmt or hr.",
    )
    compare: bool = flag("Test whether the uncertainty helps, and keep the better rule.")


@dataclass(frozen=True, kw_only=True)
class CertificateOptions:
    """Whether the target is guaranteed on new data.

    ``certify`` is the risk that new data break the bound, a decimal in (0, 1) as typed, and ``pilot`` has
    older labelled rows that choose the boundaries to certify; without them a part of the rows does.
    """

    panel: ClassVar = "Boundary"

    certify: str | None = option(
        "DELTA",
        "Guarantee the target on new data; DELTA is the chance that this is wrong (0.1 = 10 %).",
        common=True,
    )
    pilot: Inputs | None = option(
        "FILE",
        "With --certify: labelled rows that choose the rule; all of INPUT tests it (repeatable).",
        typed=list[str] | None,
        parse=files,
        guarded=True,
    )

    @property
    def is_asked(self) -> bool:
        """Whether a risk was given."""
        return self.certify is not None

    @property
    def has_pilot(self) -> bool:
        """Whether older rows choose the boundaries, so that all of the others test them."""
        return self.pilot is not None


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Groups with thresholds of their own; ``by`` is their key column, PREDICTED for predicted classes."""

    panel: ClassVar = "Boundary"

    by: str | None = option("COL", "Find thresholds for each group of this column.")
    bound: GroupBound = choice(
        "Meet the target over all groups together (overall) or in every group (each). (default: "
        f"{defaults.GROUP_BOUND})",
        defaults.GROUP_BOUND,
        metavar="NAME",
        stated=True,
        guarded=True,
    )
    min_group: int = option("N", "Rows that a group needs for its own rule.", defaults.MIN_GROUP_ROWS, min=1)

    @property
    def are_asked(self) -> bool:
        """Whether groups have thresholds of their own."""
        return self.by is not None


@dataclass(frozen=True, kw_only=True)
class BinOptions:
    """Bins of the grid.

    By default, smoothed rates have shared bins, whose number is chosen by performance, and other algorithms
    those of the paper; a saved grid has its own.
    """

    panel: ClassVar = "Boundary"

    uncertainty_bins: int | Literal["auto"] | None = option(
        "K|auto",
        f"Number of uncertainty bins. (default: {defaults.UNCERTAINTY_BINS}; for smooth auto, the "
        "best of 1, 2, 4 and 8)",
        parse=size_or(AUTO),
    )
    score_bins: int | Literal["all"] | None = option(
        "L|all", f"Number of score bins, or all. (default: {defaults.SCORE_BINS})", parse=size_or(ALL_SCORES)
    )
    binning: Binning | None = option(
        "NAME",
        "Bins: shared (for smooth) or equi-weight.",
        papers="equi-span (equal widths).",
        typed=GridBinning | None,
        parse=lambda _, name: Binning(name),
    )

    @property
    def cells_per_bin(self) -> int | None:
        """Score bins in each uncertainty bin; None for one for each distinct score."""
        bins = defaults.SCORE_BINS if self.score_bins is None else self.score_bins
        return bins if isinstance(bins, int) else None

    @property
    def are_several(self) -> bool:
        """Whether a number of uncertainty bins above 1 was requested."""
        return isinstance(self.uncertainty_bins, int) and self.uncertainty_bins > 1

    def is_auto(self, algorithm: Algorithm) -> bool:
        """Whether the number of uncertainty bins is chosen by performance."""
        return self.uncertainty_bins == AUTO or (
            self.uncertainty_bins is None and algorithm is Algorithm.SMOOTH
        )

    def spec(self, algorithm: Algorithm) -> GridSpec:
        """Return the grid to count for an algorithm; the bins of a shared grid may be merged later."""
        from uqcli.bin.grid import GridSpec

        usual = Binning.SHARED if algorithm in _SMOOTHED else defaults.GRID_BINNING
        bins = self.uncertainty_bins
        if not isinstance(bins, int):
            auto = self.is_auto(algorithm)
            bins = defaults.SHARED_UNCERTAINTY_BINS if auto else defaults.UNCERTAINTY_BINS
        if algorithm is Algorithm.ST:
            bins = 1
        return GridSpec(binning=self.binning or usual, uncertainty_bins=bins, score_bins=self.cells_per_bin)

    def one_bin(self) -> Self:
        """Return the bins of a single threshold."""
        return replace(self, uncertainty_bins=1)


TARGETS: Final = "Constraint: one, or several bounds together; none lists what each would bring"
"""Panel of what a boundary is for."""


@dataclass(frozen=True, kw_only=True)
class CapacityOptions(FirstRowsOptions):
    """The first rows of each group, which are flagged in place of those that thresholds flag."""

    panel: ClassVar = TARGETS


@dataclass(frozen=True, kw_only=True)
class PriorOptions:
    """Class priors of the data in which the target is met."""

    panel: ClassVar = "Boundary"

    shift: SavedShift | None = option(
        "FILE",
        "Meet the target in data with other class frequencies: a file written by uqcli shift.",
        typed=str | None,
        guarded=True,
    )

    @property
    def are_others(self) -> bool:
        """Whether they are not those of the calibration rows."""
        return self.shift is not None


@dataclass(frozen=True, kw_only=True)
class GridOptions:
    """Grid in place of rows, the file of the curve of all thresholds, and the seed."""

    panel: ClassVar = "Boundary"

    grid: str | None = option("FILE", "Use a grid saved by uqcli bin instead of rows.", guarded=True)
    frontier: str | None = option(
        "FILE", "Save the recall at each number of alerts (.csv, .parquet).", guarded=True
    )
    seed: int = option("S", "Seed of the random splits.", defaults.SEED, min=0, max=defaults.MAX_SEED)

    @property
    def is_grid(self) -> bool:
        """Whether a saved grid takes the place of rows."""
        return self.grid is not None


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a boundary meets: its constraint, and the limit of the review of rows below it.

    If there are several bounds, as are searched on the same rows, ``bounds`` has them all.
    """

    constraint: Constraint = filled()
    limit: ReviewLimit | None = None
    bounds: tuple[Constraint, ...] = ()

    def at(self, constraint: Constraint) -> Self:
        """Return a copy with another constraint."""
        return replace(self, constraint=constraint)


@dataclass(frozen=True, kw_only=True)
class BoundaryRequest:
    """Rows, what a boundary meets on them, and how it is searched, certified and compared.

    ``compared`` are the columns of uncertainties to compare with a single threshold, of which the best is
    used. ``curve`` is the output of the trade-off curve of recall and precision, with net benefits at the
    bounds if there are several, else at the constraint. ``names_uncertainty`` says that the user named the
    column of the uncertainty.
    """

    data: DataRequest = filled()
    target: Target = Target()
    search: AlgorithmOptions = AlgorithmOptions()
    bins: BinOptions = BinOptions()
    certificate: CertificateOptions = CertificateOptions()
    groups: GroupOptions = GroupOptions()
    priors: PriorOptions = PriorOptions()
    source: GridOptions = GridOptions()
    first: FirstRowsOptions = FirstRowsOptions()
    compared: tuple[str, ...] = ()
    curve: RowOutput | None = None
    names_uncertainty: bool = True

    @property
    def searched(self) -> AlgorithmChoice:
        """Requested or default algorithm."""
        return self.search.algorithm or defaults.ALGORITHM

    @property
    def seed(self) -> int:
        """Seed of the random splits."""
        return self.source.seed

    @property
    def saves_advised_rule(self) -> bool:
        """Whether neither algorithm nor bins were requested, so that the advised rule is saved."""
        is_free = self.source.is_grid or self.bins.uncertainty_bins is None
        return self.search.algorithm is None and not self.certificate.is_asked and is_free

    def parameters(self, grid: GridSpec) -> BoundaryParameters:
        """Return the options to save with the result, found on the given grid."""
        from uqcli.boundary.rule_file import BoundaryParameters, SavedConstraint, SavedReview

        roles, limit, groups = self.data.roles, self.target.limit, self.groups
        given: dict[str, Any] = {}
        if groups.are_asked:
            given = {"bound": groups.bound, "min_group": groups.min_group}
            if groups.by != PREDICTED:
                given["by"] = groups.by
        if roles.cluster is not None:
            given[roles.dependence] = roles.cluster
        if limit:
            given["review"] = SavedReview(kind=limit.kind, value=limit.value)
        return BoundaryParameters(
            algorithm=self.searched,
            binning=grid.binning,
            uncertainty_bins=grid.uncertainty_bins,
            score_bins=ALL_SCORES if grid.score_bins is None else grid.score_bins,
            constraint=SavedConstraint.of(self.target.constraint),
            on_invalid=self.data.on_invalid,
            positive=self.data.positive_value,
            **given,
        )

    def with_optional_uncertainty(self) -> Self:
        """Return a copy that finds one threshold if the rows have no uncertainty, unless options need one."""
        needed = self.bins.are_several or self.compared or self.searched is AlgorithmChoice(Algorithm.HR)
        roles = replace(self.data.roles, may_lack_uncertainty=not needed)
        return replace(self, data=replace(self.data, roles=roles), names_uncertainty=False)

    def for_columns(self, columns: Mapping[str, str]) -> Self:
        """Return a copy for one threshold, if an optional uncertainty is not among the columns by role."""
        if not self.data.roles.may_lack_uncertainty or {"uncertainty", TURNED} & set(columns):
            return self
        return self.on(self.data.without("uncertainty")).with_one_threshold()

    def with_one_threshold(self) -> Self:
        """Return a copy that ranks the scores alone."""
        return replace(self, bins=self.bins.one_bin())

    def on(self, data: DataRequest) -> Self:
        """Return a copy for other rows or columns."""
        return replace(self, data=data)

    def at(self, constraint: Constraint) -> Self:
        """Return a copy with another constraint."""
        return replace(self, target=self.target.at(constraint))

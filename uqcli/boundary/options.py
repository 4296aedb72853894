"""Requests for boundaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

from uqcli.base import defaults
from uqcli.base.choices import Algorithm, AlgorithmChoice, Binning, GridBinning, GroupBound
from uqcli.base.exact_numbers import size
from uqcli.base.options import PAPERS, choice, files, filled, flag, option
from uqcli.base.records import dataclass
from uqcli.engines.request import PREDICTED, TURNED, DataRequest, Inputs, dependence

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
class BoundaryRequest:
    """Algorithm of the boundary, its grid and its tests, with the constraint and the rows.

    The default algorithm, None, saves a single threshold if that is advised. By default, smoothed rates have
    shared bins, whose number is chosen by performance, and other algorithms those of the paper; a saved grid
    has its own. ``certify`` is the risk that new data break the bound, a decimal in (0, 1) as typed, and
    ``pilot`` has older labelled rows that choose the boundaries to certify; without them a part of the rows
    does. ``by`` is the key column whose groups have their own thresholds, PREDICTED for the predicted
    classes.

    ``limit`` is that of the review of rows below the boundary. ``compared`` are the uncertainty columns to
    compare with a single threshold, of which the best is used. ``curve`` is the output of the trade-off curve
    of recall and precision, which has net benefits at ``bounds``, if there are several, and otherwise at the
    constraint. ``names_uncertainty`` says that the user named the column of the uncertainty.
    """

    panel: ClassVar = "Boundary"

    algorithm: AlgorithmChoice | None = choice(
        f"smooth, vw-dpmt (exact), st (one threshold) or all; more: {PAPERS}. "
        f"(default: {defaults.ALGORITHM})",
        metavar="NAME",
        papers="ew-dpmt (for cells of equal size), mist, gmt or hr.",
    )
    compare: bool = flag("Test whether the uncertainty helps, and keep the better rule.")
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
    margin: str | None = option(
        "Z", "Exceed --precision by Z standard errors, so that new data miss it less often."
    )
    review: str | None = option("M|P%", "Send M rows, or P% of all, just below the thresholds to review.")
    miss: str | None = option(
        "F", "Send the fewest rows to review so that at most F of positives are cleared."
    )
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
    shift: SavedShift | None = option(
        "FILE",
        "Meet the target in data with other class frequencies: a file written by uqcli shift.",
        typed=str | None,
        guarded=True,
    )
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
    grid: str | None = option("FILE", "Use a grid saved by uqcli bin instead of rows.", guarded=True)
    frontier: str | None = option(
        "FILE", "Save the recall at each number of alerts (.csv, .parquet).", guarded=True
    )
    seed: int = option("S", "Seed of the random splits.", defaults.SEED, min=0, max=defaults.MAX_SEED)
    data: DataRequest = filled()
    constraint: Constraint = filled()
    limit: ReviewLimit | None = None
    compared: tuple[str, ...] = ()
    curve: RowOutput | None = None
    bounds: tuple[Constraint, ...] = ()
    names_uncertainty: bool = True

    @property
    def cells_per_bin(self) -> int | None:
        """Score bins in each uncertainty bin; None for one for each distinct score."""
        bins = defaults.SCORE_BINS if self.score_bins is None else self.score_bins
        return bins if isinstance(bins, int) else None

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

    @property
    def searched(self) -> AlgorithmChoice:
        """Requested or default algorithm."""
        return self.algorithm or defaults.ALGORITHM

    @property
    def saves_advised_rule(self) -> bool:
        """Whether neither algorithm nor bins were requested, so that the advised rule is saved."""
        bins = self.grid is None and self.uncertainty_bins is not None
        return self.algorithm is None and self.certify is None and not bins

    @property
    def dependence_option(self) -> str:
        """Option that names the column of dependent rows."""
        return f"--{dependence(days=self.data.roles.days)}"

    @property
    def units(self) -> str:
        """What dependent rows are within."""
        return f"{dependence(days=self.data.roles.days)}s"

    @property
    def tested_units(self) -> str:
        """What a certificate tests: rows, or clusters or days of dependent ones."""
        return "rows" if self.data.roles.cluster is None else self.units

    def parameters(self, grid: GridSpec) -> BoundaryParameters:
        """Return the options to save with the result, found on the given grid."""
        import msgspec

        from uqcli.boundary.rule_file import BoundaryParameters, SavedConstraint, SavedReview

        roles = self.data.roles
        return BoundaryParameters(
            algorithm=self.searched,
            binning=grid.binning,
            uncertainty_bins=grid.uncertainty_bins,
            score_bins=ALL_SCORES if grid.score_bins is None else grid.score_bins,
            constraint=SavedConstraint.of(self.constraint),
            on_invalid=self.data.on_invalid,
            positive=self.data.positive_value,
            review=msgspec.UNSET
            if self.limit is None
            else SavedReview(kind=self.limit.kind, value=self.limit.value),
            by=msgspec.UNSET if self.by in (None, PREDICTED) else self.by,
            bound=msgspec.UNSET if self.by is None else self.bound,
            min_group=msgspec.UNSET if self.by is None else self.min_group,
            cluster=msgspec.UNSET if roles.cluster is None or roles.days else roles.cluster,
            day=msgspec.UNSET if roles.cluster is None or not roles.days else roles.cluster,
        )

    def with_optional_uncertainty(self) -> Self:
        """Return a copy that finds one threshold if the rows have no uncertainty, unless options need one."""
        several = isinstance(self.uncertainty_bins, int) and self.uncertainty_bins > 1
        optional = not (several or self.compare or self.searched is AlgorithmChoice(Algorithm.HR))
        roles = replace(self.data.roles, may_lack_uncertainty=optional)
        return replace(self, data=replace(self.data, roles=roles), names_uncertainty=False)

    def for_columns(self, columns: Mapping[str, str]) -> Self:
        """Return a copy for one threshold, if an optional uncertainty is not among the columns by role."""
        if not self.data.roles.may_lack_uncertainty or {"uncertainty", TURNED} & set(columns):
            return self
        return replace(self, data=self.data.without("uncertainty"), uncertainty_bins=1)

    def with_uncertainty(self, uncertainty: str) -> Self:
        """Return a copy with another uncertainty column."""
        return replace(self, data=self.data.with_uncertainty(uncertainty))

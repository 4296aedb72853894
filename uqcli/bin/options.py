"""Request of ``uqcli bin``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uqcli.base import defaults
from uqcli.base.choices import Binning
from uqcli.base.exact_numbers import size
from uqcli.base.options import choice, filled, flag, option
from uqcli.base.records import dataclass

if TYPE_CHECKING:
    from uqcli.engines.request import DataRequest


@dataclass(frozen=True, kw_only=True)
class BinRequest:
    """Binning of the rows, or a saved grid with its bins, or saved grids to merge as inputs.

    Attributes
    ----------
    n_min, n_max
        Bounds on the rows per bin of pava-bc; 0 for the default.
    """

    panel: ClassVar = "Bins"

    binning: Binning | None = choice(
        "Of score and uncertainty: shared (same score edges in all bins) or equi-weight. "
        "Of the score only: quantile, pava, pava-bc or equispaced. "
        f"(default: {defaults.GRID_BINNING})",
        metavar="NAME",
        papers="equi-span, of score and uncertainty (equal widths).",
    )
    uncertainty_bins: int = option(
        "K",
        f"Uncertainty bins. (default: {defaults.UNCERTAINTY_BINS}, "
        f"{defaults.SHARED_UNCERTAINTY_BINS} for shared, 1 for score-only binning)",
        0,
        parse=size,
        stated=True,
    )
    score_bins: int = option(
        "L",
        f"Score bins. (default: {defaults.SCORE_BINS}, {defaults.SINGLE_SCORE_BINS} for score-only binning)",
        0,
        parse=size,
        stated=True,
    )
    edges: str | None = option(
        "GRID.json", "Count rows in the bins of a saved grid.", guarded=True, common=True
    )
    merge: bool = flag("Add up saved grids that have equal edges.", common=True)
    n_min: int = 0
    n_max: int = 0
    data: DataRequest = filled()

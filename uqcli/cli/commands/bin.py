"""``uqcli bin``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from uqcli import defaults
from uqcli.choices import Binning
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.groups import choice, flag, option
from uqcli.cli.inputs import labelled_data
from uqcli.cli.options import (
    ROW_OPTIONS,
    ArtifactOutput,
    BlockBounds,
    FitColumns,
    InputOptions,
    PlotOutput,
    ReportOptions,
    RunOptions,
)
from uqcli.cli.priority import refuse_typed
from uqcli.errors import UsageError
from uqcli.exact import size
from uqcli.records import dataclass

if TYPE_CHECKING:
    from uqcli.methods.bin.grid import GridSpec


@dataclass(frozen=True, kw_only=True)
class GridOptions:
    """Binning of the rows, or a saved grid with its bins."""

    panel: ClassVar = "Bins"

    binning: Binning | None = choice(
        "Of score and uncertainty: shared (same score edges in all bins) or equi-weight. "
        "Of the score only: quantile, pava, pava-bc or equispaced. "
        f"(default: {defaults.GRID_BINNING})",
        metavar="NAME",
        papers="equi-span, of score and uncertainty (equal widths).",
    )
    uncertainty_bins: str | None = option(
        "K",
        f"Uncertainty bins. (default: {defaults.UNCERTAINTY_BINS}, "
        f"{defaults.SHARED_UNCERTAINTY_BINS} for shared, 1 for score-only binning)",
    )
    score_bins: str | None = option(
        "L",
        f"Score bins. (default: {defaults.SCORE_BINS}, {defaults.SINGLE_SCORE_BINS} for score-only binning)",
    )
    edges: str | None = option("GRID.json", "Count rows in the bins of a saved grid.")
    merge: bool = flag("Add up saved grids that have equal edges.")


def bin_(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT...", help="Labelled files, globs, directories, or -; with --merge, saved grids."
        ),
    ] = None,
    columns: FitColumns,
    cells: GridOptions,
    sizes: BlockBounds,
    written: ArtifactOutput,
    plotting: PlotOutput,
    reporting: ReportOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Count rows in a grid of score and uncertainty bins."""
    tables, models = (None, [*(inputs or ()), cells.edges]) if cells.merge else (inputs, [cells.edges])
    reads = Reads.from_options(tables, rules=models, reading=reading, labels=columns.labels)
    provenance = check_outputs(reporting, written.output, reads=reads, running=running, plot=plotting.plot)
    from uqcli.jobs.bin.run import BinRequest, run

    shape = {
        "--binning": cells.binning,
        "--uncertainty-bins": cells.uncertainty_bins,
        "--score-bins": cells.score_bins,
        "--n-min": sizes.n_min,
        "--n-max": sizes.n_max,
    }
    if cells.merge and cells.edges is not None:
        raise UsageError("--merge and --edges together", expected="one of them")
    if cells.merge or cells.edges is not None:
        _refuse_shape(shape)
    data = labelled_data(inputs, columns, reading, running)
    if cells.merge:
        refuse_typed(ROW_OPTIONS, "with --merge", "no options for rows: saved grids already hold counts")
        request = BinRequest(data=data, merged=tuple(inputs or ()))
    elif cells.edges is not None:
        request = BinRequest(data=data, edges=cells.edges)
    else:
        shape_options = {name: str(value) for name, value in shape.items() if value}
        request = BinRequest(data=data, grid=_spec(cells.binning or defaults.GRID_BINNING, shape_options))
    deliver(run(request), reporting, provenance=provenance, output=written.output, plot=plotting.plot)


def _refuse_shape(shape_options: dict[str, str | Binning | None]) -> None:
    for name, value in shape_options.items():
        if value is not None:
            raise UsageError(
                f"{name} with --edges or --merge", expected="no options for bins: the saved grid sets them"
            )


def _spec(binning: Binning, shape_options: dict[str, str]) -> GridSpec:
    from uqcli.methods.bin.block_sizes import BlockSizes
    from uqcli.methods.bin.grid import GridSpec, usual_uncertainty_bins

    cuts_uncertainty = binning.cuts_uncertainty
    if binning is not Binning.PAVA_BC and ("--n-min" in shape_options or "--n-max" in shape_options):
        raise UsageError(f"--n-min and --n-max with {binning}", expected="--binning pava-bc")
    numbers = {name: size(name, value) for name, value in shape_options.items() if name != "--binning"}
    return GridSpec(
        binning=binning,
        uncertainty_bins=numbers.get("--uncertainty-bins", usual_uncertainty_bins(binning)),
        score_bins=numbers.get(
            "--score-bins", defaults.SCORE_BINS if cuts_uncertainty else defaults.SINGLE_SCORE_BINS
        ),
        blocks=BlockSizes(n_min=numbers.get("--n-min"), n_max=numbers.get("--n-max")),
    )

"""``uqcli tce``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli import defaults
from uqcli.choices import BinSizing, CalibrationTest, ScoreBinning
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.inputs import labelled_data
from uqcli.cli.options import (
    BlockBounds,
    ClassProbabilities,
    FitColumns,
    InputOptions,
    PlotOutput,
    ReportOptions,
    ResamplingOptions,
    RunOptions,
)
from uqcli.cli.places import Reads
from uqcli.cli.priority import refuse_typed
from uqcli.cli.process.resources import limit_threads
from uqcli.exact import size

_MEASURE = "Measure"


def tce(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT...", help="Labelled files, globs, directories, or -."),
    ] = None,
    binning: Annotated[
        ScoreBinning,
        typer.Option(
            "--binning", "--bins", help="Bins of tce and of the two errors.", rich_help_panel=_MEASURE
        ),
    ] = defaults.SCORE_BINNING,
    n_bins: Annotated[
        str, typer.Option(metavar="B", help="Quantile and equispaced bins.", rich_help_panel=_MEASURE)
    ] = str(defaults.SINGLE_SCORE_BINS),
    alpha: Annotated[
        float, typer.Option(metavar="A", help="Level of the tests.", rich_help_panel=_MEASURE)
    ] = defaults.ALPHA,
    test: Annotated[
        CalibrationTest, typer.Option(help="Exact binomial test, or t-test.", rich_help_panel=_MEASURE)
    ] = defaults.CALIBRATION_TEST,
    bin_sizes: Annotated[
        BinSizing,
        typer.Option(
            help="pava-bc: bins that grow slowly enough for true probabilities to pass in files of any size, "
            "or the paper's twentieth of the rows.",
            rich_help_panel=_MEASURE,
        ),
    ] = defaults.BIN_SIZES,
    by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Measure the groups of a column, too.", rich_help_panel=_MEASURE),
    ] = None,
    sizes: BlockBounds,
    resampling: ResamplingOptions,
    probabilities: ClassProbabilities,
    columns: FitColumns,
    reading: InputOptions,
    plotting: PlotOutput,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Measure how far probabilities can be trusted: test-based calibration error, ECE and relatives."""
    limit_threads(running.threads)
    reads = Reads.of(inputs, reading=reading)
    origin = check_outputs(
        reporting, None, reads=reads, running=running, plot=plotting.plot, has_figures=True
    )
    refuse_typed(("uncertainty",), "of calibration errors", "none: they look at the score alone")
    from uqcli.jobs.tce.measure import MeasureOptions
    from uqcli.jobs.tce.run import TceRequest, run

    measure = MeasureOptions(
        binning=binning,
        n_min=None if sizes.n_min is None else size("--n-min", sizes.n_min),
        n_max=None if sizes.n_max is None else size("--n-max", sizes.n_max),
        bin_sizes=bin_sizes,
        n_bins=size("--n-bins", n_bins),
        alpha=alpha,
        test=test,
    )
    request = TceRequest(
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities),
        measure=measure,
        by=by,
        bootstrap=resampling.bootstrap,
        seed=resampling.seed,
        confidence=resampling.confidence,
    )
    deliver(run(request), reporting, origin=origin, plot=plotting.plot)

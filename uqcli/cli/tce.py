"""``uqcli tce``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli import defaults
from uqcli.choices import CalibrationTest, ScoreBinning
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.options import FitColumns, InputOptions, ReportOptions, RunOptions
from uqcli.cli.requests import bins, labelled_data, prepare

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
    ] = ScoreBinning.PAVA_BC,
    n_min: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="pava-bc: rows in a bin at least. (default: N/20)", rich_help_panel=_MEASURE
        ),
    ] = None,
    n_max: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="pava-bc: rows in a bin at most. (default: N/5)", rich_help_panel=_MEASURE
        ),
    ] = None,
    n_bins: Annotated[
        str, typer.Option(metavar="B", help="Quantile and equispaced bins.", rich_help_panel=_MEASURE)
    ] = str(defaults.SINGLE_SCORE_BINS),
    alpha: Annotated[
        float, typer.Option(metavar="A", help="Level of the tests.", rich_help_panel=_MEASURE)
    ] = defaults.ALPHA,
    test: Annotated[
        CalibrationTest, typer.Option(help="Exact binomial test, or t-test.", rich_help_panel=_MEASURE)
    ] = CalibrationTest.BINOMIAL,
    columns: FitColumns,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Measure how far probabilities can be trusted: test-based calibration error, ECE and relatives."""
    prepare(running)
    check_outputs(reporting, None)
    from uqcli.jobs.tce import TceOptions, run

    report = run(
        labelled_data(inputs, columns, reading),
        TceOptions(
            binning=binning,
            n_min=None if n_min is None else bins(n_min, "--n-min"),
            n_max=None if n_max is None else bins(n_max, "--n-max"),
            n_bins=bins(n_bins, "--n-bins"),
            alpha=alpha,
            test=test,
        ),
        running.engine,
    )
    deliver(report, reporting)

"""``uqcli boundary``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from uqcli import defaults
from uqcli.choices import Algorithm, Binning
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.options import FitColumns, InputOptions, ReportOptions, RunOptions, stdout_by_its_names
from uqcli.cli.requests import prepare, read_options
from uqcli.errors import UsageError

_METHOD = "Boundary"


def boundary(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT...", help="Labelled hold-out files, globs, directories, or -."),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Precision to keep, above 0 and at most 1, compared exactly.",
            rich_help_panel=_METHOD,
        ),
    ] = None,
    algorithm: Annotated[
        Algorithm,
        typer.Option(
            help="vw-dpmt: the optimum on the grid; mist: isotonic regression in each uncertainty bin; "
            "st: one score threshold.",
            rich_help_panel=_METHOD,
        ),
    ] = Algorithm.VW_DPMT,
    binning: Annotated[
        Binning,
        typer.Option(help="Bins of equal weight or of equal width.", rich_help_panel=_METHOD),
    ] = Binning.EQUI_WEIGHT,
    uncertainty_bins: Annotated[
        int, typer.Option(metavar="K", help="Uncertainty bins.", rich_help_panel=_METHOD)
    ] = defaults.UNCERTAINTY_BINS,
    score_bins: Annotated[
        str,
        typer.Option(
            metavar="L|all",
            help="Score bins in each uncertainty bin; all makes every distinct score its own.",
            rich_help_panel=_METHOD,
        ),
    ] = str(defaults.SCORE_BINS),
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            callback=stdout_by_its_names,
            help="Write the boundary artifact here; - is standard output.",
            rich_help_panel="Output",
        ),
    ] = None,
    columns: FitColumns,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Find the decision boundary on score x uncertainty that flags the most positives at a precision."""
    prepare(running)
    check_outputs(reporting, output)
    from uqcli.artifacts.codec import encode
    from uqcli.engines.columns import Roles
    from uqcli.engines.protocol import DataRequest
    from uqcli.jobs.boundary import BoundaryOptions, BoundaryRequest, run

    if precision is None:
        raise UsageError("no constraint given", expected="--precision S, such as --precision 0.7")
    outcome = run(
        BoundaryRequest(
            data=DataRequest(
                inputs=tuple(inputs or ()),
                roles=Roles(
                    score=columns.score,
                    uncertainty=columns.uncertainty,
                    label=columns.label,
                    weight=columns.weight,
                ),
                read=read_options(reading),
                on_invalid=reading.on_invalid,
                positive_value=columns.positive,
            ),
            options=BoundaryOptions(
                precision=precision,
                algorithm=algorithm,
                binning=binning,
                uncertainty_bins=uncertainty_bins,
                score_bins=_score_bins(score_bins),
            ),
            engine=running.engine,
        )
    )
    artifact = encode(outcome.artifact) if outcome.artifact else None
    deliver(outcome.report, reporting, output=output, artifact=artifact, failure=outcome.failure)


def _score_bins(text: str) -> int | Literal["all"]:
    if text == "all":
        return "all"
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"--score-bins '{text}'", expected="a positive integer or all")
    return int(text)

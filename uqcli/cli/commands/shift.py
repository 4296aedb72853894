"""``uqcli shift``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli import defaults
from uqcli.choices import Confusion, ShiftEstimator
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.inputs import labelled_data
from uqcli.cli.options import (
    ArtifactOutput,
    ClassProbabilities,
    FitColumns,
    InputOptions,
    OptionalResampling,
    PlotOutput,
    ReportOptions,
    RunOptions,
)
from uqcli.cli.places import Reads
from uqcli.cli.priority import is_typed, refuse_typed
from uqcli.cli.process.resources import limit_threads
from uqcli.errors import UsageError

_ESTIMATE = "Class weights"


def shift(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE...", help="Labelled files, globs, directories, or -."),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Unlabelled rows of the target (repeatable); --weight is about the labelled ones.",
            rich_help_panel=_ESTIMATE,
        ),
    ] = None,
    estimator: Annotated[
        ShiftEstimator,
        typer.Option(
            help="bbse: from the confusion of predicted classes; em: maximum likelihood, for calibrated "
            "probabilities; known: from --prior.",
            rich_help_panel=_ESTIMATE,
        ),
    ] = defaults.SHIFT_ESTIMATOR,
    confusion: Annotated[
        Confusion,
        typer.Option(
            help="bbse: count predicted classes, or add up their probabilities.", rich_help_panel=_ESTIMATE
        ),
    ] = defaults.CONFUSION,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="Q,...",
            help="known: shares of the classes in the target, in their order.",
            rich_help_panel=_ESTIMATE,
        ),
    ] = None,
    resampling: OptionalResampling,
    written: ArtifactOutput,
    plotting: PlotOutput,
    probabilities: ClassProbabilities,
    columns: FitColumns,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Estimate from unlabelled rows how much more frequent each class is than in labelled ones."""
    limit_threads(running.threads)
    reads = Reads.of(inputs, target, reading=reading)
    origin = check_outputs(reporting, written.output, reads=reads, running=running, plot=plotting.plot)
    from uqcli.jobs.shift.run import ShiftRequest, run

    refuse_typed(("uncertainty",), "of class weights", "none: they come from probabilities alone")
    if estimator is not ShiftEstimator.KNOWN and not is_typed("prior"):
        prior = None
    request = ShiftRequest(
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities),
        target=tuple(target) if target else None,
        estimator=estimator,
        confusion=confusion,
        prior=_shares(prior),
        bootstrap=resampling.bootstrap,
        confidence=resampling.confidence,
        seed=resampling.seed,
    )
    deliver(run(request), reporting, origin=origin, output=written.output, plot=plotting.plot)


def _shares(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--prior '{text}'", expected="numbers separated by commas") from None

"""``uqcli shift``."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from uqcli import defaults
from uqcli.choices import ConfusionForm, ShiftEstimator
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.groups import choice, option
from uqcli.cli.inputs import labelled_data, parse_numbers
from uqcli.cli.options import (
    ArtifactOutput,
    ClassProbabilities,
    ClusterColumn,
    FitColumns,
    InputOptions,
    OptionalResampling,
    PlotOutput,
    ReportOptions,
    RunOptions,
)
from uqcli.cli.priority import is_typed, refuse_typed
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    """Estimator of the class weights."""

    panel: ClassVar = "Class weights"

    target: list[str] | None = option(
        "FILE", "Unlabelled new data (repeatable); --weight is for the labelled rows."
    )
    estimator: ShiftEstimator = choice(
        "bbse: from predicted classes; em: maximum likelihood, after calibration on the labelled rows; "
        "known: from --prior.",
        defaults.SHIFT_ESTIMATOR,
    )
    confusion: ConfusionForm = choice(
        "bbse: count predicted classes (hard) or add up probabilities (soft).", defaults.CONFUSION
    )
    prior: str | None = option("Q,...", "known: class priors of the new data, in class order.")
    day: str | None = option("COL", "Days, in both: rows of a day depend on each other.")


def shift(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE...", help="Labelled files, globs, directories, or -."),
    ] = None,
    estimation: EstimateOptions,
    probabilities: ClassProbabilities,
    columns: FitColumns,
    clusters: ClusterColumn,
    written: ArtifactOutput,
    plotting: PlotOutput,
    reporting: ReportOptions,
    reading: InputOptions,
    resampling: OptionalResampling,
    running: RunOptions,
) -> None:
    """Estimate how class priors differ in unlabelled new data."""
    reads = Reads.from_options(inputs, estimation.target, reading=reading, labels=columns.labels)
    provenance = check_outputs(reporting, written.output, reads=reads, running=running, plot=plotting.plot)
    from uqcli.jobs.shift.run import ShiftRequest, run

    refuse_typed(("uncertainty",), "with shift", "class probabilities only")
    if estimation.estimator is not ShiftEstimator.BBSE:
        refuse_typed(("confusion",), f"with --estimator {estimation.estimator}", "--estimator bbse")
    uses_prior = estimation.estimator is ShiftEstimator.KNOWN or is_typed("prior")
    request = ShiftRequest(
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities),
        target=tuple(estimation.target) if estimation.target else None,
        estimator=estimation.estimator,
        confusion=estimation.confusion,
        prior=parse_numbers("--prior", estimation.prior) if uses_prior else None,
        bootstrap=resampling.bootstrap,
        confidence=resampling.confidence,
        seed=resampling.seed,
        day=estimation.day,
        cluster=clusters.cluster,
    )
    deliver(run(request), reporting, provenance=provenance, output=written.output, plot=plotting.plot)

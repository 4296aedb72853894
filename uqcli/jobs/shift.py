"""``uqcli shift``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from uqcli.base.choices import ShiftEstimator
from uqcli.base.errors import words
from uqcli.base.options import Argument, ClusterColumn, OptionalResampling
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, labelled_data
from uqcli.jobs.shell import is_typed, refuse_typed
from uqcli.shift.options import ShiftRequest


def shift(
    *,
    inputs: Annotated[
        list[str] | None, Argument("SOURCE...", "Labelled files, globs, directories, or -.")
    ] = None,
    request: ShiftRequest,
    probabilities: options.ClassProbabilities,
    columns: options.FitColumns,
    clusters: ClusterColumn,
    saving: options.RuleOutput,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    resampling: OptionalResampling,
    running: options.RunOptions,
) -> None:
    """Estimate how class priors differ in unlabelled new data."""
    reads = Reads.from_options(inputs, request.target, reading=reading, labels=columns.labels)
    context = check_outputs(reporting, saving.output, reads=reads, running=running, plot=figure.plot)
    from uqcli.shift.run import run

    refuse_typed(("uncertainty",), "with shift", "class probabilities only")
    if request.estimator is not ShiftEstimator.BBSE:
        refuse_typed(
            ("confusion",), words("with --estimator {}", request.estimator), words("--estimator bbse")
        )
    uses_prior = request.estimator is ShiftEstimator.KNOWN or is_typed("prior")
    request = replace(
        request,
        prior=request.prior if uses_prior else None,
        data=labelled_data(inputs, columns, reading, running, probabilities=probabilities),
        clusters=clusters,
        resampling=resampling,
    )
    deliver(run(request), reporting, context=context, output=saving.output, plot=figure.plot)

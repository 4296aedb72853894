"""``uqcli watch``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from uqcli.base.errors import UsageError, words
from uqcli.base.options import Argument
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, column_overrides, data_without_columns, refuse_swapped
from uqcli.jobs.shell import refuse_typed
from uqcli.watch.options import WatchRequest


def watch(
    *,
    artifact: Annotated[str, Argument("ARTIFACT", "A saved rule file.")],
    inputs: Annotated[
        list[str] | None, Argument("INPUT...", "New labelled files, globs, directories, or -.")
    ] = None,
    request: WatchRequest,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    columns: options.ModelColumns,
    labels: options.LabelColumns,
    clusters: options.ClusterColumn,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Test whether a rule still meets its target, as labels arrive."""
    refuse_swapped(artifact, inputs)
    _check(request, inputs)
    if request.calibrator is None:
        refuse_typed(("shift",), words("is given without --calibrator"), remedy=words("add --calibrator"))
    reads = Reads.from_options(
        inputs, rules=[artifact, request.calibrator, request.shift], reading=reading, labels=labels.labels
    )
    context = check_outputs(
        reporting, request.state, reads=reads, running=running, plot=figure.plot, artifact=artifact
    )
    from uqcli.engines.open import reusable_streams
    from uqcli.stores.state import updated
    from uqcli.watch.run import run

    request = replace(
        request,
        data=data_without_columns(inputs, reading, running, labels),
        artifact=artifact,
        columns=column_overrides(columns, labels),
        cluster=clusters.cluster,
    )

    def watched(content: bytes | None) -> None:
        result = run(replace(request, content=content))
        deliver(result, reporting, context=context, output=request.state, plot=figure.plot)

    if request.state is None:
        watched(None)
        return
    with reusable_streams():  # another run may be faster with a state in a store
        updated(request.state, watched)


def _check(request: WatchRequest, inputs: list[str] | None) -> None:
    """Refuse options that need a state, or days."""
    if request.state is None:
        refuse_typed(
            ("forget", "acknowledge", "strict", "replace"),
            words("is given without --state"),
            remedy=words("add --state"),
        )
    if not inputs and request.state is None:
        raise UsageError(
            "no INPUT",
            expected="at least one file, or - for standard input",
            remedy=words("name new labelled rows, or --state FILE to see what was counted so far"),
        )
    if request.day is None:
        refuse_typed(("matured",), words("is given without --day"), remedy=words("add --day"))

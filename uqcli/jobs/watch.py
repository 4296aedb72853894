"""``uqcli watch``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from uqcli.base.errors import InShell, UsageError, words
from uqcli.base.options import Argument, ClusterColumn
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, column_overrides, data_without_columns, refuse_swapped
from uqcli.jobs.shell import refuse_typed
from uqcli.watch.options import (
    AlarmOptions,
    CountingOptions,
    DayOptions,
    ExpectationOptions,
    StateOptions,
    WatchRequest,
)


def watch(
    *,
    artifact: Annotated[str, Argument("ARTIFACT", "A saved rule file.")],
    inputs: Annotated[
        list[str] | None, Argument("INPUT...", "New labelled files, globs, directories, or -.")
    ] = None,
    state: StateOptions,
    days: DayOptions,
    counting: CountingOptions,
    alarms: AlarmOptions,
    expectation: ExpectationOptions,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    columns: options.ModelColumns,
    labels: options.LabelColumns,
    clusters: ClusterColumn,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Test whether a rule still meets its target, as labels arrive."""
    refuse_swapped(artifact, inputs)
    _check(state.state, inputs)
    if days.day is None:
        refuse_typed(("matured",), words("is given without --day"), remedy=words("add --day"))
    if not expectation.is_asked:
        refuse_typed(("shift",), words("is given without --calibrator"), remedy=words("add --calibrator"))
    reads = Reads.from_options(
        inputs,
        rules=[artifact, expectation.calibrator, expectation.shift],
        reading=reading,
        labels=labels.labels,
    )
    context = check_outputs(
        reporting, state.state, reads=reads, running=running, plot=figure.plot, artifact=artifact
    )
    from uqcli.engines.open import reusable_streams
    from uqcli.stores.state import updated
    from uqcli.watch.run import run

    request = WatchRequest(
        data=data_without_columns(inputs, reading, running, labels),
        artifact=artifact,
        columns=column_overrides(columns, labels),
        state=state,
        days=days,
        clusters=clusters,
        counting=counting,
        alarms=alarms,
        expectation=expectation,
    )

    def watch_once(request: WatchRequest) -> None:
        deliver(run(request), reporting, context=context, output=state.state, plot=figure.plot)

    def watched(content: bytes) -> None:
        watch_once(replace(request, is_kept=True, content=content))

    if state.state is None:
        watch_once(request)
        return
    with reusable_streams():  # another run may be faster with a state in a store
        updated(state.state, watched)


def _check(state: str | None, inputs: list[str] | None) -> None:
    """Refuse options that need a state, if there is none, or that need rows."""
    if state is None:
        refuse_typed(
            ("forget", "acknowledge", "strict", "replace"),
            words("is given without --state"),
            remedy=words("add --state"),
        )
    if not inputs and state is None:
        raise UsageError(
            InShell("no INPUT", "no rows given"),
            expected=InShell("at least one file, or - for standard input", "a data frame or a path"),
            remedy=words("name new labelled rows, or --state FILE to see what was counted so far"),
        )

"""``uqcli watch``."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated, ClassVar

import typer

from uqcli import defaults
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.groups import flag, option
from uqcli.cli.inputs import column_overrides, data_without_columns, labels_file, refuse_swapped
from uqcli.cli.options import (
    ClusterColumn,
    InputOptions,
    LabelColumns,
    ModelClasses,
    ModelColumns,
    PlotOutput,
    ReportOptions,
    RunOptions,
)
from uqcli.cli.priority import refuse_typed
from uqcli.errors import UsageError
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class AlarmOptions:
    """What raises an alarm."""

    panel: ClassVar = "Alarms"

    bound: str | None = option("S", "Bound to watch. (default: certified, or expected, or the target)")
    delta: str | None = option(
        "D", f"Risk of a false alarm over the lifetime. (default: {defaults.WATCH_DELTA})"
    )
    run_length: int | None = option(
        "A", f"Mean batches until a false change alarm. (default: {defaults.RUN_LENGTH})", min=1
    )
    confidence: float = option("C", "Confidence of the intervals.", defaults.CONFIDENCE)


@dataclass(frozen=True, kw_only=True)
class StateOptions:
    """State of the watch, and its batches."""

    panel: ClassVar = "State"

    state: str | None = option("FILE", "Keep the counts of all batches here.")
    day: str | None = option("COL", "Count each day, week or number of this column once.")
    matured: int | None = option("N", "Count a day N days later, when its labels are complete.", min=0)
    replace: bool = flag("Count days, or batches, again whose labels differ now.")
    strict: bool = flag("End with exit 2 if a batch is counted already.")
    forget: str | None = option("BATCH", "Take back a batch: its digest or day.")
    acknowledge: bool = flag("Clear the alarms, and count from now on only.")


@dataclass(frozen=True, kw_only=True)
class ExpectationOptions:
    """What to expect of rows before their labels arrive."""

    panel: ClassVar = "Before labels"

    calibrator: str | None = option("FILE", "Expect precision and recall from its calibration rows.")
    shift: str | None = option("FILE", "Class weights of the new rows, by shift.")


def watch(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved rule file.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT...", help="New labelled files, globs, directories, or -."),
    ] = None,
    states: StateOptions,
    alarms: AlarmOptions,
    expectation: ExpectationOptions,
    plotting: PlotOutput,
    reporting: ReportOptions,
    columns: ModelColumns,
    classes: ModelClasses,
    labels: LabelColumns,
    clusters: ClusterColumn,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Test whether a rule still meets its target, as labels arrive."""
    refuse_swapped(artifact, inputs)
    _check(states, inputs)
    if expectation.calibrator is None:
        refuse_typed(("shift",), "without --calibrator", "both")
    reads = Reads.from_options(
        inputs,
        rules=[artifact, expectation.calibrator, expectation.shift],
        reading=reading,
        labels=labels.labels,
    )
    provenance = check_outputs(reporting, states.state, reads=reads, running=running, plot=plotting.plot)
    from uqcli.jobs.watch.request import WatchRequest
    from uqcli.jobs.watch.run import run
    from uqcli.stores.state import locked

    request = WatchRequest(
        data=replace(
            data_without_columns(inputs, reading, running),
            positive_value=labels.positive,
            labels=labels_file(labels),
        ),
        artifact=artifact,
        columns=column_overrides(columns, classes, labels),
        delta=alarms.delta,
        run_length=alarms.run_length,
        bound=alarms.bound,
        cluster=clusters.cluster,
        day=states.day,
        matured=states.matured,
        replace=states.replace,
        strict=states.strict,
        forget=states.forget,
        acknowledge=states.acknowledge,
        calibrator=expectation.calibrator,
        shift=expectation.shift,
        confidence=alarms.confidence,
    )
    with ExitStack() as stack:
        if states.state is not None:
            state = stack.enter_context(locked(states.state))
            request = replace(request, state=state.content, state_name=states.state)
        deliver(run(request), reporting, provenance=provenance, output=states.state, plot=plotting.plot)


def _check(states: StateOptions, inputs: list[str] | None) -> None:
    """Refuse options that need a state, or days.

    Raises
    ------
    UsageError
        There is such an option.
    """
    if states.state is None:
        refuse_typed(("forget", "acknowledge", "strict", "replace"), "without --state", "both")
    if not inputs and states.forget is None and not states.acknowledge:
        raise UsageError("no INPUT", expected="at least one file, or - for standard input")
    if states.day is None:
        refuse_typed(("matured",), "without --day", "both")

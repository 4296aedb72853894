"""``uqcli apply``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver_rows
from uqcli.cli.inputs import column_overrides, data_without_columns, refuse_swapped, rows_output
from uqcli.cli.options import (
    InputOptions,
    ModelClasses,
    ModelColumns,
    ReportOptions,
    RowOutput,
    RunOptions,
    StreamedInputs,
)
from uqcli.cli.priority import refuse_typed
from uqcli.defaults import MAX_ROWS
from uqcli.files import STDIO, OutputQueue


def apply(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved rule file, or -.")],
    inputs: StreamedInputs = None,
    rows: RowOutput,
    no_empty: Annotated[
        bool,
        typer.Option(
            "--no-empty",
            help="Put the likeliest class into empty prediction sets (raises coverage).",
            rich_help_panel="Output",
        ),
    ] = False,
    only_selected: Annotated[
        bool,
        typer.Option(
            "--only-selected", help="Write only the flagged rows (boundaries).", rich_help_panel="Output"
        ),
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MAX_ROWS,
            help="Flag the first N rows instead of using thresholds.",
            rich_help_panel="Output",
        ),
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="With --top: N rows of each value of COL.", rich_help_panel="Output"
        ),
    ] = None,
    columns: ModelColumns,
    classes: ModelClasses,
    reporting: ReportOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Add a saved rule's decisions, probabilities or sets to files."""
    refuse_swapped(artifact, inputs)
    if top is None:
        refuse_typed(("per",), "without --top", "both")
    reads = Reads.from_options(inputs, rules=[artifact], reading=reading)
    provenance = check_outputs(reporting, rows.output or STDIO, reads=reads, running=running, rows=True)
    from uqcli.jobs.stream.apply import ApplyRequest, run
    from uqcli.reports.checks import parse_check

    with OutputQueue() as queue:
        request = ApplyRequest(
            data=data_without_columns(inputs, reading, running),
            artifact=artifact,
            output=rows_output(rows, queue, running),
            columns=column_overrides(columns, classes),
            no_empty=no_empty,
            only_selected=only_selected,
            top=top,
            per=per,
            checks=tuple(map(parse_check, reporting.fail_if or ())),
        )
        result = run(request)
        deliver_rows(
            result,
            reporting,
            provenance=provenance,
            output=rows.output,
            queue=queue,
            warnings=result.report.warnings,
        )

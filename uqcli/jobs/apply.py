"""``uqcli apply``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from uqcli.apply.options import ApplyRequest
from uqcli.base.files import OutputQueue
from uqcli.base.options import Argument, FirstRowsOptions, RowOutput
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver_rows
from uqcli.jobs.inputs import Reads, column_overrides, data_without_columns, refuse_swapped, rows_output
from uqcli.jobs.shell import is_typed


def apply(
    *,
    artifact: Annotated[str, Argument("ARTIFACT", "A saved rule file, or -.")],
    inputs: options.StreamedInputs = None,
    rows: RowOutput,
    request: ApplyRequest,
    first: FirstRowsOptions,
    columns: options.ModelColumns,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Add a saved rule's decisions, probabilities or sets to files."""
    refuse_swapped(artifact, inputs)
    if not (first.are_asked or is_typed("per")):
        first = FirstRowsOptions()  # as a configuration may set it
    reads = Reads.from_options(inputs, rules=[artifact], reading=reading)
    context = check_outputs(
        reporting, rows.target, reads=reads, running=running, rows=True, artifact=artifact
    )
    from uqcli.apply.run import run
    from uqcli.reports.checks import parse_check

    with OutputQueue() as queue:
        request = replace(
            request,
            data=data_without_columns(inputs, reading, running),
            artifact=artifact,
            first=first,
            output=rows_output(rows, queue, running),
            columns=column_overrides(columns),
            checks=tuple(map(parse_check, reporting.fail_if)),
        )
        result = run(request)
        deliver_rows(
            result,
            reporting,
            context=context,
            output=rows.output,
            queue=queue,
            warnings=result.report.warnings,
        )

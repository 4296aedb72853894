"""``uqcli uncertainty``."""

from __future__ import annotations

from dataclasses import replace

from uqcli.base.files import OutputQueue
from uqcli.base.options import RowOutput
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver_rows
from uqcli.jobs.inputs import Reads, data_without_columns, rows_output
from uqcli.uncertainty.options import UncertaintyRequest


def uncertainty(
    *,
    inputs: options.StreamedInputs = None,
    request: UncertaintyRequest,
    rows: RowOutput,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Add scores and uncertainties from a model's raw outputs."""
    context = check_outputs(
        reporting,
        rows.target,
        reads=Reads.from_options(inputs, reading=reading),
        running=running,
        metrics={"rows": 0, "undecided": 0},
    )
    from uqcli.uncertainty.run import run

    with OutputQueue() as queue:
        request = replace(
            request,
            data=data_without_columns(inputs, reading, running),
            output=rows_output(rows, queue, running),
        )
        deliver_rows(run(request), reporting, context=context, output=rows.output, queue=queue)

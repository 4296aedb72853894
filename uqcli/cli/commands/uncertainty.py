"""``uqcli uncertainty``."""

from __future__ import annotations

from dataclasses import replace

from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver_rows
from uqcli.cli.inputs import data_without_columns, rows_output
from uqcli.cli.options import InputOptions, ReportOptions, RunOptions, StreamedInputs
from uqcli.files import OutputQueue
from uqcli.jobs.uncertainty.request import UncertaintyRequest
from uqcli.options import RowOutput


def uncertainty(
    *,
    inputs: StreamedInputs = None,
    request: UncertaintyRequest,
    rows: RowOutput,
    reporting: ReportOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Add scores and uncertainties from a model's raw outputs."""
    from uqcli.reports.uncertainty.report import metrics_of

    provenance = check_outputs(
        reporting,
        rows.target,
        reads=Reads.from_options(inputs, reading=reading),
        running=running,
        metrics=metrics_of(rows=0, undecided=0),
    )
    from uqcli.jobs.uncertainty.run import run

    with OutputQueue() as queue:
        request = replace(
            request,
            data=data_without_columns(inputs, reading, running),
            output=rows_output(rows, queue, running),
        )
        deliver_rows(run(request), reporting, provenance=provenance, output=rows.output, queue=queue)

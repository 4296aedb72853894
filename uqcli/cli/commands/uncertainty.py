"""``uqcli uncertainty``."""

from __future__ import annotations

from typing import ClassVar

from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver_rows
from uqcli.cli.groups import option
from uqcli.cli.inputs import data_without_columns, rows_output
from uqcli.cli.options import InputOptions, ReportOptions, RowOutput, RunOptions, StreamedInputs
from uqcli.files import STDIO, OutputQueue
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Columns from which scores and uncertainties are computed."""

    panel: ClassVar = "Model"

    alpha1: str | None = option("COL", "Beta parameter of the positive class (with --alpha0).")
    alpha0: str | None = option("COL", "Beta parameter of the negative class (with --alpha1).")
    members: str | None = option("PATTERN", "Ensemble members' probabilities: 'm_*', or a,b,c.")


def uncertainty(
    *,
    inputs: StreamedInputs = None,
    model: ModelOptions,
    rows: RowOutput,
    reporting: ReportOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Add scores and uncertainties from a model's raw outputs."""
    from uqcli.reports.stream.apply import metrics_of

    provenance = check_outputs(
        reporting,
        rows.output or STDIO,
        reads=Reads.from_options(inputs, reading=reading),
        running=running,
        metrics=metrics_of(rows=0, selected=None, undecided=0),
    )
    from uqcli.jobs.stream.uncertainty import UncertaintyRequest, run

    with OutputQueue() as queue:
        result = run(
            UncertaintyRequest(
                data=data_without_columns(inputs, reading, running),
                output=rows_output(rows, queue, running),
                alpha1=model.alpha1,
                alpha0=model.alpha0,
                members=model.members,
            )
        )
        deliver_rows(result, reporting, provenance=provenance, output=rows.output, queue=queue)

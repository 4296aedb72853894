"""``uqcli apply``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli.cli.deliver import check_outputs, deliver, report_of_filter
from uqcli.cli.options import InputOptions, ModelColumns, ReportOptions, RowOutput, RunOptions
from uqcli.cli.requests import prepare, read_options
from uqcli.files import STDIO


def apply(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved model, or -.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT...", help="Files, globs, directories, or - for standard input."),
    ] = None,
    rows: RowOutput,
    columns: ModelColumns,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Stream files through a saved model: a decision for each row, other columns and order kept."""
    prepare(running)
    from uqcli.reports.apply import metrics_of

    check_outputs(
        reporting,
        rows.output or STDIO,
        artifact=artifact,
        metrics=metrics_of(rows=0, selected=0, undecided=0),
    )
    from uqcli.jobs.apply import ApplyOptions, run
    from uqcli.jobs.models import ColumnOverrides

    report = run(
        ApplyOptions(
            artifact=artifact,
            inputs=tuple(inputs or ()),
            output=rows.output or STDIO,
            output_format=rows.output_format,
            columns=ColumnOverrides(score=columns.score, uncertainty=columns.uncertainty),
            read=read_options(reading),
            on_invalid=reading.on_invalid,
            prefix=rows.prefix,
            overwrite=rows.overwrite,
            union=rows.union,
            engine=running.engine,
        )
    )
    deliver(report, report_of_filter(reporting, rows.output), output=rows.output)

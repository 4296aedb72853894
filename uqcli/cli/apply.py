"""``uqcli apply``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from uqcli.choices import FileFormat
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.options import (
    InputOptions,
    ModelColumns,
    ReportOptions,
    RunOptions,
    stdout_by_its_names,
)
from uqcli.cli.requests import prepare, read_options
from uqcli.files import STDIO


def apply(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved model, or -.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT...", help="Files, globs, directories, or - for standard input."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            callback=stdout_by_its_names,
            help="Where the rows go; the name tells the format. (default: CSV on standard output)",
            rich_help_panel="Output",
        ),
    ] = None,
    output_format: Annotated[
        FileFormat | None,
        typer.Option(help="Format of the rows, whatever the name says.", rich_help_panel="Output"),
    ] = None,
    prefix: Annotated[
        str, typer.Option(metavar="P", help="Put before the added column's name.", rich_help_panel="Output")
    ] = "",
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace a column of that name.", rich_help_panel="Output"),
    ] = False,
    union: Annotated[
        bool,
        typer.Option(
            "--union", help="Let inputs differ in columns; missing ones are null.", rich_help_panel="Output"
        ),
    ] = False,
    columns: ModelColumns,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Stream files through a saved model: a decision for each row, other columns and order kept."""
    prepare(running)
    from uqcli.reports.apply import metrics_of

    check_outputs(
        reporting, output or STDIO, artifact=artifact, metrics=metrics_of(rows=0, selected=0, undecided=0)
    )
    from uqcli.jobs.apply import ApplyOptions, run
    from uqcli.jobs.models import ColumnOverrides

    report = run(
        ApplyOptions(
            artifact=artifact,
            inputs=tuple(inputs or ()),
            output=output or STDIO,
            output_format=output_format,
            columns=ColumnOverrides(score=columns.score, uncertainty=columns.uncertainty),
            read=read_options(reading),
            on_invalid=reading.on_invalid,
            prefix=prefix,
            overwrite=overwrite,
            union=union,
            engine=running.engine,
        )
    )
    if output is None:  # a filter in a pipe says nothing of itself
        reporting = replace(reporting, quiet=True)
    deliver(report, reporting, output=output)

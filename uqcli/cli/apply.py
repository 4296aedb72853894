"""``uqcli apply``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli.cli.deliver import check_outputs, deliver, report_of_filter
from uqcli.cli.options import (
    ClassProbabilities,
    InputOptions,
    ModelClasses,
    ModelColumns,
    ReportOptions,
    RowOutput,
    RunOptions,
)
from uqcli.cli.priority import typed
from uqcli.cli.requests import class_columns, prepare, streaming
from uqcli.files import STDIO


def apply(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved model, or -.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT...", help="Files, globs, directories, or - for standard input."),
    ] = None,
    rows: RowOutput,
    no_empty: Annotated[
        bool,
        typer.Option(
            "--no-empty",
            help="Conformal sets: put the likeliest class into empty ones (coverage can only rise).",
            rich_help_panel="Output",
        ),
    ] = False,
    columns: ModelColumns,
    classes: ModelClasses,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Stream files through a saved model: its columns are added, other columns and order kept."""
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
            rows=streaming(inputs, rows, reading, running),
            columns=ColumnOverrides(
                score=columns.score,
                uncertainty=columns.uncertainty,
                proba=class_columns(ClassProbabilities(proba=classes.proba, classes=classes.classes)),
                insisted=typed(),
            ),
            no_empty=no_empty,
        )
    )
    deliver(report, report_of_filter(reporting, rows.output), output=rows.output)

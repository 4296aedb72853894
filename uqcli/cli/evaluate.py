"""``uqcli evaluate``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli import defaults
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.options import InputOptions, LabelColumns, ModelColumns, ReportOptions, RunOptions
from uqcli.cli.requests import prepare, read_options


def evaluate(
    *,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARTIFACT.json... INPUT...",
            help="Arguments that end in .json are saved models, the others are labelled inputs.",
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(
            metavar="C", help="Confidence of the exact binomial intervals.", rich_help_panel="Output"
        ),
    ] = defaults.CONFIDENCE,
    columns: ModelColumns,
    labels: LabelColumns,
    reading: InputOptions,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Measure saved models on labelled rows: precision, recall and false-positive rate with intervals."""
    prepare(running)
    check_outputs(reporting, None)
    from uqcli.jobs.evaluate import EvaluateOptions, run
    from uqcli.jobs.models import ColumnOverrides

    given = arguments or []
    report = run(
        EvaluateOptions(
            artifacts=tuple(name for name in given if name.endswith(".json")),
            inputs=tuple(name for name in given if not name.endswith(".json")),
            columns=ColumnOverrides(
                score=columns.score,
                uncertainty=columns.uncertainty,
                label=labels.label,
                weight=labels.weight,
            ),
            read=read_options(reading),
            on_invalid=reading.on_invalid,
            positive_value=labels.positive,
            confidence=confidence,
            engine=running.engine,
        )
    )
    deliver(report, reporting)

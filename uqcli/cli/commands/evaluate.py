"""``uqcli evaluate``."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.inputs import class_columns, prepare, read_options
from uqcli.cli.options import (
    ClassProbabilities,
    InputOptions,
    LabelColumns,
    ModelClasses,
    ModelColumns,
    PlotOutput,
    ReportOptions,
    ResamplingOptions,
    RunOptions,
)
from uqcli.cli.places import Reads
from uqcli.cli.priority import refuse_typed, typed


def evaluate(
    *,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARTIFACT.json... INPUT...",
            help="Arguments that end in .json are saved models, the others are labelled inputs.",
        ),
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(
            metavar="SHIFT.json",
            help="Coverage or precision also where classes are as frequent as in this target.",
            rich_help_panel="Output",
        ),
    ] = None,
    resampling: ResamplingOptions,
    columns: ModelColumns,
    classes: ModelClasses,
    labels: LabelColumns,
    reading: InputOptions,
    plotting: PlotOutput,
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Measure saved models on labelled rows: precision, calibration errors or coverage."""
    prepare(running)
    given = arguments or []
    artifacts = tuple(name for name in given if name.endswith(".json"))
    inputs = tuple(name for name in given if not name.endswith(".json"))
    reads = Reads.of(inputs, models=[*artifacts, shift], reading=reading)
    files = check_outputs(reporting, None, reads=reads, running=running, plot=plotting.plot)
    from uqcli.engines.open import streams_kept
    from uqcli.jobs.evaluate.request import EvaluateOptions
    from uqcli.jobs.evaluate.run import run
    from uqcli.jobs.models import ColumnOverrides

    if labels.no_weight:
        refuse_typed(("weight",), "beside --no-weight", "one of them")
    options = EvaluateOptions(
        artifacts=artifacts,
        inputs=inputs,
        columns=ColumnOverrides(
            score=columns.score,
            uncertainty=columns.uncertainty,
            label=labels.label,
            weight=None if labels.no_weight else labels.weight,
            weighted=not labels.no_weight,
            proba=class_columns(ClassProbabilities(proba=classes.proba, classes=classes.classes)),
            insisted=typed(),
        ),
        read=read_options(reading),
        on_invalid=reading.on_invalid,
        positive_value=labels.positive,
        confidence=resampling.confidence,
        bootstrap=resampling.bootstrap,
        seed=resampling.seed,
        shift=shift,
        engine=running.engine,
    )
    with streams_kept() if len(artifacts) > 1 else nullcontext():  # each model may read the rows
        report = run(options)
    deliver(report, reporting, files=files, plot=plotting.plot)

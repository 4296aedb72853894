"""``uqcli evaluate``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.inputs import column_overrides, data_without_columns, labels_file, parse_names
from uqcli.cli.options import (
    RULE_ENDING,
    DependenceColumns,
    InputOptions,
    LabelColumns,
    ModelClasses,
    ModelColumns,
    PlotOutput,
    ReportOptions,
    ResamplingOptions,
    RunOptions,
    ValueOptions,
)


def evaluate(
    *,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARTIFACT.json... INPUT...",
            help="Saved rules (names in .json) and labelled test sets.",
        ),
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(
            metavar="SHIFT.json",
            help="Also measure precision or coverage under these class weights.",
            rich_help_panel="Output",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Also measure each group of this column.", rich_help_panel="Output"),
    ] = None,
    sampling_weight: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="1 / the probability that a row is in the file.",
            rich_help_panel="Columns",
        ),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="COL,...",
            help="Test each value of these columns, and each pair of values.",
            rich_help_panel="Output",
        ),
    ] = None,
    plotting: PlotOutput,
    reporting: ReportOptions,
    columns: ModelColumns,
    classes: ModelClasses,
    labels: LabelColumns,
    clusters: DependenceColumns,
    worth: ValueOptions,
    resampling: ResamplingOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Measure saved rules on a labelled test set."""
    names = arguments or []
    artifacts = tuple(name for name in names if name.lower().endswith(RULE_ENDING))
    inputs = tuple(name for name in names if name not in artifacts)
    reads = Reads.from_options(inputs, rules=[*artifacts, shift], reading=reading, labels=labels.labels)
    provenance = check_outputs(reporting, None, reads=reads, running=running, plot=plotting.plot)
    from uqcli.jobs.evaluate.request import EvaluateRequest
    from uqcli.jobs.evaluate.run import run
    from uqcli.methods.boundary.constraint import constraint_from

    column, days = clusters.chosen
    request = EvaluateRequest(
        data=replace(
            data_without_columns(inputs, reading, running),
            positive_value=labels.positive,
            labels=labels_file(labels),
        ),
        artifacts=artifacts,
        columns=column_overrides(columns, classes, labels),
        confidence=resampling.confidence,
        bootstrap=resampling.bootstrap,
        seed=resampling.seed,
        shift=shift,
        by=by,
        cluster=column,
        days=days,
        sampling_weight=sampling_weight,
        audit=parse_names("--audit", audit),
        utility=constraint_from(gain=worth.gain, cost=worth.cost) if worth.gain or worth.cost else None,
    )
    deliver(run(request), reporting, provenance=provenance, plot=plotting.plot)

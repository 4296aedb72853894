"""``uqcli evaluate``."""

from __future__ import annotations

from typing import Annotated

from uqcli.base.options import Argument, DependenceColumns, FirstRowsOptions, GroupColumn, ResamplingOptions
from uqcli.evaluate.options import Dependence, EvaluateRequest, LabelledRows, SegmentOptions, TargetOptions
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, column_overrides, data_without_columns
from uqcli.jobs.shell import is_typed


def evaluate(
    *,
    arguments: Annotated[
        list[str] | None,
        Argument(
            "ARTIFACT.json... INPUT...",
            "Saved rules (names in .json; none with --top) and labelled test sets.",
        ),
    ] = None,
    target: TargetOptions,
    first: FirstRowsOptions,
    groups: GroupColumn,
    labelled: LabelledRows,
    segments: SegmentOptions,
    figure: options.PlotOutput,
    reporting: options.ReportOptions,
    columns: options.ModelColumns,
    labels: options.LabelColumns,
    clusters: DependenceColumns,
    worth: options.ValueOptions,
    resampling: ResamplingOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Measure saved rules on a labelled test set."""
    if not (first.are_asked or is_typed("per")):
        first = FirstRowsOptions()  # as a configuration may set it
    names = arguments or []
    artifacts = tuple(name for name in names if options.is_rule(name))
    inputs = tuple(name for name in names if name not in artifacts)
    reads = Reads.from_options(
        inputs,
        labelled.unlabelled,
        rules=[*artifacts, target.shift, labelled.calibrator],
        reading=reading,
        labels=labels.labels,
    )
    only = artifacts[0] if len(artifacts) == 1 else None
    context = check_outputs(reporting, None, reads=reads, running=running, plot=figure.plot, artifact=only)
    from uqcli.boundary.search.typed_constraints import constraint_from
    from uqcli.evaluate.run import run

    column, days = clusters.chosen
    request = EvaluateRequest(
        data=data_without_columns(inputs, reading, running, labels),
        artifacts=artifacts,
        columns=column_overrides(columns, labels),
        resampling=resampling,
        target=target,
        first=first,
        groups=groups,
        labelled=labelled,
        audit=segments.audit,
        dependent=Dependence(column=column, days=days),
        utility=constraint_from(gain=worth.gain, cost=worth.cost) if worth.gain or worth.cost else None,
    )
    deliver(run(request), reporting, context=context, plot=figure.plot)

"""``uqcli sample``."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Annotated, ClassVar

import typer

from uqcli import defaults
from uqcli.choices import SampleGoal
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver_rows
from uqcli.cli.groups import choice, flag, option
from uqcli.cli.inputs import column_overrides, data_without_columns, refuse_swapped, rows_output
from uqcli.cli.options import (
    InputOptions,
    Intervals,
    ModelClasses,
    ModelColumns,
    ReportOptions,
    RowOutput,
    RunOptions,
    StreamedInputs,
)
from uqcli.cli.priority import is_typed, refuse_typed
from uqcli.files import STDIO, OutputQueue
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """What to draw, and how much."""

    panel: ClassVar = "Sample"

    for_: SampleGoal = choice("What the labels are for: precision or recall.", MISSING, metavar="GOAL")
    budget: int | None = option("N", "Rows to label; for recall, on average.", min=1, max=defaults.MAX_ROWS)
    plan: float | None = option("WIDTH", "State how many labels give an interval of this width.")
    calibrator: str | None = option(
        "FILE", "Calibrator that gives the rates for recall. (default: the scores)"
    )
    label: str | None = option("COL", "Label column; only rows without a label are drawn.")
    keep_labelled: bool = flag("Write rows that have a label as well, with weight 1, to evaluate both.")


def sample(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved boundary.")],
    inputs: StreamedInputs = None,
    drawing: SampleOptions,
    rows: RowOutput,
    columns: ModelColumns,
    classes: ModelClasses,
    reporting: ReportOptions,
    reading: InputOptions,
    sampling: Intervals,
    running: RunOptions,
) -> None:
    """Draw the rows to label, with their sampling weights."""
    from uqcli.reports.stream.sample import KEYS

    refuse_swapped(artifact, inputs)
    if drawing.plan is not None:
        refuse_typed(("output", "budget"), "with --plan", "one of them: a plan writes no rows")
    provenance = check_outputs(
        reporting,
        None if drawing.plan is not None else rows.output or STDIO,
        reads=Reads.from_options(inputs, rules=[artifact, drawing.calibrator], reading=reading),
        running=running,
        metrics={**dict.fromkeys(KEYS, 0), "expected": None, "width": None},
        rows=True,
    )
    from uqcli.jobs.stream.sample import SampleRequest, run

    with OutputQueue() as queue:
        request = SampleRequest(
            data=data_without_columns(inputs, reading, running),
            rule=artifact,
            goal=drawing.for_,
            budget=drawing.budget,
            width=drawing.plan,
            calibrator=drawing.calibrator,
            label=drawing.label,
            label_may_be_missing=not is_typed("label"),
            keep_labelled=drawing.keep_labelled,
            output=rows_output(rows, queue, running),
            columns=column_overrides(columns, classes),
            seed=sampling.seed,
            confidence=sampling.confidence,
        )
        output = rows.output if drawing.plan is None else ""
        deliver_rows(run(request), reporting, provenance=provenance, output=output, queue=queue)

"""``uqcli sample``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from uqcli.base.choices import SampleGoal
from uqcli.base.errors import UsageError, words
from uqcli.base.files import OutputQueue
from uqcli.base.options import Argument, Intervals, RowOutput
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver_rows
from uqcli.jobs.inputs import Reads, column_overrides, data_without_columns, refuse_swapped, rows_output
from uqcli.jobs.shell import fills_only_gaps, is_typed, refuse_typed, without
from uqcli.sample.options import Population, SampleRequest

_WITH_CERTIFICATE: Final = words("with --for {}", SampleGoal.CERTIFICATE)


def sample(
    *,
    artifact: Annotated[str, Argument("ARTIFACT", "A saved boundary; leave it out for a certificate.")],
    inputs: options.StreamedInputs = None,
    request: SampleRequest,
    rows: RowOutput,
    columns: options.ModelColumns,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    intervals: Intervals,
    running: options.RunOptions,
) -> None:
    """Draw the rows to label, with their sampling weights."""
    from uqcli.sample.report import KEYS, certificate_keys

    keys: tuple[str, ...] = KEYS
    rule = artifact
    if request.for_ is SampleGoal.CERTIFICATE:
        keys = certificate_keys(below=request.max_omission is not None)
        rule, inputs = "", _without_rule(artifact, inputs)
        refuse_typed(
            ("plan", "calibrator", "keep_labelled", "prefix"),
            _WITH_CERTIFICATE,
            words("--for precision or recall"),
        )
        request = without(request, "plan", "calibrator", "keep_labelled")
        rows = replace(rows, prefix="")
    else:
        refuse_swapped(artifact, inputs)
        own = ("precision", "max_omission", "pilot", "positive")
        refuse_typed(own, words("with --for {}", request.for_), words("--for certificate"))
        # what is set for all commands does not say that rows with a label are not to be drawn
        request = without(request, *own, *(["label"] if fills_only_gaps("label") else []))
    writes = request.plan is None
    if not writes:
        refuse_typed(
            ("output", "budget"), words("and --plan cannot be combined"), remedy="a plan writes no rows"
        )
    context = check_outputs(
        reporting,
        rows.target if writes else None,
        reads=Reads.from_options(
            inputs, request.pilot, rules=[rule, request.calibrator] if rule else (), reading=reading
        ),
        running=running,
        metrics={**dict.fromkeys(keys, 0), **dict.fromkeys({"expected", "width"} & {*keys})},
        rows=True,
    )
    from uqcli.sample.run import run

    with OutputQueue() as queue:
        population = Population(
            data=data_without_columns(inputs, reading, running),
            rule=rule,
            label_may_be_missing=not is_typed("label"),
            columns=column_overrides(columns),
            intervals=intervals,
        )
        request = replace(request, population=population, output=rows_output(rows, queue, running))
        output = rows.output if writes else ""
        deliver_rows(run(request), reporting, context=context, output=output, queue=queue)


def _without_rule(first: str, inputs: list[str] | None) -> list[str]:
    """Return all arguments as inputs."""
    if first.lower().endswith(options.RULE_ENDING):
        raise UsageError(
            words("'{}' with --for certificate", first),
            expected="inputs alone",
            remedy="leave out the rule file",
        )
    return [first, *(inputs or ())]

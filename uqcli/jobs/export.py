"""``uqcli export``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated, Final

from uqcli.base.choices import ExportTarget
from uqcli.base.errors import UsageError, words
from uqcli.base.files import STDIO, OutputQueue
from uqcli.base.options import Argument
from uqcli.export.options import ExportRequest
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver_rows, queued
from uqcli.jobs.inputs import Reads, data_without_columns
from uqcli.jobs.shell import refuse_typed
from uqcli.stores.output import write_bytes


def export(
    *,
    artifact: Annotated[str, Argument("ARTIFACT", "A saved rule file, or -.")],
    request: ExportRequest,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Write a rule as SQL, Python or ONNX."""
    to, output, inputs = request.to, request.output, request.check
    if to is not ExportTarget.SQL:
        refuse_typed(("dialect", "table"), words("with --to {}", to), words("--to sql"))
    _refuse_other_ending(output, to)
    if to is ExportTarget.ONNX and output is None and sys.stdout.isatty():
        raise UsageError("an ONNX model for a terminal", expected="-o FILE")
    context = check_outputs(
        reporting,
        output or STDIO,
        reads=Reads.from_options(inputs, rules=[artifact], reading=reading),
        running=running,
        artifact=artifact,
    )
    from uqcli.export.run import run

    if inputs:
        request = replace(request, rows=data_without_columns(inputs, reading, running))
    result = run(replace(request, artifact=artifact))
    target = output or STDIO
    with OutputQueue() as queue:
        if result.failure is None and not queued((target, result.program), queue):
            write_bytes(target, result.program)
        deliver_rows(result, reporting, context=context, output=output, queue=queue)


_ENDINGS: Final = {".sql": ExportTarget.SQL, ".py": ExportTarget.PYTHON, ".onnx": ExportTarget.ONNX}


def _refuse_other_ending(output: str | None, target: ExportTarget) -> None:
    """Refuse the ending of another kind of program."""
    ending = PurePath(output or "").suffix.lower()
    if _ENDINGS.get(ending, target) is not target:
        right = next(ending for ending, program in _ENDINGS.items() if program is target)
        raise UsageError(
            words("--to {} with -o {}", target, output),
            expected=f"a name that ends in {right}",
            remedy=words("rename it, or give --to {}", _ENDINGS[ending]),
        )

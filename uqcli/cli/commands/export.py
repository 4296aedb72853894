"""``uqcli export``."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import Annotated, ClassVar, Final

import typer

from uqcli.choices import ExportTarget, SqlDialect
from uqcli.cli.conflicts import Reads
from uqcli.cli.deliver import check_outputs, deliver_rows, queued
from uqcli.cli.groups import choice, option
from uqcli.cli.inputs import data_without_columns
from uqcli.cli.options import InputOptions, ReportOptions, RunOptions
from uqcli.cli.priority import refuse_typed
from uqcli.errors import UsageError
from uqcli.files import STDIO, OutputQueue
from uqcli.records import dataclass
from uqcli.stores.output import write_bytes


@dataclass(frozen=True, kw_only=True)
class ProgramOptions:
    """The program to write."""

    panel: ClassVar = "Program"

    dialect: SqlDialect = choice(
        "duckdb, sqlite, postgres, bigquery, snowflake or spark.", SqlDialect.DUCKDB, metavar="NAME"
    )
    table: str | None = option("NAME", "Write a query of this table, not the expression alone.")
    output: str | None = option("FILE", "File of the program. (default: standard output)", also="-o")
    check: list[str] | None = option(
        "INPUT", "Compare with the rule on these rows and at every threshold (repeatable)."
    )


def export(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved rule file, or -.")],
    to: Annotated[
        ExportTarget,
        typer.Option("--to", help="sql, python or onnx.", metavar="TARGET", rich_help_panel="Program"),
    ],
    program: ProgramOptions,
    reporting: ReportOptions,
    reading: InputOptions,
    running: RunOptions,
) -> None:
    """Write a rule as SQL, Python or ONNX."""
    inputs = tuple(program.check or ())
    if to is not ExportTarget.SQL:
        refuse_typed(("dialect", "table"), f"with --to {to}", "--to sql")
    _refuse_other_ending(program.output, to)
    if to is ExportTarget.ONNX and program.output is None and sys.stdout.isatty():
        raise UsageError("an ONNX model for a terminal", expected="-o FILE")
    provenance = check_outputs(
        reporting,
        program.output or STDIO,
        reads=Reads.from_options(inputs, rules=[artifact], reading=reading),
        running=running,
    )
    from uqcli.jobs.export.run import ExportRequest, run

    result = run(
        ExportRequest(
            artifact=artifact,
            target=to,
            dialect=program.dialect,
            table=program.table,
            check=data_without_columns(inputs, reading, running) if inputs else None,
        )
    )
    target = program.output or STDIO
    with OutputQueue() as queue:
        if result.failure is None and not queued((target, result.program), queue):
            write_bytes(target, result.program)
        deliver_rows(result, reporting, provenance=provenance, output=program.output, queue=queue)


_ENDINGS: Final = {
    ".sql": ExportTarget.SQL,
    ".py": ExportTarget.PYTHON,
    ".onnx": ExportTarget.ONNX,
}


def _refuse_other_ending(output: str | None, target: ExportTarget) -> None:
    """Refuse the ending of another kind of program.

    Raises
    ------
    UsageError
        The name has one.
    """
    ending = PurePath(output or "").suffix.lower()
    if _ENDINGS.get(ending, target) is not target:
        right = next(ending for ending, program in _ENDINGS.items() if program is target)
        raise UsageError(
            f"--to {target} with -o {output}",
            expected=f"a name that ends in {right}",
            remedy=f"rename it, or give --to {_ENDINGS[ending]}",
        )

"""``uqcli show``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from uqcli.base.choices import ArtifactKind
from uqcli.base.files import STDIO, check_results_stream
from uqcli.cli import options
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.inputs import Reads, data_without_columns


def _print_schema(kind: ArtifactKind | None) -> None:
    """Print a schema and end, before a rule file is missed (a callback of ``--schema``)."""
    if kind is None:
        return
    from uqcli.rules.schemas import schema_text

    check_results_stream(STDIO, "redirect it to a file")
    sys.stdout.write(schema_text(kind))
    raise typer.Exit


def show(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved rule file, or -.")],
    other: Annotated[
        str | None,
        typer.Argument(metavar="[OTHER]", show_default=False, help="A second one: show what differs."),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INPUT",
            help="Count the rows that only one of two boundaries flags. (repeatable)",
            rich_help_panel="Input",
        ),
    ] = None,
    schema: Annotated[  # noqa: ARG001  its callback does the work
        ArtifactKind | None,
        typer.Option(
            metavar="KIND",
            is_eager=True,
            callback=_print_schema,
            help="Print the JSON Schema of a grid, boundary, calibrator, conformal, shift or watch.",
        ),
    ] = None,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Explain a saved rule in words, or how two differ."""
    reads = Reads.from_options(on, rules=[artifact, other], reading=reading)
    context = check_outputs(
        reporting, None, reads=reads, running=running, artifact=artifact if other is None else None
    )
    from uqcli.show.run import show_one, show_two

    if other is None and not on:
        deliver(show_one(artifact), reporting, context=context)
    else:
        data = data_without_columns(on, reading, running) if on else None
        deliver(show_two(artifact, other, data), reporting, context=context)

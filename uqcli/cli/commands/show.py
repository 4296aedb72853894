"""``uqcli show``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli.cli import options
from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.inputs import Reads, data_without_columns


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

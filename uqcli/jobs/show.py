"""``uqcli show``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from uqcli.base.choices import ArtifactKind
from uqcli.base.options import Argument, choice, several
from uqcli.base.records import dataclass
from uqcli.jobs import options
from uqcli.jobs.deliver import check_outputs, deliver
from uqcli.jobs.inputs import Reads, data_without_columns


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Rows on which two boundaries are compared; and a schema, which the shell prints in place of a rule."""

    panel: ClassVar[Mapping[str, str | None]] = MappingProxyType({"on": "Input", "schema": None})

    on: tuple[str, ...] = several(
        "INPUT", "Count the rows that only one of two boundaries flags. (repeatable)", guarded=True
    )
    schema: ArtifactKind | None = choice(
        "Print the JSON Schema of a grid, boundary, calibrator, conformal, shift or watch.",
        metavar="KIND",
        guarded=True,
        is_eager=True,
    )


def show(
    *,
    artifact: Annotated[str, Argument("ARTIFACT", "A saved rule file, or -.")],
    other: Annotated[
        str | None, Argument("[OTHER]", "A second one: show what differs.", show_default=False)
    ] = None,
    compared: ShowOptions,
    reporting: options.ReportOptions,
    reading: options.InputOptions,
    running: options.RunOptions,
) -> None:
    """Explain a saved rule in words, or how two differ."""
    reads = Reads.from_options(compared.on, rules=[artifact, other], reading=reading)
    context = check_outputs(
        reporting, None, reads=reads, running=running, artifact=artifact if other is None else None
    )
    from uqcli.show.run import show_one, show_two

    if other is None and not compared.on:
        deliver(show_one(artifact), reporting, context=context)
    else:
        data = data_without_columns(compared.on, reading, running) if compared.on else None
        deliver(show_two(artifact, other, data), reporting, context=context)

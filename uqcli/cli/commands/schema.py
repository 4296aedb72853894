"""``uqcli schema``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from uqcli.base.choices import ArtifactKind
from uqcli.base.files import STDIO, check_results_stream
from uqcli.cli import options


def schema(
    *,
    kind: Annotated[ArtifactKind, typer.Argument(metavar="KIND", help="Kind of rule file.")],
    running: options.RunOptions,  # noqa: ARG001  every command has them
) -> None:
    """Print the JSON Schema of a kind of rule file."""
    from uqcli.rules.schemas import schema_text

    check_results_stream(STDIO, "redirect it to a file")
    sys.stdout.write(schema_text(kind))

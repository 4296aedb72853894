"""``uqcli show``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.options import ReportOptions, RunOptions
from uqcli.cli.places import Reads


def show(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved model, or -.")],
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Say in words what a saved model does."""
    origin = check_outputs(reporting, None, reads=Reads.of(models=[artifact]), running=running)
    from uqcli.jobs.show import run

    deliver(run(artifact), reporting, origin=origin)

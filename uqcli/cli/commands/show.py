"""``uqcli show``."""

from __future__ import annotations

from typing import Annotated

import typer

from uqcli.cli.deliver import check_outputs, deliver
from uqcli.cli.options import ReportOptions, RunOptions
from uqcli.cli.places import Reads


def show(
    *,
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A saved rule file, or -.")],
    reporting: ReportOptions,
    running: RunOptions,
) -> None:
    """Explain a saved rule in words."""
    provenance = check_outputs(reporting, None, reads=Reads.of(models=[artifact]), running=running)
    from uqcli.jobs.show import run

    deliver(run(artifact), reporting, provenance=provenance)

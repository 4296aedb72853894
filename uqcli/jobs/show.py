"""``uqcli show``: describe a rule."""

from __future__ import annotations

from uqcli.artifacts.codec import load
from uqcli.jobs.result import Result
from uqcli.reports.show import ShowReport


def run(artifact: str) -> Result[ShowReport, None]:
    """Load a rule file.

    Raises
    ------
    DataError, ArtifactError
        It is missing, or is no rule file.
    """
    return Result(report=ShowReport(model=load(artifact)), artifact=None)

"""``uqcli show``: a saved model in words."""

from __future__ import annotations

from uqcli.artifacts.codec import load
from uqcli.jobs.result import Result
from uqcli.reports.show import ShowReport


def run(artifact: str) -> Result[ShowReport, None]:
    """Read an artifact.

    Raises
    ------
    DataError, ArtifactError
        It is missing, or is not an artifact.
    """
    return Result(report=ShowReport(model=load(artifact)), artifact=None)

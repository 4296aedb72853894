"""``uqcli show``: a saved model in words."""

from __future__ import annotations

from uqcli.artifacts.codec import load
from uqcli.reports.show import ShowReport


def run(artifact: str) -> ShowReport:
    """Read an artifact.

    Raises
    ------
    DataError, ArtifactError
        It is missing, or is not an artifact.
    """
    return ShowReport(artifact=load(artifact))

"""``uqcli show``: a saved model in words."""

from __future__ import annotations

from uqcli.artifacts.codec import load
from uqcli.artifacts.models import GridArtifact
from uqcli.jobs.bin import saved_report
from uqcli.reports.document import Report
from uqcli.reports.show import ShowReport


def run(artifact: str) -> Report:
    """Read an artifact.

    Raises
    ------
    DataError, ArtifactError
        It is missing, or is not an artifact.
    """
    saved = load(artifact)
    return saved_report(saved) if isinstance(saved, GridArtifact) else ShowReport(artifact=saved)

"""``uqcli show``: a saved model in words."""

from __future__ import annotations

from uqcli.artifacts.codec import load
from uqcli.artifacts.models import CalibratorArtifact, ConformalArtifact, GridArtifact, ShiftArtifact
from uqcli.document import Report
from uqcli.reports.calibrate.calibrator import ShowCalibratorReport
from uqcli.reports.conformal.report import ShowConformalReport
from uqcli.reports.shift.report import ShowShiftReport
from uqcli.reports.show import ShowReport


def run(artifact: str) -> Report:
    """Read an artifact.

    Raises
    ------
    DataError, ArtifactError
        It is missing, or is not an artifact.
    """
    saved = load(artifact)
    if isinstance(saved, GridArtifact):
        from uqcli.jobs.bin.run import saved_report  # the other kinds need nothing that counts rows

        return saved_report(saved)
    if isinstance(saved, CalibratorArtifact):
        return ShowCalibratorReport(artifact=saved)
    if isinstance(saved, ConformalArtifact):
        return ShowConformalReport(artifact=saved)
    if isinstance(saved, ShiftArtifact):
        return ShowShiftReport(artifact=saved)
    return ShowReport(artifact=saved)

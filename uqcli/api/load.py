"""Reading a saved model of whatever kind."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from uqcli.api.fitted import Fitted
from uqcli.artifacts.codec import load_unedited
from uqcli.choices import ArtifactKind

_CLASSES: Final = {
    ArtifactKind.GRID: ("bin.counts", "Grid"),
    ArtifactKind.BOUNDARY: ("boundary.boundary", "Boundary"),
    ArtifactKind.CALIBRATOR: ("calibrate.calibrator", "Calibrator"),
    ArtifactKind.CONFORMAL: ("conformal.sets", "ConformalSets"),
    ArtifactKind.SHIFT: ("shift.weights", "ShiftWeights"),
}
"""Modules here, and the class for an artifact of each kind."""


def load(path: str) -> Fitted[Any]:
    """Read what ``save`` or a command wrote; its kind tells what it becomes.

    Raises
    ------
    DataError, ArtifactError
        The file is missing, or is no artifact.
    """
    artifact = load_unedited(str(path))
    module, name = _CLASSES.get(artifact.kind, ("fitted", "Fitted"))
    made: Fitted[Any] = getattr(import_module(f"uqcli.api.{module}"), name)(artifact=artifact)
    return made

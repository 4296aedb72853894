"""Load a rule file of any kind."""

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
"""Module and class by kind of rule file."""


def load(path: str) -> Fitted[Any]:
    """Load a rule file written by ``save`` or a command, as an object of its kind.

    Raises
    ------
    DataError, ArtifactError
        The file is missing or is not a rule file.
    """
    artifact = load_unedited(str(path))
    module, name = _CLASSES.get(artifact.kind, ("fitted", "Fitted"))
    fitted: Fitted[Any] = getattr(import_module(f"uqcli.api.{module}"), name)(artifact=artifact)
    return fitted

"""Load a rule file of any kind."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from uqcli.api.fitted import Fitted
from uqcli.base.choices import ArtifactKind
from uqcli.rules.codec import load_unedited

_CLASSES: Final = {
    ArtifactKind.GRID: ("bin", "Grid"),
    ArtifactKind.BOUNDARY: ("boundary", "Boundary"),
    ArtifactKind.CALIBRATOR: ("calibrate", "Calibrator"),
    ArtifactKind.CONFORMAL: ("conformal", "ConformalSets"),
    ArtifactKind.SHIFT: ("shift", "ShiftWeights"),
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

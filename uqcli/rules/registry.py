"""Kinds of rule files: each is a module of its subject, with a struct ``<Name>Artifact``.

Modules are imported on demand, so that reading a boundary does not import prediction sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from uqcli.base.choices import ArtifactKind
from uqcli.rules.saved import Saved

_MODULES: Final[Mapping[ArtifactKind, str]] = MappingProxyType(
    {
        ArtifactKind.GRID: "bin.rule",
        ArtifactKind.BOUNDARY: "boundary.rule",
        ArtifactKind.CALIBRATOR: "calibrate.rule",
        ArtifactKind.CONFORMAL: "conformal.rule",
        ArtifactKind.SHIFT: "shift.rule",
        ArtifactKind.WATCH: "watch.state",
    }
)


def model_of(kind: ArtifactKind) -> type[Saved]:
    """Import the struct of a kind."""
    module = import_module(f"uqcli.{_MODULES[kind]}")
    model: type[Saved] = getattr(module, f"{kind.title()}Artifact")
    return model

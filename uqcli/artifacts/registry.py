"""Kinds of rule files by name: each is the module of that name, with a struct ``<Name>Artifact``.

Modules are imported on demand, so that reading a boundary does not import prediction sets.
"""

from __future__ import annotations

from importlib import import_module

from uqcli.artifacts.saved import Saved
from uqcli.choices import ArtifactKind


def model_of(kind: ArtifactKind) -> type[Saved]:
    """Import the struct of a kind."""
    module = import_module(f"uqcli.artifacts.{kind}")
    model: type[Saved] = getattr(module, f"{kind.title()}Artifact")
    return model

"""Kinds of artifacts by name: each is the module of its name, with a struct ``<Name>Artifact``.

A module is loaded when its kind is met, so reading a boundary does not load what sets of classes need.
"""

from __future__ import annotations

from importlib import import_module

from uqcli.artifacts.saved import Saved
from uqcli.choices import ArtifactKind


def model_of(kind: ArtifactKind) -> type[Saved]:
    """The struct of a kind."""
    module = import_module(f"uqcli.artifacts.{kind}")
    model: type[Saved] = getattr(module, f"{kind.title()}Artifact")
    return model

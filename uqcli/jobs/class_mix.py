"""Class weights of a shift artifact for models of two classes."""

from __future__ import annotations

from uqcli.artifacts.codec import load_kind
from uqcli.artifacts.models import ShiftArtifact
from uqcli.errors import UsageError
from uqcli.jobs.class_rows import BINARY
from uqcli.methods.boundary.target import ClassMix


def load_mix(name: str, positive: str | None) -> tuple[ClassMix, ShiftArtifact]:
    """Weights of the positive and of the other class.

    Parameters
    ----------
    positive
        Text of the positive label, or None for 0/1.

    Raises
    ------
    DataError, ArtifactError, UsageError
        The artifact is missing or of another kind, or is not about these two classes.
    """
    shift = load_kind(name, ShiftArtifact)
    wanted = BINARY[1] if tuple(shift.classes) == BINARY else positive
    if len(shift.classes) != 2 or wanted not in shift.classes:
        raise UsageError(
            f"class weights are of {', '.join(shift.classes[:12])}",
            expected="weights of two classes, 0 and 1 or with the positive label among them",
        )
    at = shift.classes.index(wanted)
    return ClassMix(positive=shift.weights[at], negative=shift.weights[1 - at]), shift

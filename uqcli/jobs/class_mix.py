"""Class weights of a shift artifact for models of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uqcli.artifacts.codec import load_kind
from uqcli.artifacts.models import ShiftArtifact
from uqcli.errors import UsageError
from uqcli.jobs.class_rows import BINARY
from uqcli.kernels.nonconformity import Matrix
from uqcli.methods.boundary.target import ClassMix


@dataclass(frozen=True, kw_only=True)
class TargetMix:
    """Weights of the two classes in a target.

    Attributes
    ----------
    shift
        The artifact they stand in.
    draws : float64, shape (B, 2), or None
        Resampled weights of the negative and of the positive class.
    """

    mix: ClassMix
    shift: ShiftArtifact
    draws: Matrix | None


def load_mix(name: str, positive: str | None) -> TargetMix:
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
    mix = ClassMix(positive=shift.weights[at], negative=shift.weights[1 - at])
    return TargetMix(mix=mix, shift=shift, draws=draws_of(shift, [shift.classes[1 - at], wanted]))


def draws_of(shift: ShiftArtifact, classes: Sequence[str]) -> Matrix | None:
    """Resampled class weights in the order of some classes, shape (B, C); None where there are none."""
    if not shift.draws:
        return None
    columns = [shift.classes.index(name) for name in classes]
    return np.array(shift.draws)[:, columns]

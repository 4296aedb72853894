"""Load class weights for rules of two classes."""

from __future__ import annotations

from uqcli.base.class_counts import Matrix
from uqcli.base.errors import UsageError
from uqcli.base.records import dataclass
from uqcli.engines.probabilities import BINARY
from uqcli.rules.codec import load_kind
from uqcli.rules.result import inherit_doubts
from uqcli.shift.rule import ShiftArtifact
from uqcli.shift.target import BinaryWeights


@dataclass(frozen=True, kw_only=True)
class TargetWeights:
    """Class weights of target data for two classes.

    Attributes
    ----------
    shift
        Their rule file.
    draws : float64, shape (B, 2), or None
        Bootstrap draws of the weights (negative, positive).
    """

    class_weights: BinaryWeights
    shift: ShiftArtifact
    draws: Matrix | None


SavedShift = str | ShiftArtifact
"""Path of class weights, or the class weights themselves."""


def load_shift(shift: SavedShift) -> ShiftArtifact:
    """Load class weights given as a path or an object.

    Raises
    ------
    DataError, ArtifactError
        The rule file is missing or of another kind.
    """
    loaded = load_kind(shift, ShiftArtifact) if isinstance(shift, str) else shift
    inherit_doubts(loaded)
    return loaded


def target_weights_of(shift: ShiftArtifact, positive: str | None) -> TargetWeights:
    """Return the weights of the positive and the other class.

    Parameters
    ----------
    positive
        Text of the positive label, or None for 0/1.

    Raises
    ------
    UsageError
        The class weights are for other classes.
    """
    positive_class = BINARY[1] if tuple(shift.classes) == BINARY else positive
    if len(shift.classes) != 2 or positive_class not in shift.classes:
        raise UsageError(
            f"class weights are of {', '.join(shift.classes[:12])}",
            expected="weights of two classes, 0 and 1 or with the positive label among them",
        )
    positive_index = shift.classes.index(positive_class)
    class_weights = BinaryWeights(
        positive=shift.weights[positive_index],
        negative=shift.weights[1 - positive_index],
        refuted=shift.refuted,
    )
    return TargetWeights(
        class_weights=class_weights,
        shift=shift,
        draws=shift.draws_for([shift.classes[1 - positive_index], positive_class]),
    )

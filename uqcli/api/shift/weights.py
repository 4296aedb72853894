"""Estimate class weights under label shift from arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uqcli import defaults
from uqcli.api.columns import Classes, Column, class_rows
from uqcli.api.fitted import Fitted
from uqcli.api.options import choice
from uqcli.artifacts.codec import load_kind
from uqcli.artifacts.shift import ShiftArtifact
from uqcli.choices import Confusion, ShiftEstimator
from uqcli.counts import Floats
from uqcli.document import Estimate
from uqcli.jobs.shift.run import ShiftRequest, run


@dataclass(frozen=True, kw_only=True, repr=False)
class ShiftWeights(Fitted[ShiftArtifact]):
    """Class weights under label shift: w = q/p, target prior over source prior."""

    _saved_as: ClassVar[type[Any]] = ShiftArtifact

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, in order."""
        return tuple(self.artifact.classes)

    @property
    def weights(self) -> Floats:
        """Class weights; float64, shape (C,)."""
        return np.array(self.artifact.weights)

    @property
    def target_prior(self) -> Floats:
        """Class priors in the target data; float64, shape (C,)."""
        return np.array(self.artifact.target_prior)

    @property
    def p_value(self) -> float | None:
        """p-value of "predictions have the same distribution in source and target"."""
        return self.artifact.shift_p

    @property
    def intervals(self) -> dict[str, Estimate]:
        """Weight and interval by class; empty if no valid interval exists."""
        estimates = self.artifact.estimates()
        return {name: estimate for name, estimate in estimates.items() if isinstance(estimate, Estimate)}


Shift = ShiftWeights | str
"""Class weights, or the path of a rule file."""


def shift_artifact(shift: Shift) -> ShiftArtifact:
    """Load class weights given as an object or a path.

    Raises
    ------
    DataError, ArtifactError
        It cannot be read, or is of another kind.
    """
    return shift.artifact if isinstance(shift, ShiftWeights) else load_kind(str(shift), ShiftArtifact)


def shift_weights(
    probability: Classes,
    label: Column,
    target: Classes | None = None,
    *,
    classes: Sequence[str] | None = None,
    weight: Column | None = None,
    estimator: ShiftEstimator | str = defaults.SHIFT_ESTIMATOR,
    confusion: str = "hard",
    prior: Sequence[float] | None = None,
    bootstrap: int | None = None,
    confidence: float = defaults.CONFIDENCE,
    seed: int = defaults.SEED,
) -> ShiftWeights:
    """Estimate class weights q/p from unlabelled target data [LS sec. 4].

    Same as ``uqcli shift``.

    Parameters
    ----------
    probability : shape (n, C), or (n,) for the probability of label 1
        Class probabilities of labelled rows: an array, or a data frame with one column per class.
    label : shape (n,)
        Class names or class indices.
    target : shape (m, C) or (m,)
        Class probabilities of unlabelled target data; not needed for estimator known.
    classes
        Class names in the order of the columns.
    prior
        Class priors in the target data, for estimator known.
    bootstrap
        Bootstrap resamples for the intervals; None enables them for data of moderate size.

    Raises
    ------
    UsageError, DataError
        An option or a value is out of range.
    InfeasibleError
        The weights are not identified.

    Examples
    --------
    >>> found = shift_weights([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], [0.1, 0.9, 0.8, 0.7], bootstrap=0)
    >>> found.weights.tolist()
    [0.5, 1.5]
    """
    result = run(
        ShiftRequest(
            data=class_rows(probability, label, classes=classes, weight=weight),
            target=None if target is None else class_rows(target, classes=classes).frame,
            estimator=choice("estimator", ShiftEstimator, estimator),
            confusion=choice("confusion", Confusion, confusion),
            prior=None if prior is None else tuple(float(value) for value in prior),
            bootstrap=bootstrap,
            confidence=confidence,
            seed=seed,
        )
    )
    if result.artifact is None:
        raise result.failure or AssertionError("no class weights and no reason")
    notes = tuple(result.report.payload()["notes"])
    return ShiftWeights(artifact=result.artifact, notes=notes, report=result.report)

"""Estimate class weights under label shift from arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from uqcli.api.arguments import CLUSTER, DAY, Classes, as_one_run, choice, class_rows, present
from uqcli.api.fitted import Fitted, used
from uqcli.base import defaults
from uqcli.base.choices import ConfusionForm, ShiftEstimator
from uqcli.base.counts import Floats
from uqcli.base.errors import UsageError
from uqcli.base.options import OptionalResampling
from uqcli.base.records import dataclass
from uqcli.estimates.estimate import Estimate
from uqcli.jobs.tables import Column
from uqcli.rules.codec import load_kind
from uqcli.rules.saved import given
from uqcli.shift.options import ShiftRequest
from uqcli.shift.rule import ShiftArtifact
from uqcli.shift.run import run


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
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
    def mixture_p_value(self) -> float | None:
        """p-value of "the target is a mixture of the classes" (label shift); None without an answer."""
        return given(self.artifact.mixture_p)

    @property
    def intervals(self) -> dict[str, Estimate]:
        """Weight and interval by class; empty if no valid interval exists."""
        estimates = self.artifact.estimates()
        return {name: estimate for name, estimate in estimates.items() if isinstance(estimate, Estimate)}


Shift = ShiftWeights | str
"""Class weights, or the path of a rule file."""


def shift_artifact(shift: Shift | None) -> ShiftArtifact | None:
    """Load class weights given as an object or a path, if any."""
    if shift is None:
        return None
    return used(shift) if isinstance(shift, ShiftWeights) else load_kind(str(shift), ShiftArtifact)


@as_one_run
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
    day: Column | None = None,
    target_day: Column | None = None,
    cluster: Column | None = None,
    target_cluster: Column | None = None,
) -> ShiftWeights:
    """Estimate class weights q/p from unlabelled target data [LS sec. 4]."""
    more = present(**{DAY: day, CLUSTER: cluster})
    target_more = present(**{DAY: target_day, CLUSTER: target_cluster})
    if target is not None and set(more) != set(target_more):
        raise UsageError(
            f"{' and '.join(more) or 'no day'} for the labelled rows, {' and '.join(target_more) or 'none'} "
            "for the target",
            expected="days, or clusters, of both or of neither",
        )
    result = run(
        ShiftRequest(
            data=class_rows(probability, label, classes=classes, weight=weight, more=more),
            target=None if target is None else class_rows(target, classes=classes, more=target_more).frame,
            estimator=choice("estimator", ShiftEstimator, estimator),
            confusion=choice("confusion", ConfusionForm, confusion),
            prior=None if prior is None else tuple(float(value) for value in prior),
            resampling=OptionalResampling(bootstrap=bootstrap, confidence=confidence, seed=seed),
            day=None if day is None else DAY,
            cluster=None if cluster is None else CLUSTER,
        )
    )
    if result.artifact is None:
        raise result.failure or AssertionError("no class weights and no reason")
    notes = tuple(result.report.payload()["notes"])
    return ShiftWeights(artifact=result.artifact, notes=notes, report=result.report)

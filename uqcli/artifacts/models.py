"""The saved models as structs; their JSON Schemas are derived from here."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from uqcli.choices import (
    Algorithm,
    AlgorithmChoice,
    ArtifactKind,
    Binning,
    CalibrationMethod,
    ConformalMethod,
    ConformalMode,
    Confusion,
    ConstraintKind,
    LeafMethod,
    OnInvalid,
    Partitioner,
    ShiftEstimator,
    SplitCriterion,
)
from uqcli.defaults import FORMAT_VERSION, VERSION
from uqcli.methods.calibrate.maps import CalibrationMap, UncertaintyMap

Count = Annotated[int, Meta(ge=0)]
Bins = Annotated[int, Meta(ge=1)]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The rows an artifact was made from: physical rows, whatever their weight.

    Without number of positives where labels name classes.
    """

    rows: Count
    positives: Count | None
    dropped: Count
    columns: dict[str, str]


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What every artifact says of itself."""

    kind: ArtifactKind
    format_version: Annotated[int, Meta(ge=1)] = FORMAT_VERSION
    uqcli_version: str = VERSION
    source: Source


class GridParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shaped a grid."""

    binning: Binning
    uncertainty_bins: Bins
    score_bins: Bins | None
    n_min: Bins | None
    n_max: Bins | None
    on_invalid: OnInvalid
    positive: str | None


class GridArtifact(Saved, frozen=True, kw_only=True):
    """Counts of rows in score x uncertainty cells; a value v is in bin #{edges <= v}."""

    parameters: GridParameters
    binning: Binning
    uncertainty_edges: list[float]
    score_edges: Annotated[list[list[float]], Meta(min_length=1)]
    count: Annotated[list[list[Count]], Meta(min_length=1)]
    positives: Annotated[list[list[Count]], Meta(min_length=1)]

    @property
    def needs_uncertainty(self) -> bool:
        """Whether cells look at the uncertainty."""
        return bool(self.uncertainty_edges)


class SavedConstraint(msgspec.Struct, frozen=True, kw_only=True):
    """What the boundary had to keep; the value as it was typed."""

    kind: ConstraintKind
    value: str


class BoundaryParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shaped the boundary; null where the algorithm does not use one."""

    algorithm: AlgorithmChoice
    binning: Binning | None
    uncertainty_bins: Bins
    score_bins: Bins | Literal["all"]
    constraint: SavedConstraint
    on_invalid: OnInvalid
    positive: str | None


class SavedRecalibration(msgspec.Struct, frozen=True, kw_only=True):
    """Scores are raised by coefficient * clip((uncertainty - low) / (high - low), 0, 1)."""

    coefficient: float
    low: float
    high: float


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """What the boundary selects on the rows it was found on, by weight."""

    selected: Count
    true_positives: Count
    rows: Count
    positives: Count
    precision: float
    recall: float


class SavedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Weights of the negative and of the positive class in the target, and the precision there."""

    weights: Annotated[list[Annotated[float, Meta(gt=0)]], Meta(min_length=2, max_length=2)]
    precision: float


class BoundaryArtifact(Saved, frozen=True, kw_only=True):
    """A decision boundary: a row is positive iff its score reaches its uncertainty bin's threshold."""

    parameters: BoundaryParameters
    algorithm: Algorithm
    constraint: SavedConstraint
    uncertainty_edges: list[float]
    thresholds: Annotated[list[float | None], Meta(min_length=1)]
    recalibration: SavedRecalibration | msgspec.UnsetType = msgspec.UNSET
    fit: Fit
    target: SavedTarget | msgspec.UnsetType = msgspec.UNSET

    @property
    def needs_uncertainty(self) -> bool:
        """Whether decisions look at the uncertainty."""
        return len(self.thresholds) > 1 or self.recalibration is not msgspec.UNSET


class CalibratorParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shaped a calibrator; null where the method does not use one."""

    method: CalibrationMethod
    n_bins: Bins | None
    uncertainty_bins: Bins | None
    features: list[str] | None
    partition: list[str] | None
    partitioner: Partitioner | None
    max_depth: Bins | None
    min_leaf: Count | None
    split: SplitCriterion | None
    leaf_method: LeafMethod | None
    seed: Count
    on_invalid: OnInvalid
    positive: str | None


class CalibratorArtifact(Saved, frozen=True, kw_only=True):
    """A map from scores to probabilities.

    ``logit``: scores are real numbers such as logits. ``undersampled``: negatives were kept with probability
    1/undersampled where the model learned; the odds are divided by it before the map. ``weights``: of the
    negative and of the positive class in the target; the odds are multiplied by their ratio after the map.
    """

    parameters: CalibratorParameters
    method: CalibrationMethod
    logit: bool
    undersampled: Annotated[float, Meta(ge=1)]
    calibration: CalibrationMap
    weights: Annotated[list[Annotated[float, Meta(ge=0)]], Meta(min_length=2, max_length=2)] | None

    @property
    def needs_uncertainty(self) -> bool:
        """Whether the map looks at the uncertainty."""
        return isinstance(self.calibration, UncertaintyMap)


class ConformalParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shaped conformal sets; alphas as they were typed."""

    method: ConformalMethod
    mode: ConformalMode
    alpha: str
    alpha_by_class: dict[str, str] | None
    randomize: bool
    seed: Count
    by: str | None
    on_invalid: OnInvalid
    positive: str | None


class SavedGroups(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds of groups of rows: one line for each name, the class's threshold in each column.

    ``calibration_rows`` are those of each group, by weight; None where version 0.1.0 wrote the artifact.
    """

    column: str
    names: Annotated[list[str], Meta(min_length=1)]
    thresholds: Annotated[list[list[float]], Meta(min_length=1)]
    calibration_rows: list[Count] | None = None


class ConformalArtifact(Saved, frozen=True, kw_only=True):
    """Sets of classes: y is in the set of x iff its non-conformity score is at most its threshold.

    ``calibration_rows`` are those of each class, by weight; None where version 0.1.0 wrote the artifact.
    """

    parameters: ConformalParameters
    method: ConformalMethod
    mode: ConformalMode
    alpha: Annotated[float, Meta(gt=0, lt=1)]
    classes: Annotated[list[str], Meta(min_length=2)]
    thresholds: Annotated[list[float], Meta(min_length=2)]
    weights: list[float] | None
    groups: SavedGroups | None
    calibration_rows: list[Count] | None = None

    needs_uncertainty: ClassVar[bool] = False


class ShiftParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shaped class weights."""

    estimator: ShiftEstimator
    confusion: Confusion | None
    prior: list[float] | None
    bootstrap: Count
    confidence: float | None
    seed: Count | None
    on_invalid: OnInvalid
    positive: str | None


class ShiftArtifact(Saved, frozen=True, kw_only=True):
    """How much more frequent each class is in the target than in the source: w = q/p.

    Each line of ``draws`` holds the weights of one resampling of source and target, as they came out: what
    measures in the target take their uncertainty from.
    """

    parameters: ShiftParameters
    estimator: ShiftEstimator
    classes: Annotated[list[str], Meta(min_length=2)]
    weights: Annotated[list[Annotated[float, Meta(ge=0)]], Meta(min_length=2)]
    source_prior: list[float]
    target_prior: list[float]
    interval: list[list[float]] | None
    shift_p: Annotated[float, Meta(ge=0, le=1)] | None
    draws: list[list[float]] | None = None

    needs_uncertainty: ClassVar[bool] = False


Artifact = BoundaryArtifact | GridArtifact | CalibratorArtifact | ConformalArtifact | ShiftArtifact

MODELS: dict[ArtifactKind, type[Artifact]] = {
    ArtifactKind.GRID: GridArtifact,
    ArtifactKind.BOUNDARY: BoundaryArtifact,
    ArtifactKind.CALIBRATOR: CalibratorArtifact,
    ArtifactKind.CONFORMAL: ConformalArtifact,
    ArtifactKind.SHIFT: ShiftArtifact,
}

"""The saved models as structs; their JSON Schemas are derived from here."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from uqcli.choices import Algorithm, ArtifactKind, Binning, ConstraintKind, OnInvalid
from uqcli.defaults import FORMAT_VERSION, VERSION

Count = Annotated[int, Meta(ge=0)]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The rows an artifact was made from: physical rows, whatever their weight."""

    rows: Count
    positives: Count
    dropped: Count
    columns: dict[str, str]


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """What the boundary had to keep; the value as it was typed."""

    kind: ConstraintKind
    value: str


class BoundaryParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shaped the boundary; null where the algorithm does not use one."""

    algorithm: Algorithm
    binning: Binning | None
    uncertainty_bins: Annotated[int, Meta(ge=1)]
    score_bins: Annotated[int, Meta(ge=1)] | Literal["all"]
    precision: str
    on_invalid: OnInvalid
    positive: str | None


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """What the boundary selects on the rows it was found on, by weight."""

    selected: Count
    true_positives: Count
    rows: Count
    positives: Count
    precision: float
    recall: float


class BoundaryArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """A decision boundary: a row is positive iff its score reaches its uncertainty bin's threshold."""

    kind: ArtifactKind
    format_version: Annotated[int, Meta(ge=1)] = FORMAT_VERSION
    uqcli_version: str = VERSION
    source: Source
    parameters: BoundaryParameters
    algorithm: Algorithm
    constraint: Constraint
    uncertainty_edges: list[float]
    thresholds: Annotated[list[float | None], Meta(min_length=1)]
    fit: Fit


Artifact = BoundaryArtifact

MODELS: dict[ArtifactKind, type[Artifact]] = {ArtifactKind.BOUNDARY: BoundaryArtifact}

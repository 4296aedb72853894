"""Fitted calibration maps: plain numbers, saved in artifacts as they stand.

A map reads scores on one of two scales: probabilities in [0, 1], or real scores such as logits.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0)]


class LogisticMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map", tag="logistic"):
    """``sigmoid(intercept + slope * log-odds)``: Platt scaling; temperature scaling where intercept is 0."""

    intercept: float
    slope: float


class BetaMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map", tag="beta"):
    """``sigmoid(a ln s - b ln(1-s) + c)``."""

    a: float
    b: float
    c: float


class IsotonicMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map", tag="isotonic"):
    """Linear between the points (x, y), flat outside; both ascend."""

    x: Annotated[list[float], Meta(min_length=1)]
    y: Annotated[list[float], Meta(min_length=1)]


class HistogramMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map", tag="histogram"):
    """The rate of each bin; a score v is in bin #{edges <= v}.

    An empty bin has the rate of the next bin above that holds rows, and no error. With the stated
    confidence, all rates are within ``error`` of the truth at once [LS Theorem 3].
    """

    edges: list[float]
    rate: Annotated[list[float], Meta(min_length=1)]
    count: list[Count]
    error: list[Annotated[float, Meta(ge=0, le=1)] | None]
    confidence: Annotated[float, Meta(gt=0, lt=1)]


class IdentityMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map", tag="identity"):
    """The score itself, as a probability."""


ScoreMap = LogisticMap | BetaMap | IsotonicMap | HistogramMap | IdentityMap


class UncertaintyMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map", tag="by-uncertainty"):
    """One isotonic map for each uncertainty bin [UB sec. 5]; an uncertainty v is in bin #{edges <= v}."""

    uncertainty_edges: list[float]
    maps: Annotated[list[IsotonicMap], Meta(min_length=1)]
    count: list[Count]


class FeatureColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A column that tells rows apart: numbers, or texts with their known levels; others are "other"."""

    name: str
    levels: list[str] | None = None


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node of a tree: a leaf, or a question whose rows go left or right.

    Attributes
    ----------
    leaf
        Number of the leaf, or None for a question.
    feature
        Name of the column.
    threshold
        Numbers up to it go left.
    levels
        Texts that go left.
    other_left, missing_left
        Whether texts that are no level, and nulls, go left.
    left, right
        Positions of the nodes that follow.
    """

    leaf: int | None = None
    feature: str | None = None
    threshold: float | None = None
    levels: list[str] | None = None
    other_left: bool = False
    missing_left: bool = False
    left: int | None = None
    right: int | None = None


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of one part, and their calibration.

    Attributes
    ----------
    rule
        Which rows, in words.
    rows, positives
        What the leaf holds of the rows it was calibrated on.
    own
        Whether the map was fitted on the leaf's own rows; if not, on those of a larger part around it.
    """

    rule: str
    rows: Count
    positives: Count
    own: bool
    calibration: ScoreMap


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """A partition by questions, the first node first, with one calibration for each leaf."""

    nodes: Annotated[list[Node], Meta(min_length=1)]
    leaves: Annotated[list[Leaf], Meta(min_length=1)]


class TreesMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map", tag="trees"):
    """Heterogeneous calibration [HC Alg. 1]: one tree, the mean of many, or one after the other."""

    features: Annotated[list[FeatureColumn], Meta(min_length=1)]
    combine: Literal["mean", "sequence"]
    trees: Annotated[list[Tree], Meta(min_length=1)]


class GroupsMap(msgspec.Struct, frozen=True, kw_only=True, tag_field="map", tag="groups"):
    """One calibration for each combination of levels; others take the last leaf, fitted on all rows."""

    features: Annotated[list[FeatureColumn], Meta(min_length=1)]
    groups: Annotated[list[list[str | None]], Meta(min_length=1)]
    leaves: Annotated[list[Leaf], Meta(min_length=1)]


CalibrationMap = (
    LogisticMap | BetaMap | IsotonicMap | HistogramMap | IdentityMap | UncertaintyMap | TreesMap | GroupsMap
)

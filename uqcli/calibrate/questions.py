"""Features and the questions of trees about them."""

from __future__ import annotations

import msgspec


class FeatureColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A feature column: numeric, or categorical with its known levels; other texts are "other"."""

    name: str
    levels: list[str] | None = None


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node of a tree: a leaf, or a question by which rows go left or right.

    Attributes
    ----------
    leaf
        Index of the leaf, or None for a question.
    feature
        Name of the column.
    threshold
        Numbers up to it go left.
    levels
        Texts that go left.
    other_left, missing_left
        Whether unknown texts, and missing values, go left.
    left, right
        Positions of the children.
    """

    leaf: int | None = None
    feature: str | None = None
    threshold: float | None = None
    levels: list[str] | None = None
    other_left: bool = False
    missing_left: bool = False
    left: int | None = None
    right: int | None = None

"""What tells rows apart: columns beside the score, and questions about them."""

from __future__ import annotations

import msgspec


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

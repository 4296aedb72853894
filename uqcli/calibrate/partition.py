"""Questions about features, and how rows go by them to the leaves of a tree, or to groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from uqcli.base.counts import Bools, Floats, Ints


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


_MAX_SHOWN_LEVELS = 4


def leaf_of(nodes: Sequence[Node], columns: Sequence[FeatureColumn], features: Mapping[str, Floats]) -> Ints:
    """Find the leaf of each row, from the root down.

    Parameters
    ----------
    columns
        Feature columns; categorical values are positions in their levels.
    features
        Values as in ``Feature``, by column name.
    """
    levels_of = {column.name: column.levels for column in columns}
    size = len(next(iter(features.values())))
    leaf = np.zeros(size, dtype=np.int64)
    pending = [(0, np.arange(size))]
    while pending:
        index, rows = pending.pop()
        node = nodes[index]
        if len(rows) == 0:
            continue
        if node.leaf is not None:
            leaf[rows] = node.leaf
        elif node.feature is not None and node.left is not None and node.right is not None:
            left = goes_left(node, levels_of[node.feature], features[node.feature][rows])
            pending += [(node.left, rows[left]), (node.right, rows[~left])]
    return leaf


def goes_left(node: Node, levels: Sequence[str] | None, value: Floats) -> Bools:
    """Whether rows go left at a question."""
    if levels is None:
        with np.errstate(invalid="ignore"):
            below: Bools = value <= (node.threshold if node.threshold is not None else np.inf)
        return np.where(np.isnan(value), node.missing_left, below)
    chosen = set(node.levels or ())
    table = np.array([*(level in chosen for level in levels), node.other_left, node.missing_left])
    return table[value.astype(np.int64)]  # index -1, missing, is the last entry


def group_of(
    groups: Sequence[Sequence[str | None]], columns: Sequence[FeatureColumn], features: Mapping[str, Floats]
) -> Ints:
    """Return the leaf of each row: its combination of levels, or the last leaf for unknown combinations.

    Parameters
    ----------
    groups
        One level per column, for every group.
    columns, features
        As in ``leaf_of``.
    """
    code_of_group = np.zeros(len(groups), dtype=np.int64)
    code_of_row = np.zeros(len(next(iter(features.values()))), dtype=np.int64)
    for position, column in enumerate(columns):
        levels = column.levels or []
        index: dict[str | None, int] = {None: 0} | {text: n + 1 for n, text in enumerate(levels)}
        codes = np.array([index[group[position]] for group in groups], dtype=np.int64)
        size = len(levels) + 2  # plus missing and unknown
        known_codes, code_of_group = np.unique(code_of_group * size + codes, return_inverse=True)
        row_codes = np.where(
            code_of_row < 0, -1, code_of_row * size + features[column.name].astype(np.int64) + 1
        )
        known = np.minimum(np.searchsorted(known_codes, row_codes), len(known_codes) - 1)
        code_of_row = np.where(known_codes[known] == row_codes, known, -1)
    leaf_of_code = np.zeros(len(groups), dtype=np.int64)
    leaf_of_code[code_of_group] = np.arange(len(groups))
    return np.where(code_of_row < 0, len(groups), leaf_of_code[code_of_row])


def rule_of(path: Sequence[tuple[Node, bool]], columns: Sequence[FeatureColumn]) -> str:
    """Describe a leaf by the questions and answers that lead to it.

    Examples
    --------
    >>> node = Node(feature="age", threshold=35.5, missing_left=True)
    >>> rule_of([(node, True)], [FeatureColumn(name="age")])
    'age <= 35.5 or missing'
    """
    if not path:
        return "all rows"
    levels_of = {column.name: column.levels for column in columns}
    return " and ".join(_answer(node, went_left, levels_of[str(node.feature)]) for node, went_left in path)


def _answer(node: Node, went_left: bool, levels: Sequence[str] | None) -> str:
    missing = " or missing" if node.missing_left == went_left else ""
    if levels is None:
        sign = "<=" if went_left else ">"
        return f"{node.feature} {sign} {node.threshold:.6g}{missing}"
    chosen = set(node.levels or ())
    matching = [level for level in levels if (level in chosen) == went_left]
    matching += ["(other)"] if node.other_left == went_left else []
    more = f" and {len(matching) - _MAX_SHOWN_LEVELS} more" if len(matching) > _MAX_SHOWN_LEVELS else ""
    return f"{node.feature} in {{{', '.join(matching[:_MAX_SHOWN_LEVELS])}{more}}}{missing}"

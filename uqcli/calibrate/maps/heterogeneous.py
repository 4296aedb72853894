"""Heterogeneous calibration [HC Alg. 1]: a map of the score in each leaf of a partition by features.

The leaves are those of trees, or given groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import Floats, Ints, indices_by_bin, texts_by_level
from uqcli.base.errors import UsageError, words
from uqcli.base.wording import count, percent, printable
from uqcli.calibrate.maps.base import (
    BaseRowMap,
    Calibrated,
    Count,
    FeatureColumn,
    Features,
    Node,
    Parts,
    first,
    group_of,
    leaf_of,
)
from uqcli.calibrate.maps.score_map import ScoreMap
from uqcli.calibrate.scale import Scale
from uqcli.kernels.logistic import sigmoid
from uqcli.reports.document import Table
from uqcli.rules.expressions import (
    Arithmetic,
    Case,
    Column,
    Comparison,
    Constant,
    Expression,
    IsMissing,
    TextIn,
    let,
    lookup,
    numbered,
    total,
)

_MAX_ROWS = 40


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the rows and its calibration.

    Attributes
    ----------
    rule
        Condition on the features, in words.
    rows, positives
        Rows of the leaf among those it was calibrated on.
    own
        Whether the map was fitted to the leaf's own rows; if not, to those of a larger part.
    """

    rule: str
    rows: Count
    positives: Count
    own: bool
    calibration: ScoreMap


def contradiction_in_features(features: Sequence[FeatureColumn]) -> str:
    """Find the first contradiction among the feature columns of a map; empty if there is none."""
    if len({feature.name for feature in features}) < len(features):
        return "a feature is named twice"
    if any(len(set(feature.levels or ())) < len(feature.levels or ()) for feature in features):
        return "a level is named twice"
    return ""


def contradiction_in_leaves(leaves: Sequence[Leaf]) -> str:
    """Find the first contradiction among the maps of the leaves; empty if there is none."""
    return first(leaf.calibration.contradiction() for leaf in leaves)


def text_column(feature: FeatureColumn) -> Column:
    """Return the column of a categorical feature."""
    return Column(name=feature.name, kind="text")


def terms_of_leaves(leaves: Sequence[Leaf]) -> tuple[float, float]:
    """Bound the terms of the log-odds of all leaves (see ``BaseRowMap.terms``)."""
    constants, factors = zip(*(leaf.calibration.terms for leaf in leaves), strict=True)
    return max(constants), max(factors)


def names_of_leaves(leaves: Sequence[Leaf]) -> tuple[str, ...]:
    """Describe each leaf by number and condition."""
    return tuple(f"leaf {leaf_index}: {leaf.rule}" for leaf_index, leaf in enumerate(leaves))


def leaves_table(title: str, leaves: Sequence[Leaf]) -> Table:
    """Tabulate at most 40 leaves."""
    rows = [
        (
            str(index),
            printable(leaf.rule, 160),
            leaf.calibration.formula(),
            count(leaf.rows),
            percent(leaf.positives / leaf.rows if leaf.rows else None),
            "own" if leaf.own else "larger part",
        )
        for index, leaf in enumerate(leaves[:_MAX_ROWS])
    ]
    if len(leaves) > _MAX_ROWS:
        rows.append(("...", f"and {len(leaves) - _MAX_ROWS} more", "", "", "", ""))
    header = ("leaf", "rows where", "calibration", "rows", "positive rate", "fitted on")
    return Table(title=title, header=header, rows=rows, left=3)


def calibrated_in_leaves(leaves: Sequence[Leaf], leaf: Ints, corrected: Floats, scale: Scale) -> Floats:
    """Compute the probability of each row by the map of its leaf."""
    # small leaves share the map of a larger part
    maps = list({id(fitted.calibration): fitted.calibration for fitted in leaves}.values())
    index_of = {id(fitted): index for index, fitted in enumerate(maps)}
    map_of_leaf = np.array([index_of[id(fitted.calibration)] for fitted in leaves])
    result = np.empty(len(corrected))
    for fitted, inside in zip(maps, indices_by_bin(map_of_leaf[leaf], len(maps)), strict=True):
        if len(inside):
            result[inside] = fitted.probability(corrected[inside], scale)
    return result


class GroupsMap(BaseRowMap, frozen=True, kw_only=True, tag_field="map", tag="groups"):
    """One calibration per combination of levels; unknown ones use the last leaf, fitted to all rows."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.HETEROGENEOUS})

    features: Annotated[list[FeatureColumn], Meta(min_length=1)]
    groups: Annotated[list[list[str | None]], Meta(min_length=1)]
    leaves: Annotated[list[Leaf], Meta(min_length=1)]

    @property
    def has_leaves(self) -> bool:
        """See BaseMap."""
        return True

    def contradiction(self) -> str:
        """See BaseMap."""
        return (
            contradiction_in_features(self.features)
            or self._contradiction_in_groups()
            or contradiction_in_leaves(self.leaves)
        )

    def _contradiction_in_groups(self) -> str:
        if len(self.leaves) != len(self.groups) + 1:
            return "its groups do not have a leaf each, with one for all others"
        if not all(feature.is_text for feature in self.features):
            return "a feature of groups has no levels"
        if len(set(map(tuple, self.groups))) < len(self.groups):
            return "a group is named twice"
        levels_of = [(column.name, frozenset(column.levels or ())) for column in self.features]
        for group in self.groups:
            if len(group) != len(self.features):
                return "a group does not name a level of each feature"
            for text, (name, levels) in zip(group, levels_of, strict=True):
                if text is not None and text not in levels:
                    return f"'{text}' is no level of '{name}'"
        return ""

    def predict(
        self, corrected: Floats, scale: Scale, uncertainty: Floats | None = None, features: Features = None
    ) -> Calibrated:
        """See BaseMap."""
        del uncertainty
        leaf = group_of(self.groups, self.features, features or {})
        return Calibrated(probability=calibrated_in_leaves(self.leaves, leaf, corrected, scale), leaf=leaf)

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del uncertainty
        return self._by_group([leaf.calibration.exported(corrected, scale) for leaf in self.leaves])

    def exported_leaf(self) -> Expression:
        """See BaseRowMap."""
        return self._by_group([Constant(leaf) for leaf in range(len(self.leaves))])

    def _by_group(self, values: Sequence[Expression]) -> Expression:
        """Return the value of a row's group; the last one if it is in none."""
        texts_of_features = [texts_by_level(feature.levels or ()) for feature in self.features]
        groups = [
            tuple(
                None if level is None else texts[level]
                for texts, level in zip(texts_of_features, group, strict=True)
            )
            for group in self.groups
        ]
        return lookup(list(map(text_column, self.features)), groups, values[: len(groups)], values[-1])

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return terms_of_leaves(self.leaves)

    def parts(self, uncertainty: Floats | None, leaf: Ints | None) -> Parts | None:
        """Return the parts by group."""
        del uncertainty
        return None if leaf is None else (names_of_leaves(self.leaves), leaf)

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        return [step for leaf in self.leaves for step in leaf.calibration.steps()]

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate its groups."""
        del undersampled
        return [leaves_table("Groups", self.leaves)]


def _asked(node: Node, feature: FeatureColumn, left: Expression, right: Expression) -> Expression:
    """Return the value on the side of a question to which a row goes."""
    if feature.levels is None:
        column = Column(name=feature.name)
        goes_left: Expression = Comparison("<=", column, Constant(float(node.threshold or 0.0)))
        sides = (left, right)
    else:
        column = text_column(feature)
        chosen = set(node.levels or ())
        texts = texts_by_level(feature.levels)
        inside = [texts[level] for level in feature.levels if (level in chosen) != node.other_left]
        goes_left = TextIn(column, tuple(chain.from_iterable(inside)))
        sides = (right, left) if node.other_left else (left, right)
    # each side stands once: written twice, for missing values, a tree would double with each level
    missing = Constant(node.missing_left != (column.kind == "text" and node.other_left))
    return Case(((Case(((IsMissing(column), missing),), goes_left), sides[0]),), sides[1])


_MAX_TREES = 3
"""Maximum number of trees in the tables."""


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of a tree, the root first, with one calibration per leaf."""

    nodes: Annotated[list[Node], Meta(min_length=1)]
    leaves: Annotated[list[Leaf], Meta(min_length=1)]


class TreesMap(BaseRowMap, frozen=True, kw_only=True, tag_field="map", tag="trees"):
    """Heterogeneous calibration [HC Alg. 1]: one tree, the mean of many, or a sequence."""

    methods: ClassVar[frozenset[CalibrationMethod]] = frozenset({CalibrationMethod.HETEROGENEOUS})

    features: Annotated[list[FeatureColumn], Meta(min_length=1)]
    combine: Literal["mean", "sequence"]
    trees: Annotated[list[Tree], Meta(min_length=1)]

    @property
    def has_leaves(self) -> bool:
        """See BaseMap."""
        return self.combine == "mean" and len(self.trees) == 1

    def contradiction(self) -> str:
        """See BaseMap."""
        trees = first(_contradiction_in_tree(tree, self.features) for tree in self.trees)
        return contradiction_in_features(self.features) or trees

    def predict(
        self, corrected: Floats, scale: Scale, uncertainty: Floats | None = None, features: Features = None
    ) -> Calibrated:
        """See BaseMap."""
        del uncertainty
        leaves = [leaf_of(tree.nodes, self.features, features or {}) for tree in self.trees]
        if self.combine == "sequence":
            return Calibrated(probability=self._in_sequence(corrected, scale, leaves))
        summed = np.zeros(len(corrected))
        for tree, leaf in zip(self.trees, leaves, strict=True):
            summed += calibrated_in_leaves(tree.leaves, leaf, corrected, scale)
        return Calibrated(probability=summed / len(leaves), leaf=leaves[0] if self.has_leaves else None)

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del uncertainty
        if self.combine == "sequence":
            raise UsageError(
                "a sequence of boosted trees, in which each tree magnifies the rounding of the last",
                expected=words("a calibrator with --partitioner tree or forest"),
            )
        probabilities = [
            let(
                self._by_leaf(tree, [Constant(float(index)) for index in range(len(tree.leaves))]),
                partial(numbered, [leaf.calibration.exported(corrected, scale) for leaf in tree.leaves]),
                "leaf",
            )
            for tree in self.trees
        ]
        return Arithmetic("/", total(probabilities), Constant(float(len(self.trees))))

    def exported_leaf(self) -> Expression:
        """See BaseRowMap."""
        return self._by_leaf(self.trees[0], [Constant(leaf) for leaf in range(len(self.trees[0].leaves))])

    def _by_leaf(self, tree: Tree, values: Sequence[Expression]) -> Expression:
        """Return the value of a row's leaf; a node comes before those below it."""
        features = {feature.name: feature for feature in self.features}
        below: list[Expression] = []  # values below the nodes, the last node first
        for node in reversed(tree.nodes):
            if node.is_leaf:
                below.append(values[node.leaf or 0])
                continue
            left, right = (below[len(tree.nodes) - 1 - child] for child in node.children)
            below.append(_asked(node, features[node.feature or ""], left, right))
        return below[-1]

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return terms_of_leaves([leaf for tree in self.trees for leaf in tree.leaves])

    def _in_sequence(self, corrected: Floats, scale: Scale, leaves: Sequence[Ints]) -> Floats:
        """Apply the trees in sequence; each calibrates the log-odds that the previous tree predicts."""
        for tree, leaf in zip(self.trees, leaves, strict=True):
            corrected = Scale().log_odds(calibrated_in_leaves(tree.leaves, leaf, corrected, scale))
            scale = Scale(real=True)
        return sigmoid(corrected)

    def parts(self, uncertainty: Floats | None, leaf: Ints | None) -> Parts | None:
        """Return the parts by leaf."""
        del uncertainty
        return None if leaf is None else (names_of_leaves(self.trees[0].leaves), leaf)

    def steps(self) -> Sequence[float]:
        """See BaseMap."""
        if len(self.trees) > 1:  # the mean is 0 or 1 only if every tree predicts it
            return ()
        return [step for leaf in self.trees[0].leaves for step in leaf.calibration.steps()]

    def tables(self, undersampled: float) -> list[Table]:
        """Tabulate the leaves of the first trees."""
        del undersampled
        several = len(self.trees) > 1
        return [
            leaves_table(
                f"Leaves of tree {tree_number} of {len(self.trees)}" if several else "Leaves", tree.leaves
            )
            for tree_number, tree in enumerate(self.trees[:_MAX_TREES], start=1)
        ]


def _contradiction_in_tree(tree: Tree, features: Sequence[FeatureColumn]) -> str:
    is_categorical = {feature.name: feature.is_text for feature in features}
    questions = [(index, node) for index, node in enumerate(tree.nodes) if not node.is_leaf]
    contradiction = first(
        _contradiction_in_question(index, node, is_categorical, len(tree.nodes)) for index, node in questions
    )
    if contradiction:
        return contradiction
    if sorted(child for _, node in questions for child in node.children) != list(range(1, len(tree.nodes))):
        return "a node is not below exactly one question"
    if {node.leaf for node in tree.nodes if node.is_leaf} != set(range(len(tree.leaves))):
        return "its leaves are not numbered one by one"
    return contradiction_in_leaves(tree.leaves)


def _contradiction_in_question(
    index: int, node: Node, is_categorical: Mapping[str, bool], n_nodes: int
) -> str:
    if node.feature is None or node.feature not in is_categorical:
        return f"a question asks for '{node.feature}', which is no feature"
    categorical = is_categorical[node.feature]
    if (node.levels is not None) != categorical or (node.threshold is None) != categorical:
        return f"a question about '{node.feature}' has no threshold or levels"
    if len(node.children) < 2 or not all(index < child < n_nodes for child in node.children):
        return "a question has no nodes below it"
    if node.threshold is not None and not math.isfinite(node.threshold):
        return "a threshold is not finite"
    return ""

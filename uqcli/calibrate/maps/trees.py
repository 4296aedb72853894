"""Heterogeneous calibration by trees [HC Alg. 1]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import texts_by_level
from uqcli.base.errors import UsageError
from uqcli.calibrate.maps.base import BaseRowMap, Calibrated, Parts
from uqcli.calibrate.maps.contradictions import first
from uqcli.calibrate.maps.leaves import (
    Leaf,
    calibrated_in_leaves,
    contradiction_in_features,
    contradiction_in_leaves,
    leaves_table,
    names_of_leaves,
    terms_of_leaves,
    text_column,
)
from uqcli.calibrate.questions import FeatureColumn, Node
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
)

if TYPE_CHECKING:
    from uqcli.base.counts import Floats, Ints
    from uqcli.calibrate.scale import Scale

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

    def contradiction(self) -> str | None:
        """See BaseMap."""
        trees = first(_contradiction_in_tree(tree, self.features) for tree in self.trees)
        return contradiction_in_features(self.features) or trees

    def predict(
        self,
        corrected: Floats,
        scale: Scale,
        uncertainty: Floats | None = None,
        features: Mapping[str, Floats] | None = None,
    ) -> Calibrated:
        """See BaseMap."""
        import numpy as np

        from uqcli.calibrate.partition import leaf_of

        del uncertainty
        leaves = [leaf_of(tree.nodes, self.features, features or {}) for tree in self.trees]
        if self.combine == "sequence":
            return Calibrated(probability=self._in_sequence(corrected, scale, leaves))
        total = np.zeros(len(corrected))
        for tree, leaf in zip(self.trees, leaves, strict=True):
            total += calibrated_in_leaves(tree.leaves, leaf, corrected, scale)
        return Calibrated(probability=total / len(leaves), leaf=leaves[0] if self.has_leaves else None)

    def exported(
        self, corrected: Expression, scale: Scale, uncertainty: Expression | None = None
    ) -> Expression:
        """See BaseRowMap."""
        del uncertainty
        if self.combine == "sequence":
            raise UsageError(
                "a sequence of boosted trees, in which each tree magnifies the rounding of the last",
                expected="a calibrator with --partitioner tree or forest",
            )
        total: Expression = Constant(0.0)
        for tree in self.trees:
            leaves = [leaf.calibration.exported(corrected, scale) for leaf in tree.leaves]
            total = Arithmetic("+", total, self._by_leaf(tree, 0, leaves))
        return Arithmetic("/", total, Constant(float(len(self.trees))))

    def exported_leaf(self) -> Expression:
        """See BaseRowMap."""
        return self._by_leaf(self.trees[0], 0, [Constant(leaf) for leaf in range(len(self.trees[0].leaves))])

    def _by_leaf(self, tree: Tree, index: int, values: Sequence[Expression]) -> Expression:
        """Return the value of a row's leaf below a node."""
        node = tree.nodes[index]
        if node.leaf is not None:
            return values[node.leaf]
        left, right = (self._by_leaf(tree, child or 0, values) for child in (node.left, node.right))
        feature = next(feature for feature in self.features if feature.name == node.feature)
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
        missing = left if node.missing_left else right
        return Case(((IsMissing(column), missing), (goes_left, sides[0])), sides[1])

    @property
    def terms(self) -> tuple[float, float]:
        """See BaseRowMap."""
        return terms_of_leaves([leaf for tree in self.trees for leaf in tree.leaves])

    def _in_sequence(self, corrected: Floats, scale: Scale, leaves: Sequence[Ints]) -> Floats:
        """Apply the trees in sequence; each calibrates the log-odds that the previous tree predicts."""
        from uqcli.calibrate.scale import Scale as ScoreScale
        from uqcli.kernels.logistic import sigmoid

        for tree, leaf in zip(self.trees, leaves, strict=True):
            corrected = ScoreScale().log_odds(calibrated_in_leaves(tree.leaves, leaf, corrected, scale))
            scale = ScoreScale(real=True)
        return sigmoid(corrected)

    def parts(self, uncertainty: Floats | None, leaf: Ints | None) -> Parts | None:
        """Return the parts by leaf."""
        del uncertainty
        return None if leaf is None else Parts(names=names_of_leaves(self.trees[0].leaves), index=leaf)

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


def _contradiction_in_tree(tree: Tree, features: Sequence[FeatureColumn]) -> str | None:
    is_categorical = {feature.name: feature.levels is not None for feature in features}
    questions = [(index, node) for index, node in enumerate(tree.nodes) if node.leaf is None]
    contradiction = first(
        _contradiction_in_question(index, node, is_categorical, len(tree.nodes)) for index, node in questions
    )
    if contradiction is not None:
        return contradiction
    below = [child for _, node in questions for child in (node.left, node.right)]
    if sorted(child for child in below if child is not None) != list(range(1, len(tree.nodes))):
        return "a node is not below exactly one question"
    if {node.leaf for node in tree.nodes if node.leaf is not None} != set(range(len(tree.leaves))):
        return "its leaves are not numbered one by one"
    return contradiction_in_leaves(tree.leaves)


def _contradiction_in_question(
    index: int, node: Node, is_categorical: Mapping[str, bool], n_nodes: int
) -> str | None:
    if node.feature is None or node.feature not in is_categorical:
        return f"a question asks for '{node.feature}', which is no feature"
    categorical = is_categorical[node.feature]
    if (node.levels is not None) != categorical or (node.threshold is None) != categorical:
        return f"a question about '{node.feature}' has no threshold or levels"
    if any(child is None or not index < child < n_nodes for child in (node.left, node.right)):
        return "a question has no nodes below it"
    if node.threshold is not None and not math.isfinite(node.threshold):
        return "a threshold is not finite"
    return None

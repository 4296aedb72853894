"""Whether the parts of a saved calibration map fit together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from uqcli.methods.calibrate.maps import (
    BetaMap,
    CalibrationMap,
    FeatureColumn,
    GroupsMap,
    HistogramMap,
    IdentityMap,
    IsotonicMap,
    Leaf,
    LogisticMap,
    Node,
    Tree,
    TreesMap,
    UncertaintyMap,
)

_LARGEST = 1e100
"""Coefficients and edges beyond would overflow."""


def contradiction_in_map(map_: CalibrationMap) -> str | None:
    """The first contradiction, or None."""
    match map_:
        case UncertaintyMap():
            return _in_uncertainty(map_)
        case TreesMap():
            trees = _first(_in_tree(tree, map_.features) for tree in map_.trees)
            return _in_features(map_.features) or trees
        case GroupsMap():
            return _in_features(map_.features) or _in_groups(map_)
        case LogisticMap() | BetaMap() | IsotonicMap() | HistogramMap() | IdentityMap():
            return _in_scores(map_)


def _first(found: Iterable[str | None]) -> str | None:
    return next((each for each in found if each is not None), None)


def _in_scores(map_: LogisticMap | BetaMap | IsotonicMap | HistogramMap | IdentityMap) -> str | None:
    match map_:
        case LogisticMap() if not _finite([map_.intercept, map_.slope]):
            return "its coefficients are not finite"
        case BetaMap() if not _finite([map_.a, map_.b, map_.c]) or min(map_.a, map_.b) < 0:
            return "its coefficients are not finite, or a or b is negative"
        case IsotonicMap():
            return _in_points(map_)
        case HistogramMap():
            if not len(map_.rate) == len(map_.edges) + 1 == len(map_.count) == len(map_.error):
                return "its bins do not have a rate, a count and an error each"
            return _not_ascending(map_.edges, "edges") or _not_probabilities(map_.rate)
    return None


def _in_points(map_: IsotonicMap) -> str | None:
    if len(map_.x) != len(map_.y):
        return "its points have no x and y each"
    ascending = _not_ascending(map_.x, "x") or _not_ascending(map_.y, "y")
    return ascending or _not_probabilities(map_.y)


def _in_uncertainty(map_: UncertaintyMap) -> str | None:
    if not len(map_.maps) == len(map_.uncertainty_edges) + 1 == len(map_.count):
        return "its uncertainty bins do not have a map each"
    return _not_ascending(map_.uncertainty_edges, "edges") or _first(_in_points(each) for each in map_.maps)


def _in_features(features: Sequence[FeatureColumn]) -> str | None:
    if len({each.name for each in features}) < len(features):
        return "a feature is named twice"
    if any(len(set(each.levels or ())) < len(each.levels or ()) for each in features):
        return "a level is named twice"
    return None


def _in_tree(tree: Tree, features: Sequence[FeatureColumn]) -> str | None:
    is_text = {each.name: each.levels is not None for each in features}
    questions = [(place, node) for place, node in enumerate(tree.nodes) if node.leaf is None]
    found = _first(_in_question(place, node, is_text, len(tree.nodes)) for place, node in questions)
    if found is not None:
        return found
    below = [child for _, node in questions for child in (node.left, node.right)]
    if sorted(child for child in below if child is not None) != list(range(1, len(tree.nodes))):
        return "a node is not below exactly one question"
    if {node.leaf for node in tree.nodes if node.leaf is not None} != set(range(len(tree.leaves))):
        return "its leaves are not numbered one by one"
    return _in_leaves(tree.leaves)


def _in_question(place: int, node: Node, is_text: Mapping[str, bool], nodes: int) -> str | None:
    if node.feature is None or node.feature not in is_text:
        return f"a question asks for '{node.feature}', which is no feature"
    text = is_text[node.feature]
    if (node.levels is not None) != text or (node.threshold is None) != text:
        return f"a question about '{node.feature}' has no threshold or levels"
    if any(child is None or not place < child < nodes for child in (node.left, node.right)):
        return "a question has no nodes below it"
    if node.threshold is not None and not math.isfinite(node.threshold):
        return "a threshold is not finite"
    return None


def _in_groups(map_: GroupsMap) -> str | None:
    if len(map_.leaves) != len(map_.groups) + 1:
        return "its groups do not have a leaf each, with one for all others"
    if any(each.levels is None for each in map_.features):
        return "a feature of groups has no levels"
    if len(set(map(tuple, map_.groups))) < len(map_.groups):
        return "a group is named twice"
    for group in map_.groups:
        if len(group) != len(map_.features):
            return "a group does not name a level of each feature"
        for text, column in zip(group, map_.features, strict=True):
            if text is not None and text not in (column.levels or ()):
                return f"'{text}' is no level of '{column.name}'"
    return _in_leaves(map_.leaves)


def _in_leaves(leaves: Sequence[Leaf]) -> str | None:
    return _first(_in_scores(leaf.calibration) for leaf in leaves)


def _finite(numbers: Sequence[float]) -> bool:
    return all(abs(number) < _LARGEST for number in numbers)


def _not_ascending(numbers: Sequence[float], name: str) -> str | None:
    fine = _finite(numbers) and list(numbers) == sorted(numbers)
    return None if fine else f"its {name} are not finite and ascending"


def _not_probabilities(numbers: Sequence[float]) -> str | None:
    return None if all(0 <= number <= 1 for number in numbers) else "a rate is no probability"

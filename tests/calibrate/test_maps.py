"""Tests of saved calibration maps: contradictions, parts and formulas."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from uqcli.base.choices import CalibrationMethod
from uqcli.calibrate.maps.base import FeatureColumn, Node
from uqcli.calibrate.maps.formulas import BetaMap, LogisticMap
from uqcli.calibrate.maps.heterogeneous import GroupsMap, Leaf, Tree, TreesMap
from uqcli.calibrate.maps.histogram import HistogramMap
from uqcli.calibrate.maps.isotonic import IsotonicMap, UncertaintyMap
from uqcli.calibrate.maps.score_map import IdentityMap

LOGISTIC = LogisticMap(intercept=-0.5, slope=1.25)
STEEP = replace(LOGISTIC, slope=1e300)
BETA = BetaMap(a=1.0, b=0.5, c=0.0)
ISOTONIC = IsotonicMap(x=[0.1, 0.4, 0.9], y=[0.0, 0.5, 0.5])
HISTOGRAM = HistogramMap(edges=[0.5], rate=[0.2, 0.8], count=[10, 0], error=[0.25, None], confidence=0.95)
IDENTITY = IdentityMap()
LEVELS = UncertaintyMap(uncertainty_edges=[1.0], maps=[ISOTONIC, ISOTONIC], count=[3, 4])
LEAVES = [
    Leaf(rule=rule, rows=4, positives=1, own=True, calibration=LOGISTIC) for rule in ("a = x", "any other")
]
GROUPS = GroupsMap(features=[FeatureColumn(name="a", levels=["x"])], groups=[["x"]], leaves=LEAVES)
NODES = [Node(feature="a", levels=["x"], left=1, right=2), Node(leaf=0), Node(leaf=1)]
TREES = TreesMap(
    features=[FeatureColumn(name="a", levels=["x"])], combine="mean", trees=[Tree(nodes=NODES, leaves=LEAVES)]
)
MAPS = [LOGISTIC, BETA, ISOTONIC, HISTOGRAM, IDENTITY, LEVELS, GROUPS, TREES]


@pytest.mark.parametrize("saved_map", MAPS, ids=lambda saved_map: type(saved_map).__name__)
def test_consistent_maps_have_no_contradiction(saved_map):
    assert not saved_map.contradiction()
    assert saved_map.tables(1.0)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (STEEP, "coefficients"),
        (replace(BETA, a=-1.0), "negative"),
        (replace(ISOTONIC, x=[0.1]), "x and y each"),
        (replace(ISOTONIC, x=[0.4, 0.1, 0.9]), "its x"),
        (replace(ISOTONIC, y=[0.0, 0.5, 2.0]), "no probability"),
        (replace(HISTOGRAM, count=[1]), "a rate, a count"),
        (replace(HISTOGRAM, rate=[0.2, 1.8]), "no probability"),
        (replace(LEVELS, count=[1]), "a map each"),
        (replace(LEVELS, maps=[ISOTONIC, replace(ISOTONIC, x=[0.1])]), "x and y each"),
        (replace(GROUPS, features=GROUPS.features * 2), "feature is named twice"),
        (replace(GROUPS, groups=[["x"], ["x"]]), "a leaf each"),
        (replace(GROUPS, groups=[["y"]]), "'y' is no level"),
        (
            replace(GROUPS, leaves=[replace(LEAVES[0], calibration=replace(LOGISTIC, slope=1e300))] * 2),
            "coeff",
        ),
        (replace(TREES, trees=[Tree(nodes=NODES[:2], leaves=LEAVES)]), "no nodes below"),
        (replace(TREES, trees=[Tree(nodes=NODES, leaves=LEAVES[:1])]), "numbered one by one"),
        (replace(TREES, features=[FeatureColumn(name="b")]), "which is no feature"),
        (replace(TREES, features=[FeatureColumn(name="a")]), "no threshold or levels"),
    ],
)
def test_contradictions_are_named(broken, message):
    assert message in broken.contradiction()


def test_maps_state_their_features_leaves_and_errors():
    assert [saved_map.needs_uncertainty for saved_map in MAPS] == [saved_map is LEVELS for saved_map in MAPS]
    assert [len(saved_map.features) for saved_map in MAPS] == [0] * 6 + [1, 1]
    assert [saved_map.has_leaves for saved_map in MAPS] == [False] * 6 + [True, True]
    assert not replace(TREES, combine="sequence").has_leaves
    assert not replace(TREES, trees=TREES.trees * 2).has_leaves
    assert [saved_map.largest_error for saved_map in MAPS] == [math.inf] * 3 + [0.25] + [math.inf] * 4
    assert LOGISTIC.methods == {CalibrationMethod.PLATT, CalibrationMethod.TEMPERATURE}


def test_parts_are_levels_or_leaves():
    uncertainty, leaf = np.array([0.5, 1.0, 2.0]), np.array([1, 0, 1])
    names, level = LEVELS.parts(uncertainty, None)
    assert names == ("uncertainty level 1", "uncertainty level 2")
    assert level.tolist() == [0, 1, 1]
    for saved_map in (GROUPS, TREES):
        names, part = saved_map.parts(uncertainty, leaf)
        assert names == ("leaf 0: a = x", "leaf 1: any other")
        assert part.tolist() == [1, 0, 1]
        assert saved_map.parts(uncertainty, None) is None
    assert LEVELS.parts(None, leaf) is None
    assert LOGISTIC.parts(uncertainty, leaf) is None


def test_formulas_of_maps():
    maps = (LOGISTIC, BETA, ISOTONIC, HISTOGRAM, IDENTITY)
    assert [saved_map.formula() for saved_map in maps] == [
        "sigmoid(1.25 * log-odds -0.5)",
        "sigmoid(1 ln s - 0.5 ln(1-s) +0)",
        "isotonic, 2 levels from 0.0000 to 0.5000",
        "histogram, 2 bins",
        "the score itself",
    ]
    assert IDENTITY.tables(3.0)[0].rows == [("the odds divided by 3",)]

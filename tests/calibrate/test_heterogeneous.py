"""Tests of heterogeneous calibration: one map for each leaf."""

import numpy as np
import pytest

from tests.properties.calibration_rows import draw_rows, scored
from uqcli.base.choices import CalibrationMethod, LeafMethod, Partitioner, SplitCriterion
from uqcli.base.counts import Feature
from uqcli.calibrate.fit import fit
from uqcli.calibrate.fit_options import CalibrationOptions


@pytest.mark.covering("thorough", every=4, also=["isotonic-boosted"])
@pytest.mark.parametrize("partitioner", Partitioner)
@pytest.mark.parametrize("leaf_method", LeafMethod)
def test_trees_calibrate_what_one_map_cannot(partitioner, leaf_method):
    data = draw_rows(1, rows=6000)
    options = CalibrationOptions(
        method=CalibrationMethod.HETEROGENEOUS, partitioner=partitioner, leaf_method=leaf_method, min_leaf=200
    )
    new = draw_rows(2, rows=6000)
    single = fit(data, CalibrationOptions(method=CalibrationMethod.PLATT)).predict(new).probability
    heterogeneous = fit(data, options).predict(new).probability
    assert ((heterogeneous >= 0) & (heterogeneous <= 1)).all()
    worst = {
        name: max(
            abs(
                probability[new.features["kind"].value == kind].mean()
                - new.positive[new.features["kind"].value == kind].mean()
            )
            for kind in range(3)
        )
        for name, probability in (("one", single), ("many", heterogeneous))
    }
    assert worst["many"] < 0.5 * worst["one"]


@pytest.mark.parametrize("split", SplitCriterion)
def test_single_trees_are_monotone_in_each_leaf_and_leaves_follow_their_conditions(split):
    data = draw_rows(3, rows=4000)
    options = CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS, min_leaf=300, split=split)
    fitted = fit(data, options)
    prediction = fitted.predict(data)
    (tree,) = fitted.map.trees
    assert len(tree.leaves) > 1
    for leaf_index, leaf in enumerate(tree.leaves):
        inside = prediction.leaf == leaf_index
        order = np.argsort(data.score[inside], kind="stable")
        assert (np.diff(prediction.probability[inside][order]) >= -1e-15).all()
        for condition in leaf.rule.split(" and "):
            if condition.startswith("age <= ") and "missing" not in condition:
                assert (data.features["age"].value[inside] <= float(condition.split()[2]) + 1e-3).all()


def test_small_leaves_use_the_map_of_all_rows_and_leaves_of_one_class_have_finite_maps():
    random = np.random.default_rng(4)
    score = random.random(1000)
    group = np.where(np.arange(1000) < 10, 0, np.where(np.arange(1000) < 300, 1, 2)).astype(float)
    label = random.random(1000) < score
    label[group == 1] = False
    data = scored(score, label, features={"g": Feature(levels=("few", "none", "most"), value=group)})
    options = CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS, trees=False, min_leaf=50)
    leaves = fit(data, options).map.leaves
    assert [(leaf.rule, leaf.own) for leaf in leaves] == [
        ("g = few", False),
        ("g = none", True),
        ("g = most", True),
        ("any other", True),
    ]
    assert leaves[0].calibration == leaves[3].calibration
    assert fit(data, options).predict(data).probability[group == 1].max() < 0.02
    unseen = scored([0.3], [0], features={"g": Feature(levels=("new",), value=np.zeros(1))})
    assert fit(data, options).predict(unseen).leaf.tolist() == [3]


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_fewer_rows_than_leaves_give_finite_probabilities(rows):
    data = draw_rows(5, rows=rows)
    for options in (
        CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS),
        CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS, min_leaf=1, max_depth=5),
        CalibrationOptions(method=CalibrationMethod.HISTOGRAM, n_bins=20),
        CalibrationOptions(method=CalibrationMethod.MIST, uncertainty_bins=9),
    ):
        assert np.isfinite(fit(data, options).predict(data).probability).all()

"""Tests of trees of several sizes, which share what they have in common, against trees of a single size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.calibration_rows import scored
from uqcli.base.choices import CalibrationMethod, SplitCriterion
from uqcli.base.counts import Feature, pool
from uqcli.base.rows import Rows
from uqcli.calibrate import fit as fitting
from uqcli.calibrate.fit import (
    LearnedTrees,
    cross_validated,
    fit,
    fit_each,
    fit_sizes,
    fit_trees,
    fit_with_tree_sizes,
)
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps.base import leaf_of
from uqcli.calibrate.maps.formulas import fit_platt
from uqcli.calibrate.maps.heterogeneous import Leaf, calibrated_in_leaves
from uqcli.calibrate.scale import Scale
from uqcli.calibrate.tree import FeatureRanks, cut_tree, recoded

HETEROGENEOUS = CalibrationMethod.HETEROGENEOUS


def draw_table(seed, rows):
    """Draw rows with ties, weights, missing values and clusters, and levels of a category, pooled."""
    random = np.random.default_rng(seed)
    kind = random.integers(-1, 6, rows)
    age = np.where(random.random(rows) < 0.1, np.nan, np.round(random.normal(40, 10, rows), 1))
    size = random.normal(size=rows)
    score = np.round(random.random(rows), 3)
    label = random.random(rows) < score ** (1 + (kind % 3) + (np.nan_to_num(age) > 42) + 2 * (size > 0.5))
    features = {
        "kind": Feature(levels=tuple("abcdef"), value=kind.astype(float)),
        "age": Feature(levels=None, value=age),
        "size": Feature(levels=None, value=size),
    }
    return Rows(
        numbers={"score": score},
        positive=label,
        weight=random.integers(1, 4, rows),
        groups={"customer": random.integers(0, rows // 5, rows)},
        features=features,
    ).pooled()


def impurity(nodes, columns, rows):
    """Return the Gini impurity of the leaves, each times its rows."""
    values = {column.name: recoded(rows.features[column.name], column) for column in columns}
    leaf = leaf_of(nodes, columns, values)
    size, hits = (np.bincount(leaf, weights=rows.weight * part) for part in (1, rows.labels))
    return (hits * (size - hits) / size).sum()


@pytest.mark.parametrize("split", SplitCriterion)
@pytest.mark.parametrize("seed", range(3))
def test_a_deep_tree_that_is_cut_off_is_the_tree_grown_to_that_depth(seed, split):
    rows = draw_table(seed, 2000 if split is SplitCriterion.GINI else 300)
    options = CalibrationOptions(method=HETEROGENEOUS, min_leaf=30, max_depth=5, split=split)
    learned = LearnedTrees.of(rows, [options])
    (deepest,) = learned.trees[30]
    for depth in range(1, 6):
        shallow = CalibrationOptions(method=HETEROGENEOUS, min_leaf=30, max_depth=depth, split=split)
        (grown,) = LearnedTrees.of(rows, [shallow]).trees[30]
        nodes, positions = cut_tree(deepest, depth)
        if nodes != grown:  # two splits are equally good
            expected = impurity(grown, learned.columns, rows)
            assert impurity(nodes, learned.columns, rows) == pytest.approx(expected, rel=1e-12)
        assert [node.feature for node in nodes if not node.is_leaf] == [
            deepest[position].feature
            for node, position in zip(nodes, positions, strict=True)
            if not node.is_leaf
        ]


@pytest.mark.parametrize("seed", range(4))
def test_each_part_of_a_tree_is_calibrated_on_its_rows_or_on_the_smallest_larger_part(seed):
    """The oracle asks the questions of each row by itself, and fits a map to the rows of each leaf."""
    learning, rows = draw_table(seed, 3000), draw_table(seed + 100, 1200)
    sizes = [CalibrationOptions(method=HETEROGENEOUS, min_leaf=90, max_depth=depth) for depth in (4, 1, 3)]
    learned = LearnedTrees.of(learning, sizes)
    levels = {column.name: column.levels for column in learned.columns}

    def goes_left(node, row):
        value = rows.features[node.feature].value[row]
        if levels[node.feature] is None:
            return node.missing_left if np.isnan(value) else value <= node.threshold
        if value < 0:
            return node.missing_left
        text = rows.features[node.feature].levels[int(value)]
        return text in node.levels if text in levels[node.feature] else node.other_left

    for fitted, size in zip(fit_trees(learned, rows, sizes), sizes, strict=True):
        (tree,) = fitted.trees
        ancestors = {0: []}
        for index, node in enumerate(tree.nodes):
            for child in node.children:
                ancestors[child] = [*ancestors[index], index]
        inside = {index: [] for index in ancestors}
        for row in range(len(rows)):
            index = 0
            inside[index].append(row)
            while not tree.nodes[index].is_leaf:
                node = tree.nodes[index]
                index = node.left if goes_left(node, row) else node.right
                inside[index].append(row)
        assert max(map(len, ancestors.values())) <= size.depth
        for index, node in enumerate(tree.nodes):
            if node.is_leaf:
                leaf, larger = tree.leaves[node.leaf], [*ancestors[index], index]
                own = rows.weight[inside[index]].sum() >= 90
                while len(larger) > 1 and rows.weight[inside[larger[-1]]].sum() < 90:
                    larger.pop()
                part = inside[larger[-1]]
                counts = pool(rows.score[part], rows.labels[part], rows.weight[part])
                assert leaf.calibration == fit_platt(counts, Scale()).map
                assert (leaf.rows, leaf.own) == (rows.weight[inside[index]].sum(), own)
                assert leaf.positives == rows.weight[inside[index]][rows.labels[inside[index]]].sum()


@pytest.mark.parametrize("cluster", [None, "customer"])
def test_trees_of_several_sizes_are_those_that_are_fitted_one_by_one(cluster):
    rows = draw_table(7, 3000)
    sizes = [
        CalibrationOptions(method=HETEROGENEOUS, cluster=cluster, max_depth=depth, min_leaf=leaf)
        for depth, leaf in [(1, 100), (3, 100), (2, 40), (4, 40)]
    ]
    assert fit_sizes(rows, sizes, None) == [fit(rows, size).map for size in sizes]


@pytest.mark.parametrize(
    ("cluster", "given"), [(None, {}), ("customer", {}), (None, {"min_leaf": 40}), (None, {"max_depth": 2})]
)
def test_cross_fitted_rows_of_the_chosen_size_are_those_of_cross_validation(monkeypatch, cluster, given):
    monkeypatch.setattr(fitting, "_LEAVES", (200, 100, 50))
    rows = draw_table(8, 3000)
    for tree_rows in (None, draw_table(9, 2000)):
        options = CalibrationOptions(method=HETEROGENEOUS, cluster=cluster, **given)
        fitted = fit_with_tree_sizes(rows, options, tree_rows)
        (cross_fitted,) = fitted.cross_fitted
        pairs = cross_fitted.paired()
        expected = next(cross_validated(rows, [fitted.options], tree_rows))
        assert fitted.map == fit(rows, fitted.options, tree_rows).map
        assert pairs.after.tolist() == expected.after.tolist()
        assert pairs.before.tolist() == expected.before.tolist()
        assert pairs.rows.weight.tolist() == expected.rows.weight.tolist()
        assert pairs.rows.score.tolist() == expected.rows.score.tolist()


@given(
    st.lists(st.sampled_from([np.nan, -1.5, 0.0, 0.25, 3.0, 7.0]), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_ranks_of_some_rows_follow_from_those_of_all(values, random):
    value = np.array(values)
    rows = scored(np.zeros(len(value)), value > 0, features={"f": Feature(levels=None, value=value)})
    some = np.array(sorted(random.sample(range(len(value)), random.randint(1, len(value)))))
    ranks = FeatureRanks.of(rows)
    for position, part in ((some, value[some]), (None, value)):
        distinct, rank = ranks.among("f", position)
        expected = sorted({number for number in part.tolist() if number == number})
        assert distinct.tolist() == expected
        assert np.isnan(rank).tolist() == np.isnan(part).tolist()
        assert [expected[int(place)] for place in rank[~np.isnan(rank)]] == part[~np.isnan(part)].tolist()


def test_many_groups_are_calibrated_as_one_by_one():
    random = np.random.default_rng(3)
    group, other = random.integers(0, 40, 3000), random.integers(-1, 2, 3000)
    features = {
        "g": Feature(levels=tuple(f"{n:02}" for n in range(40)), value=group.astype(float)),
        "h": Feature(levels=("a", "b"), value=other.astype(float)),
    }
    score = np.round(random.random(3000), 2)
    rows = scored(score, random.random(3000) < score, features=features, weight=random.integers(1, 3, 3000))
    options = CalibrationOptions(method=HETEROGENEOUS, trees=False, min_leaf=40)
    fitted = fit(rows, options)
    overall = fit_platt(pool(rows.score, rows.labels, rows.weight), Scale()).map
    predicted = fitted.predict(rows)
    for leaf_index, (texts, leaf) in enumerate(zip(fitted.map.groups, fitted.map.leaves, strict=False)):
        inside = (group == int(texts[0])) & (other == (-1 if texts[1] is None else "ab".index(texts[1])))
        counts = pool(rows.score[inside], rows.labels[inside], rows.weight[inside])
        assert (leaf.rows, leaf.positives) == (counts.rows, counts.positives.sum())
        own = counts.rows >= 40
        assert leaf.own == own
        assert leaf.calibration == (fit_platt(counts, Scale()).map if own else overall)
        assert (predicted.leaf[inside] == leaf_index).all()
        assert (
            predicted.probability[inside] == leaf.calibration.probability(rows.score[inside], Scale())
        ).all()


def test_leaves_that_share_a_map_or_have_no_rows_are_calibrated_by_it():
    shared, own = (fit_platt(pool(np.arange(1, 9) / 9, np.arange(8) % n > 0), Scale()).map for n in (2, 3))
    leaves = [
        Leaf(rule="", rows=1, positives=0, own=False, calibration=calibration)
        for calibration in (shared, own, shared, own, shared)
    ]
    leaf, score = np.array([2, 0, 1, 4, 2]), np.array([0.2, 0.3, 0.4, 0.5, 0.6])
    expected = [
        leaves[index].calibration.probability(score[[row]], Scale())[0] for row, index in enumerate(leaf)
    ]
    assert calibrated_in_leaves(leaves, leaf, score, Scale()).tolist() == expected


def test_methods_that_are_fitted_together_are_those_that_are_fitted_alone():
    random = np.random.default_rng(5)
    score = np.round(random.random(2000), 3)
    label, uncertainty = random.random(2000) < score, np.round(random.random(2000), 1)
    rows = scored(score, label, uncertainty=uncertainty).pooled()
    methods = [method for method in CalibrationMethod if method in fitting.SCORE_FITS]
    several = [
        CalibrationOptions(method=method)
        for method in (*methods, CalibrationMethod.MIST, CalibrationMethod.SURFACE)
    ]
    assert [fitted.map for fitted in fit_each(rows, several, None)] == [fit(rows, one).map for one in several]
    together = list(cross_validated(rows, several, None))
    for one, pairs in zip(several, together, strict=True):
        alone = next(cross_validated(rows, [one], None))
        assert alone.after.tolist() == pairs.after.tolist()

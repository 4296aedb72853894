"""Calibration maps: against scikit-learn, against slow oracles, and what must hold for all of them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from tests.oracles import calibration as oracle
from tests.properties.strategies import data_sets
from uqcli.choices import CalibrationMethod, LeafMethod, Partitioner, SplitCriterion
from uqcli.counts import Feature, ValueCounts, pool
from uqcli.jobs.calibrate import scored_rows
from uqcli.jobs.calibrate.fit import CalibrationOptions, cross_fitted, fit, fit_counts
from uqcli.jobs.calibrate.scored_rows import ScoredRows, deal, drawn_from, rows_of
from uqcli.methods.calibrate.histogram import bound, target_bound
from uqcli.methods.calibrate.isotonic import fit_isotonic
from uqcli.methods.calibrate.maps import IsotonicMap
from uqcli.methods.calibrate.parametric import fit_beta, fit_platt, fit_temperature
from uqcli.methods.calibrate.scale import Scale

PROBABILITY = Scale()
ROWS = st.lists(
    st.tuples(st.one_of(st.floats(0, 1), st.integers(0, 6).map(lambda v: v / 6)), st.booleans()),
    min_size=1,
    max_size=40,
)
SCORES_ALONE = [
    method
    for method in CalibrationMethod
    if method not in (CalibrationMethod.HETEROGENEOUS, CalibrationMethod.MIST)
]


def arrays(rows):
    return np.array([s + 0.0 for s, _ in rows]), np.array([y for _, y in rows])


def scored(score, label, uncertainty=None, weight=None, features=None):
    return ScoredRows(
        score=np.asarray(score, dtype=float),
        uncertainty=uncertainty,
        positive=np.asarray(label, dtype=bool),
        weight=np.ones(len(score), dtype=np.int64) if weight is None else weight,
        features=features or {},
    )


def drawn(seed, rows=400):
    """Scores that overestimate, with an uncertainty that matters and features of both kinds."""
    random = np.random.default_rng(seed)
    score = random.random(rows)
    kind = random.integers(0, 3, rows)
    age = np.where(random.random(rows) < 0.1, np.nan, random.normal(40, 10, rows))
    label = random.random(rows) < score ** (1 + kind)
    features = {
        "kind": Feature(levels=("a", "b", "c"), value=kind.astype(float)),
        "age": Feature(levels=None, value=age),
    }
    return scored(score, label, uncertainty=random.random(rows), features=features)


@given(ROWS)
def test_isotonic_equals_scikit_learn(rows):
    score, label = arrays(rows)
    counts = pool(score, label)
    model = IsotonicRegression(out_of_bounds="clip")
    if len(counts.value) > 1 and np.diff(counts.value).min() < 1e-14:
        return  # scikit-learn pools scores that close
    model.fit(counts.value, counts.positives / counts.count, sample_weight=counts.count)
    new = np.concatenate([score, np.linspace(-0.2, 1.2, 41)])
    got = fit_isotonic(counts).probability(new, PROBABILITY)
    np.testing.assert_allclose(got, model.predict(new), atol=1e-9)


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(30, 200))
def test_platt_equals_scikit_learn(seed, rows):
    random = np.random.default_rng(seed)
    score = random.random(rows)
    label = random.random(rows) < 0.1 + 0.8 * score
    label[:2], label[2:4], score[:4] = True, False, [0.2, 0.7, 0.3, 0.8]
    fitted = fit_platt(pool(score, label), PROBABILITY).map
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own advice on C
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
        model.fit(oracle.logit(score)[:, None], label)
    assert fitted.slope == pytest.approx(model.coef_[0, 0], abs=1e-6)
    assert fitted.intercept == pytest.approx(model.intercept_[0], abs=1e-6)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(5, 80), st.sampled_from([0.2, 1.0, 4.0]))
def test_temperature_and_beta_have_the_smallest_loss(seed, rows, power):
    random = np.random.default_rng(seed)
    score = random.random(rows)
    label = random.random(rows) < score**power
    label[:2], label[2:4] = True, False
    score[:4] = [0.2, 0.7, 0.3, 0.8]
    counts = pool(score, label)
    slope = fit_temperature(counts, PROBABILITY).map.slope
    log_odds = oracle.logit(score)
    best = oracle.loss(oracle.temperature(score, label) * log_odds, label)
    assert oracle.loss(slope * log_odds, label) <= best + 1e-7
    fitted = fit_beta(counts, PROBABILITY).map
    assert min(fitted.a, fitted.b) >= 0
    own = oracle.loss(fitted.a * np.log(score) - fitted.b * np.log1p(-score) + fitted.c, label)
    assert own <= oracle.beta(score, label) + 1e-6


@given(ROWS, st.integers(1, 8))
def test_histogram_is_the_rate_of_the_bin(rows, bins):
    score, label = arrays(rows)
    data = scored(score, label)
    fitted = fit(data, CalibrationOptions(method=CalibrationMethod.HISTOGRAM, n_bins=bins))
    np.testing.assert_allclose(fitted.predict(data).probability, oracle.histogram(score, label, bins))


@given(ROWS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_mist_is_isotonic_in_each_uncertainty_bin(rows, levels, random):
    score, label = arrays(rows)
    uncertainty = np.array([random.choice([0.0, 0.5, 1.0]) for _ in rows])
    data = scored(score, label, uncertainty=uncertainty)
    fitted = fit(data, CalibrationOptions(method=CalibrationMethod.MIST, uncertainty_bins=levels))
    got = fitted.predict(data).probability
    ordered = np.sort(uncertainty)
    edges = [ordered[r * len(rows) // levels] for r in range(1, levels)]
    level = np.array([sum(edge <= value for edge in edges) for value in uncertainty])
    for number in np.unique(level):
        inside = level == number
        alone = fit_isotonic(pool(score[inside], label[inside]))
        np.testing.assert_array_equal(got[inside], alone.probability(score[inside], PROBABILITY))


@pytest.mark.parametrize("method", SCORES_ALONE)
@settings(max_examples=40)
@given(rows=ROWS)
def test_probabilities_rise_and_weights_are_repeated_rows(method, rows):
    score, label = arrays(rows)
    options = CalibrationOptions(method=method, scale=Scale(undersampled=3.0))
    fitted = fit(scored(score, label), options)
    new = scored(np.linspace(0, 1, 60), np.zeros(60))
    probability = fitted.predict(new).probability
    assert np.isfinite(probability).all()
    assert ((probability >= 0) & (probability <= 1)).all()
    rising = method not in (CalibrationMethod.HISTOGRAM, CalibrationMethod.PLATT)
    assert not rising or (np.diff(probability) >= 0).all()
    order = np.random.default_rng(0).permutation(len(score))
    assert fit(scored(score[order], label[order]), options).map == fitted.map
    doubled = fit(scored(np.tile(score, 2), np.tile(label, 2)), options)
    weighted = fit(scored(score, label, weight=np.full(len(score), 2)), options)
    assert doubled.map == weighted.map


@settings(max_examples=40)
@given(rows=ROWS)
def test_swapping_the_classes_swaps_the_probabilities(rows):
    score, label = arrays(rows)
    grid = np.linspace(0.01, 0.99, 30)
    for method in (CalibrationMethod.TEMPERATURE, CalibrationMethod.PLATT):
        options = CalibrationOptions(method=method, scale=Scale(real=True))
        one = fit(scored(oracle.logit(score), label), options)
        other = fit(scored(-oracle.logit(score), ~label), options)
        new = scored(oracle.logit(grid), np.zeros(30)), scored(-oracle.logit(grid), np.zeros(30))
        np.testing.assert_allclose(
            one.predict(new[0]).probability, 1 - other.predict(new[1]).probability, atol=1e-6
        )


@pytest.mark.parametrize(
    ("score", "label", "said"),
    [
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], "separates"),
        ([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], "separates"),
        ([0.1, 0.5, 0.5, 0.9], [0, 0, 1, 1], "separates"),
        ([0.1, 0.2, 0.8], [0, 0, 0], "all labels are equal"),
        ([0.4, 0.4, 0.4], [0, 1, 1], "All scores are equal"),
        ([0.1, 0.4, 0.6, 0.9], [1, 0, 1, 0], "negative"),
    ],
)
def test_fits_without_a_maximum_are_finite_and_say_so(score, label, said):
    data = scored(score, label)
    fitted = fit(data, CalibrationOptions(method=CalibrationMethod.PLATT))
    probability = fitted.predict(data).probability
    assert ((probability > 0) & (probability < 1)).all()
    assert said in " ".join(fitted.notes)
    for method in SCORES_ALONE:
        assert np.isfinite(fit(data, CalibrationOptions(method=method)).predict(data).probability).all()


def test_a_constant_score_becomes_the_rate():
    data = scored([0.4] * 4, [0, 1, 1, 1])
    np.testing.assert_allclose(fit(data, CalibrationOptions()).predict(data).probability, 0.75)


def test_undersampling_is_undone_in_closed_form():
    truth, tau = np.linspace(0.001, 0.999, 50), 4.0
    seen = truth / (truth + (1 - truth) / tau)
    np.testing.assert_allclose(Scale(undersampled=tau).corrected(seen), truth)
    real = Scale(real=True, undersampled=tau)
    np.testing.assert_allclose(real.probability(real.corrected(oracle.logit(seen))), truth)
    assert Scale(undersampled=tau).corrected(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("partitioner", Partitioner)
@pytest.mark.parametrize("leaf_method", LeafMethod)
def test_trees_calibrate_what_one_map_cannot(partitioner, leaf_method):
    data = drawn(1, rows=6000)
    options = CalibrationOptions(
        method=CalibrationMethod.HETEROGENEOUS,
        partitioner=partitioner,
        leaf_method=leaf_method,
        min_leaf=200,
    )
    new = drawn(2, rows=6000)
    one = fit(data, CalibrationOptions()).predict(new).probability
    many = fit(data, options).predict(new).probability
    assert ((many >= 0) & (many <= 1)).all()
    worst = {
        name: max(
            abs(
                probability[new.features["kind"].value == kind].mean()
                - new.positive[new.features["kind"].value == kind].mean()
            )
            for kind in range(3)
        )
        for name, probability in (("one", one), ("many", many))
    }
    assert worst["many"] < 0.5 * worst["one"]


@pytest.mark.parametrize("split", SplitCriterion)
def test_single_trees_are_monotone_in_each_leaf_and_follow_their_rules(split):
    data = drawn(3, rows=4000)
    options = CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS, min_leaf=300, split=split)
    fitted = fit(data, options)
    found = fitted.predict(data)
    (tree,) = fitted.map.trees
    assert len(tree.leaves) > 1
    for number, leaf in enumerate(tree.leaves):
        inside = found.leaf == number
        order = np.argsort(data.score[inside], kind="stable")
        assert (np.diff(found.probability[inside][order]) >= -1e-15).all()
        for part in leaf.rule.split(" and "):
            if part.startswith("age <= ") and "missing" not in part:
                assert (data.features["age"].value[inside] <= float(part.split()[2]) + 1e-3).all()


def test_small_leaves_use_a_larger_part_and_those_of_one_class_a_weak_penalty():
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
def test_fewer_rows_than_leaves(rows):
    data = drawn(5, rows=rows)
    for options in (
        CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS),
        CalibrationOptions(method=CalibrationMethod.HETEROGENEOUS, min_leaf=1, max_depth=5),
        CalibrationOptions(method=CalibrationMethod.HISTOGRAM, n_bins=20),
        CalibrationOptions(method=CalibrationMethod.MIST, uncertainty_bins=9),
    ):
        assert np.isfinite(fit(data, options).predict(data).probability).all()


def test_cross_fitting_never_shows_a_row_to_its_own_map():
    data = drawn(6, rows=101).pooled()
    options = CalibrationOptions(method=CalibrationMethod.ISOTONIC)

    def held_out(positive):
        found = cross_fitted(scored(data.score, positive).pooled(), options, None)
        return dict(zip(found.rows.score.tolist(), found.probability.tolist(), strict=True))

    before = held_out(data.positive)
    for row in (0, 50, 100):
        flipped = data.positive.copy()
        flipped[row] = not flipped[row]
        other = held_out(flipped)
        assert other[data.score[row]] == before[data.score[row]]
        assert other != before


@settings(max_examples=50)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 99))
def test_rows_are_dealt_out_whole(weights, parts, seed):
    """Every row of weight w is w rows, and no part has two rows more than another."""
    weight = np.array(weights)
    dealt = deal(weight, parts, np.random.default_rng(seed))
    assert (dealt >= 0).all()
    assert dealt.sum(axis=0).tolist() == weights
    sizes = dealt.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1


def test_folds_and_halves_do_not_see_the_order_of_the_rows():
    data = drawn(3, rows=400)
    features = {"g": Feature(levels=("a", "b"), value=np.arange(400.0) % 2)}
    twice = np.concatenate([np.arange(400), np.arange(0, 400, 3)])
    order = np.random.default_rng(1).permutation(len(twice))
    weight = np.ones(400, dtype=np.int64)
    weight[::3] = 2
    rows = scored(data.score, data.positive, weight=weight, features=features)
    shuffled = scored(
        data.score[twice][order],
        data.positive[twice][order],
        features={"g": features["g"].only(twice[order])},
    )
    for partitioner in Partitioner:
        options = CalibrationOptions(
            method=CalibrationMethod.HETEROGENEOUS, min_leaf=20, partitioner=partitioner
        )
        assert fit(rows.pooled(), options) == fit(shuffled.pooled(), options)
        one, other = (cross_fitted(each.pooled(), options, None) for each in (rows, shuffled))
        assert one.probability.tolist() == other.probability.tolist()
        assert one.rows.weight.tolist() == other.rows.weight.tolist()


def test_the_distribution_free_bound_holds_at_its_level():
    """Theorem 3: all bins at once, in at least 95 % of draws; loose, so in nearly all."""
    truth, sizes, broken = np.linspace(0.05, 0.95, 5), np.array([40, 80, 200, 400, 1000]), 0
    random = np.random.default_rng(7)
    for _ in range(2000):
        gap = 2 * np.abs(random.binomial(sizes, truth) / sizes - truth)  # the 1-norm of two classes
        broken += (gap > [bound(int(size), 5, 0.9) for size in sizes]).any()
    assert broken / 2000 <= 0.1


def test_points_of_an_isotonic_map_are_few():
    counts = pool(np.linspace(0, 1, 100_000), np.random.default_rng(8).random(100_000) < 0.5)
    fitted = fit_isotonic(counts)
    assert isinstance(fitted, IsotonicMap)
    assert len(fitted.x) < 200


def test_the_bound_for_the_target_holds_at_its_level():
    """Theorem 4: corrected frequencies under estimated weights, all bins at once."""
    random, broken = np.random.default_rng(9), 0
    truth, sizes, weights = np.array([0.1, 0.4, 0.8]), np.array([300, 500, 900]), np.array([0.5, 2.0])
    for _ in range(1000):
        rate = random.binomial(sizes, truth) / sizes
        estimated = weights + random.uniform(-0.05, 0.05, 2)
        corrected = Scale.in_target(rate, tuple(estimated))
        right = Scale.in_target(truth, tuple(weights))
        norm = max(bound(int(size), 3, 0.9) for size in sizes)
        broken += (2 * np.abs(corrected - right) > target_bound(estimated.tolist(), norm, 0.05)).any()
    assert broken / 1000 <= 0.1


@given(data_sets(max_size=40), st.booleans())
def test_counts_give_the_rows_and_the_map_of_rows(data, undersampled):
    score, _, positive, weight = (np.array(column) for column in zip(*data, strict=True))
    score = np.clip(score, 0, 1)
    rows = ScoredRows(score=score, uncertainty=None, positive=positive, weight=weight, features={}).pooled()
    counts = pool(score, positive, weight)
    made = rows_of(counts)
    for name in ("score", "positive", "weight"):
        assert getattr(made, name).tolist() == getattr(rows, name).tolist()
    scale = Scale(undersampled=3.0 if undersampled else 1.0)
    how = CalibrationOptions(method=CalibrationMethod.ISOTONIC, scale=scale)
    assert fit_counts(counts, how) == fit(rows, how)


def test_rows_are_drawn_without_replacement_in_proportion(monkeypatch):
    monkeypatch.setattr(scored_rows, "MEASURED_ROWS", 600)
    random = np.random.default_rng(0)
    count = random.integers(1, 9, 400)
    counts = ValueCounts(
        value=np.sort(random.random(400)), count=count, positives=random.binomial(count, 0.3)
    )
    drawn = [drawn_from(counts, seed) for seed in range(200)]
    place = [np.searchsorted(counts.value, each.value) for each in drawn]
    taken, hits = np.zeros((2, 400), dtype=np.int64)
    for each, at in zip(drawn, place, strict=True):
        assert each.rows == 600
        assert (each.count <= counts.count[at]).all()
        assert (each.positives <= counts.positives[at]).all()
        assert (each.count - each.positives <= (counts.count - counts.positives)[at]).all()
        taken[at] += each.count
        hits[at] += each.positives
    share = 600 / counts.rows
    error = np.sqrt(200 * counts.count * share * (1 - share))
    assert (np.abs(taken - 200 * share * counts.count) < 5 * error + 1).all()
    assert abs(hits.sum() / taken.sum() - counts.positives.sum() / counts.rows) < 0.01
    assert drawn_from(replace(counts, count=np.ones_like(count)), 0).rows == 400

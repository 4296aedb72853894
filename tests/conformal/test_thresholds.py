"""Tests of prediction sets: against oracles, by their guarantees, and in edge cases."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import conformal as oracle
from tests.properties.class_rows import SOURCE, TARGET, gaussian_mixture, posterior, problems
from uqcli.base.choices import ConformalMethod
from uqcli.conformal.coverage import (
    SCORES,
    LabelScores,
    clustered_threshold,
    label_conditional_thresholds,
    label_shift_thresholds,
    marginal_threshold,
)
from uqcli.shift.estimators import bbse

ALPHAS = st.sampled_from(
    [Fraction(1, 10), Fraction(1, 20), Fraction(1, 3), Fraction(9, 10), Fraction(1, 1000)]
)


@given(problems(), st.sampled_from(ConformalMethod), ALPHAS)
def test_scores_thresholds_and_sets_equal_those_of_the_oracle(problem, method, alpha):
    probability, label, uniform = problem
    scores = SCORES[method].label_scores(probability, label, uniform)
    expected = [
        oracle.score(p, y, u, method) for p, y, u in zip(probability.tolist(), label, uniform, strict=True)
    ]
    assert scores.tolist() == expected
    threshold = marginal_threshold(scores, None, alpha)
    assert threshold == oracle.marginal(expected, alpha)
    thresholds = np.linspace(0, 1, probability.shape[1]) * threshold
    for class_thresholds in (np.full((1, probability.shape[1]), threshold), thresholds[None, :]):
        members = SCORES[method].sets(probability, class_thresholds, uniform)
        for row_index, row_members in enumerate(members.tolist()):
            assert row_members == oracle.members(
                probability[row_index].tolist(), class_thresholds[0], uniform[row_index], method
            )


@given(problems(), ALPHAS, st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5]), min_size=5, max_size=5))
def test_label_shift_thresholds_are_exact(problem, alpha, weights):
    probability, label, uniform = problem
    classes = probability.shape[1]
    scores = SCORES[ConformalMethod.APS].label_scores(probability, label, uniform)
    rows = LabelScores(score=scores, label=label, weight=None)
    class_weights = weights[:classes]
    expected = [
        oracle.label_shift(scores.tolist(), label.tolist(), class_weights, alpha, class_number)
        for class_number in range(classes)
    ]
    assert label_shift_thresholds(rows, class_weights, alpha) == expected
    equal = label_shift_thresholds(rows, [0.3] * classes, alpha)
    assert equal == [marginal_threshold(scores, None, alpha)] * classes


@given(problems(), ALPHAS)
def test_weights_count_as_repeated_rows(problem, alpha):
    probability, label, uniform = problem
    scores = SCORES[ConformalMethod.LAC].label_scores(probability, label, uniform)
    copies = np.arange(len(label)) % 3
    weighted = LabelScores(score=scores, label=label, weight=copies)
    repeated = LabelScores(score=np.repeat(scores, copies), label=np.repeat(label, copies), weight=None)
    classes = probability.shape[1]
    assert label_shift_thresholds(weighted, [1.0, 2.0, 0.5, 1.5, 3.0][:classes], alpha) == (
        label_shift_thresholds(repeated, [1.0, 2.0, 0.5, 1.5, 3.0][:classes], alpha)
    )
    alphas = [alpha] * classes
    assert label_conditional_thresholds(weighted, alphas) == label_conditional_thresholds(repeated, alphas)


def test_too_few_rows_or_an_unseen_class_give_full_sets():
    assert marginal_threshold(np.array([0.1, 0.2]), None, Fraction(1, 10)) == 2.0
    assert marginal_threshold(np.empty(0), None, Fraction(1, 2)) == 2.0
    rows = LabelScores(score=np.full(50, 0.3), label=np.zeros(50, dtype=np.int64), weight=None)
    assert label_conditional_thresholds(rows, [Fraction(1, 10)] * 2) == [0.3, 2.0]
    for rule in SCORES.values():
        full_sets = rule.sets(np.array([[1.0, 0.0, 0.0]]), np.full((1, 3), rule.every_label), np.ones(1))
        assert full_sets.all()


@pytest.mark.parametrize("uniform", [1.0, 0.4])
def test_a_class_of_probability_0_is_in_a_set_of_every_label_only(uniform):
    """One-hot rows: 19 of 20 are right, so that their class alone covers 95 %."""
    probability, uniforms = np.tile([1.0, 0.0, 0.0], (100, 1)), np.full(100, uniform)
    label = (np.arange(100) % 20 == 0).astype(np.int64)
    aps = SCORES[ConformalMethod.APS]
    scores = aps.label_scores(probability, label, uniforms)
    assert set(scores.tolist()) == {uniform, 2.0}
    threshold = marginal_threshold(scores, None, Fraction(1, 10))
    assert threshold == uniform
    inside = aps.sets(probability, np.full((1, 3), threshold), uniforms)
    assert (inside == [True, False, False]).all()
    assert marginal_threshold(scores, None, Fraction(1, 50)) == aps.every_label
    assert aps.sets(probability, np.full((1, 3), aps.every_label), uniforms).all()
    assert aps.sets_of_format_1(probability, np.ones((1, 3)), uniforms).all()  # as earlier versions decided


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("method", ConformalMethod)
def test_marginal_coverage_lies_within_its_bounds(method):
    """Coverage is in [1-alpha, 1-alpha+1/(n+1)], within Monte-Carlo error."""
    random, coverages, runs, n = np.random.default_rng(1), [], 1500, 60
    for _ in range(runs):
        label, x = gaussian_mixture(random, n + 20, SOURCE)
        probability, uniform = posterior(x, SOURCE), random.random(n + 20)
        scores = SCORES[method].label_scores(probability, label, uniform)
        threshold = marginal_threshold(scores[:n], None, Fraction(1, 10))
        coverages.append(np.mean(scores[n:] <= threshold))
    error = 4 * np.std(coverages) / np.sqrt(runs)
    assert 0.9 - error <= np.mean(coverages) <= 0.9 + 1 / (n + 1) + error


def test_label_conditional_coverage_holds_in_each_class():
    random, runs, n = np.random.default_rng(2), 600, 300
    coverages = np.zeros((runs, 3))
    for run in range(runs):
        label, x = gaussian_mixture(random, n, SOURCE)
        scores = SCORES[ConformalMethod.APS].label_scores(posterior(x, SOURCE), label, random.random(n))
        rows = LabelScores(score=scores, label=label, weight=None)
        thresholds = np.array(label_conditional_thresholds(rows, [Fraction(1, 5)] * 3))
        new_label, x = gaussian_mixture(random, 400, [1 / 3] * 3)
        new_scores = SCORES[ConformalMethod.APS].label_scores(
            posterior(x, SOURCE), new_label, random.random(400)
        )
        coverages[run] = [np.mean(new_scores[new_label == k] <= thresholds[k]) for k in range(3)]
    error = 4 * coverages.std(axis=0) / np.sqrt(runs)
    assert (coverages.mean(axis=0) >= 0.8 - error).all()
    assert (coverages.mean(axis=0) <= 0.8 + 0.05 + error).all()


def test_corrected_sets_cover_under_label_shift_and_uncorrected_do_not(capsys):
    """The paper's toy problem: Gaussian classes, other priors in the target, exact or estimated weights."""
    random, runs, n, alpha = np.random.default_rng(3), 300, 600, Fraction(1, 10)
    coverages = {"uncorrected": [], "oracle": [], "estimated": []}
    for _ in range(runs):
        label, x = gaussian_mixture(random, n, SOURCE)
        probability = posterior(x, SOURCE)
        scores = SCORES[ConformalMethod.LAC].label_scores(probability, label, np.ones(n))
        rows = LabelScores(score=scores, label=label, weight=None)
        new_label, x = gaussian_mixture(random, 600, TARGET)
        target = posterior(x, SOURCE)
        confusion = np.zeros((3, 3))
        np.add.at(confusion, (probability.argmax(axis=1), label), 1 / n)
        predicted = np.bincount(target.argmax(axis=1), minlength=3) / 600
        weights = {
            "uncorrected": np.ones(3),
            "oracle": TARGET / SOURCE,
            "estimated": bbse(confusion, predicted, "abc").weights,
        }
        new_scores = SCORES[ConformalMethod.LAC].label_scores(target, new_label, np.ones(600))
        for name, weight in weights.items():
            thresholds = np.array(label_shift_thresholds(rows, weight.tolist(), alpha))
            coverages[name].append(np.mean(new_scores <= thresholds[new_label]))
    mean = {name: float(np.mean(values)) for name, values in coverages.items()}
    with capsys.disabled():
        sys.stdout.write(f"\ncoverage on the target, 0.9 guaranteed: {mean}\n")
    error = 4 * np.std(coverages["oracle"]) / np.sqrt(runs)
    assert mean["uncorrected"] < 0.87
    assert mean["oracle"] >= 0.9 - error
    assert mean["estimated"] >= 0.9 - 0.01 - error


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6), st.integers(1, 3)), min_size=1, max_size=40),
    ALPHAS,
)
def test_thresholds_of_clusters_equal_those_of_the_oracle(rows, alpha):
    score, cluster, weight = map(np.array, zip(*rows, strict=True))
    found = clustered_threshold(score / 10, weight, cluster, alpha)
    repeated = [
        (float(s), int(c)) for s, c, w in zip(score / 10, cluster, weight, strict=True) for _ in range(w)
    ]
    assert oracle.clustered_threshold(repeated, alpha) <= found
    assert found <= oracle.clustered_threshold(repeated, alpha - Fraction(1, 10**6))
    order = np.random.default_rng(0).permutation(len(score))
    assert clustered_threshold(score[order] / 10, weight[order], -cluster[order], alpha) == found


def test_clusters_of_one_row_have_the_marginal_threshold():
    score, one = np.linspace(0, 1, 57), np.ones(57, dtype=np.int64)
    for alpha in (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000)):
        assert clustered_threshold(score, one, np.arange(57), alpha) == marginal_threshold(score, None, alpha)

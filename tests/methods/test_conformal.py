"""Conformal sets and class weights: against oracles, by their guarantees, at their edges."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.oracles import conformal as oracle
from uqcli.choices import ConformalMethod
from uqcli.errors import InfeasibleError
from uqcli.kernels import nonconformity
from uqcli.methods.conformal.scores import SCORES
from uqcli.methods.conformal.thresholds import (
    LabelScores,
    label_conditional_thresholds,
    label_shift_thresholds,
    marginal_threshold,
)
from uqcli.methods.shift.sums import exact_sums, mean_responsibilities
from uqcli.methods.shift.weights import bbse, em, known, no_shift_p_value

ALPHAS = st.sampled_from(
    [Fraction(1, 10), Fraction(1, 20), Fraction(1, 3), Fraction(9, 10), Fraction(1, 1000)]
)


@st.composite
def problems(draw):
    """Probabilities with ties, labels, uniforms."""
    classes = draw(st.integers(2, 5))
    rows = draw(st.integers(1, 12))
    parts = draw(
        st.lists(
            st.lists(st.integers(0, 4), min_size=classes, max_size=classes).filter(any),
            min_size=rows,
            max_size=rows,
        )
    )
    probability = np.array([[each / sum(line) for each in line] for line in parts])
    label = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows)))
    uniform = np.array(draw(st.lists(st.floats(0, 1), min_size=rows, max_size=rows)))
    return probability, label, uniform


@given(problems(), st.sampled_from(ConformalMethod), ALPHAS)
def test_scores_thresholds_and_sets_are_the_oracles(problem, method, alpha):
    probability, label, uniform = problem
    scores = SCORES[method].of_labels(probability, label, uniform)
    expected = [
        oracle.score(p, y, u, method) for p, y, u in zip(probability.tolist(), label, uniform, strict=True)
    ]
    assert scores.tolist() == expected
    threshold = marginal_threshold(scores, None, alpha)
    assert threshold == oracle.marginal(expected, alpha)
    thresholds = np.linspace(0, 1, probability.shape[1]) * threshold
    for lines in (np.full((1, probability.shape[1]), threshold), thresholds[None, :]):
        inside = SCORES[method].sets(probability, lines, uniform)
        for row, line in enumerate(inside.tolist()):
            assert line == oracle.members(probability[row].tolist(), lines[0], uniform[row], method)


@given(problems())
def test_compiled_kernels_give_the_same(problem):
    probability, label, uniform = problem
    plain, compiled = np.empty(len(label)), np.empty(len(label))
    nonconformity.fill_true_label_scores.python(probability, label, uniform, plain)
    nonconformity.fill_true_label_scores.compiled(probability, label, uniform, compiled)
    assert plain.tolist() == compiled.tolist()
    threshold = np.linspace(0.2, 1, probability.shape[1])[None, :]
    masks = [np.zeros(probability.shape, dtype=bool) for _ in range(2)]
    nonconformity.fill_sets.python(probability, threshold, uniform, masks[0])
    nonconformity.fill_sets.compiled(probability, threshold, uniform, masks[1])
    assert (masks[0] == masks[1]).all()


@given(problems(), ALPHAS, st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5]), min_size=5, max_size=5))
def test_label_shift_thresholds_are_exact(problem, alpha, weights):
    probability, label, uniform = problem
    classes = probability.shape[1]
    scores = SCORES[ConformalMethod.APS].of_labels(probability, label, uniform)
    rows = LabelScores(score=scores, label=label, weight=None)
    chosen = weights[:classes]
    expected = [
        oracle.label_shift(scores.tolist(), label.tolist(), chosen, alpha, each) for each in range(classes)
    ]
    assert label_shift_thresholds(rows, chosen, alpha) == expected
    equal = label_shift_thresholds(rows, [0.3] * classes, alpha)
    assert equal == [marginal_threshold(scores, None, alpha)] * classes


@given(problems(), ALPHAS)
def test_weights_are_repeated_rows(problem, alpha):
    probability, label, uniform = problem
    scores = SCORES[ConformalMethod.LAC].of_labels(probability, label, uniform)
    times = np.arange(len(label)) % 3
    weighted = LabelScores(score=scores, label=label, weight=times)
    repeated = LabelScores(score=np.repeat(scores, times), label=np.repeat(label, times), weight=None)
    classes = probability.shape[1]
    assert label_shift_thresholds(weighted, [1.0, 2.0, 0.5, 1.5, 3.0][:classes], alpha) == (
        label_shift_thresholds(repeated, [1.0, 2.0, 0.5, 1.5, 3.0][:classes], alpha)
    )
    alphas = [alpha] * classes
    assert label_conditional_thresholds(weighted, alphas) == label_conditional_thresholds(repeated, alphas)


def test_too_few_rows_or_an_unseen_class_put_every_label_in():
    assert marginal_threshold(np.array([0.1, 0.2]), None, Fraction(1, 10)) == 1.0
    assert marginal_threshold(np.empty(0), None, Fraction(1, 2)) == 1.0
    rows = LabelScores(score=np.full(50, 0.3), label=np.zeros(50, dtype=np.int64), weight=None)
    assert label_conditional_thresholds(rows, [Fraction(1, 10)] * 2) == [0.3, 1.0]
    everything = nonconformity.sets_below(np.array([[1.0, 0.0, 0.0]]), np.ones((1, 3)), np.ones(1))
    assert everything.all()


def gaussian_mixture(random, rows, prior, classes=3):
    """Labels and the exact class probabilities under the first prior."""
    label = random.choice(classes, rows, p=prior)
    x = random.normal(1.5 * label, 1.0)
    return label, x


def posterior(x, prior):
    joint = np.stack([q * stats.norm.pdf(x, 1.5 * k, 1.0) for k, q in enumerate(prior)], axis=1)
    return joint / joint.sum(axis=1, keepdims=True)


SOURCE, TARGET = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6])


@pytest.mark.parametrize("method", ConformalMethod)
def test_marginal_coverage_lies_within_its_bounds(method):
    """In [1-alpha, 1-alpha+1/(n+1)], within Monte-Carlo error."""
    random, covered, runs, n = np.random.default_rng(1), [], 1500, 60
    for _ in range(runs):
        label, x = gaussian_mixture(random, n + 20, SOURCE)
        probability, uniform = posterior(x, SOURCE), random.random(n + 20)
        scores = SCORES[method].of_labels(probability, label, uniform)
        threshold = marginal_threshold(scores[:n], None, Fraction(1, 10))
        covered.append(np.mean(scores[n:] <= threshold))
    error = 4 * np.std(covered) / np.sqrt(runs)
    assert 0.9 - error <= np.mean(covered) <= 0.9 + 1 / (n + 1) + error


def test_label_conditional_coverage_holds_in_each_class():
    random, runs, n = np.random.default_rng(2), 600, 300
    covered = np.zeros((runs, 3))
    for run in range(runs):
        label, x = gaussian_mixture(random, n, SOURCE)
        scores = SCORES[ConformalMethod.APS].of_labels(posterior(x, SOURCE), label, random.random(n))
        rows = LabelScores(score=scores, label=label, weight=None)
        thresholds = np.array(label_conditional_thresholds(rows, [Fraction(1, 5)] * 3))
        new, x = gaussian_mixture(random, 400, [1 / 3] * 3)
        fresh = SCORES[ConformalMethod.APS].of_labels(posterior(x, SOURCE), new, random.random(400))
        covered[run] = [np.mean(fresh[new == k] <= thresholds[k]) for k in range(3)]
    error = 4 * covered.std(axis=0) / np.sqrt(runs)
    assert (covered.mean(axis=0) >= 0.8 - error).all()
    assert (covered.mean(axis=0) <= 0.8 + 0.05 + error).all()


def test_corrected_sets_hold_under_label_shift_where_others_fail(capsys):
    """The paper's toy: Gaussians under another prior, with oracle and estimated weights."""
    random, runs, n, alpha = np.random.default_rng(3), 300, 600, Fraction(1, 10)
    covered = {"uncorrected": [], "oracle": [], "estimated": []}
    for _ in range(runs):
        label, x = gaussian_mixture(random, n, SOURCE)
        probability = posterior(x, SOURCE)
        scores = SCORES[ConformalMethod.LAC].of_labels(probability, label, np.ones(n))
        rows = LabelScores(score=scores, label=label, weight=None)
        new, x = gaussian_mixture(random, 600, TARGET)
        target = posterior(x, SOURCE)
        confusion = np.zeros((3, 3))
        np.add.at(confusion, (probability.argmax(axis=1), label), 1 / n)
        predicted = np.bincount(target.argmax(axis=1), minlength=3) / 600
        weights = {
            "uncorrected": np.ones(3),
            "oracle": TARGET / SOURCE,
            "estimated": bbse(confusion, predicted, "abc").weights,
        }
        fresh = SCORES[ConformalMethod.LAC].of_labels(target, new, np.ones(600))
        for name, weight in weights.items():
            thresholds = np.array(label_shift_thresholds(rows, weight.tolist(), alpha))
            covered[name].append(np.mean(fresh <= thresholds[new]))
    mean = {name: float(np.mean(values)) for name, values in covered.items()}
    with capsys.disabled():
        sys.stdout.write(f"\ncoverage on the target, 0.9 promised: {mean}\n")
    error = 4 * np.std(covered["oracle"]) / np.sqrt(runs)
    assert mean["uncorrected"] < 0.87
    assert mean["oracle"] >= 0.9 - error
    assert mean["estimated"] >= 0.9 - 0.01 - error


@pytest.mark.parametrize("estimator", ["hard", "soft", "em"])
def test_estimators_recover_a_known_prior(estimator):
    random, found = np.random.default_rng(4), []
    for _ in range(40):
        label, x = gaussian_mixture(random, 4000, SOURCE)
        source = posterior(x, SOURCE)
        _, x = gaussian_mixture(random, 4000, TARGET)
        target = posterior(x, SOURCE)
        ones = np.ones(4000, dtype=np.int64)
        prior = np.bincount(label, minlength=3) / 4000
        if estimator == "em":
            weights = em(mean_responsibilities(target, ones), prior, "abc").weights
        else:
            if estimator == "hard":
                source, target = (np.eye(3)[each.argmax(axis=1)] for each in (source, target))
            joint = np.stack([exact_sums(source, ones * (label == k)) for k in range(3)], axis=1) / 4000
            weights = bbse(joint, exact_sums(target, ones) / 4000, "abc").weights
        found.append(weights * prior)
    error = 4 * np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - TARGET) <= error + 0.005).all()


def test_singular_and_contradictory_inputs_name_the_reason():
    with pytest.raises(InfeasibleError, match="class 'b'"):
        bbse(np.array([[0.5, 0.0], [0.5, 0.0]]), np.array([0.5, 0.5]), "ab")
    with pytest.raises(InfeasibleError, match="do not tell classes apart"):
        bbse(np.array([[0.25, 0.25], [0.25, 0.25]]), np.array([0.5, 0.5]), "ab")
    with pytest.raises(InfeasibleError, match="class 'b'"):
        known(np.array([0.5, 0.5]), np.array([1.0, 0.0]), "ab")
    with pytest.raises(InfeasibleError, match="class 'b'"):
        em(lambda weights: weights, np.array([1.0, 0.0]), "ab")
    with pytest.raises(InfeasibleError, match="does not converge"):
        em(lambda w: np.array([0.9, 0.1] if w[0] <= 1 else [0.1, 0.9]), np.array([0.5, 0.5]), "ab")
    clipped = bbse(np.array([[0.5, 0.2], [0.1, 0.2]]), np.array([0.95, 0.05]), "ab")
    assert clipped.clipped == (1,)
    assert clipped.weights[1] == 0


def test_the_test_of_no_shift_holds_its_level():
    random = np.random.default_rng(5)
    values = [
        no_shift_p_value(random.multinomial(800, SOURCE), random.multinomial(500, SOURCE))
        for _ in range(2000)
    ]
    assert abs(np.mean(np.array(values) <= 0.05) - 0.05) < 0.02
    assert no_shift_p_value(random.multinomial(800, SOURCE), random.multinomial(500, TARGET)) < 1e-9
    assert no_shift_p_value(np.array([5.0, 0.0]), np.array([7.0, 0.0])) == 1.0


@settings(max_examples=30)
@given(problems(), st.randoms(use_true_random=False))
def test_sums_do_not_depend_on_the_order_of_rows(problem, random):
    probability, _, _ = problem
    weight = np.arange(len(probability)) % 3
    order = np.array(random.sample(range(len(probability)), len(probability)))
    assert exact_sums(probability, weight).tolist() == exact_sums(probability[order], weight[order]).tolist()
    np.testing.assert_allclose(exact_sums(probability, weight), weight @ probability, atol=1e-10)

"""Tests of class weights: known priors are recovered, errors name their reason, and sums are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.properties.class_rows import SOURCE, TARGET, gaussian_mixture, posterior, problems
from uqcli.base.errors import InfeasibleError
from uqcli.shift.estimators import bbse, em, exact_sums, known, mean_responsibilities, no_shift_p_value


@pytest.mark.parametrize("estimator", ["hard", "soft", "em"])
def test_estimators_recover_a_known_prior(estimator):
    random, target_priors = np.random.default_rng(4), []
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
                source, target = (np.eye(3)[probability.argmax(axis=1)] for probability in (source, target))
            joint = np.stack([exact_sums(source, ones * (label == k)) for k in range(3)], axis=1) / 4000
            weights = bbse(joint, exact_sums(target, ones) / 4000, "abc").weights
        target_priors.append(weights * prior)
    error = 4 * np.std(target_priors, axis=0) / np.sqrt(len(target_priors))
    assert (np.abs(np.mean(target_priors, axis=0) - TARGET) <= error + 0.005).all()


def test_errors_of_singular_and_contradictory_inputs_name_the_reason():
    with pytest.raises(InfeasibleError, match="class 'b'"):
        bbse(np.array([[0.5, 0.0], [0.5, 0.0]]), np.array([0.5, 0.5]), "ab")
    with pytest.raises(InfeasibleError, match="do not separate the classes"):
        bbse(np.array([[0.25, 0.25], [0.25, 0.25]]), np.array([0.5, 0.5]), "ab")
    with pytest.raises(InfeasibleError, match="class 'b'"):
        known(np.array([0.5, 0.5]), np.array([1.0, 0.0]), "ab")
    with pytest.raises(InfeasibleError, match="class 'b'"):
        em(lambda weights: weights, np.array([1.0, 0.0]), "ab")
    with pytest.raises(InfeasibleError, match="did not converge"):
        em(lambda w: np.array([0.9, 0.1] if w[0] <= 1 else [0.1, 0.9]), np.array([0.5, 0.5]), "ab")
    clipped = bbse(np.array([[0.5, 0.2], [0.1, 0.2]]), np.array([0.95, 0.05]), "ab")
    assert clipped.clipped == (1,)
    assert clipped.weights[1] == 0


def test_the_test_of_no_shift_has_its_level():
    random = np.random.default_rng(5)
    p_values = [
        no_shift_p_value(random.multinomial(800, SOURCE), random.multinomial(500, SOURCE))
        for _ in range(2000)
    ]
    assert abs(np.mean(np.array(p_values) <= 0.05) - 0.05) < 0.02
    assert no_shift_p_value(random.multinomial(800, SOURCE), random.multinomial(500, TARGET)) < 1e-9
    assert no_shift_p_value(np.array([5.0, 0.0]), np.array([7.0, 0.0])) == 1.0
    assert no_shift_p_value(np.array([2.0, 1.0, 1.0]), np.array([1.0, 2.0, 0.0])) == 1.0


@pytest.mark.parametrize(("source", "target"), [((97, 3), (95, 5)), ((9, 0), (40, 6)), ((30, 1), (400, 60))])
def test_a_rare_class_beside_one_other_is_tested_exactly(source, target):
    expected = stats.fisher_exact([source, target])[1]
    assert no_shift_p_value(np.array(source), np.array(target)) == pytest.approx(expected, rel=1e-9)
    three = no_shift_p_value(np.array([source[0], source[1], 0]), np.array([target[0], 0, target[1]]))
    pooled = [[source[0], source[1]], [target[0], target[1]]]
    assert three == pytest.approx(stats.fisher_exact(pooled)[1], rel=1e-9)


def test_classes_that_stay_rare_join_the_smallest_class_kept():
    source, target = np.array([60, 30, 2, 1]), np.array([50, 45, 1, 2])
    joined = no_shift_p_value(np.array([60, 33]), np.array([50, 48]))
    assert no_shift_p_value(source, target) == joined
    assert no_shift_p_value(source[::-1], target[::-1]) == pytest.approx(joined, rel=1e-12)


@settings(max_examples=30)
@given(problems(), st.randoms(use_true_random=False))
def test_sums_do_not_depend_on_the_order_of_rows(problem, random):
    probability, _, _ = problem
    weight = np.arange(len(probability)) % 3
    order = np.array(random.sample(range(len(probability)), len(probability)))
    assert exact_sums(probability, weight).tolist() == exact_sums(probability[order], weight[order]).tolist()
    np.testing.assert_allclose(exact_sums(probability, weight), weight @ probability, atol=1e-10)

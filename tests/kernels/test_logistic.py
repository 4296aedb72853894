"""Tests of the logistic fit, against scipy's general minimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from uqcli.kernels.logistic import (
    POOLED_VALUES,
    fill_line_terms,
    fit_in_parts,
    fits_by_ridge,
    line_terms,
    logistic_fit,
    loss_at,
    pooled_values,
    sigmoid,
)


def loss(beta, features, count, positives, ridge, offset):
    z = offset + beta[0] + beta[1:] @ features
    centred = features - (features * count).sum(1, keepdims=True) / count.sum()
    scale = np.sqrt((centred**2 * count).sum(1) / count.sum())
    log_p, log_q = -np.logaddexp(0, -z), -np.logaddexp(0, z)
    log_likelihood = (positives * log_p + (count - positives) * log_q).sum()
    at_mean = beta[0] + (beta[1:] * (features * count).sum(1) / count.sum()).sum()
    return ridge / 2 * (at_mean**2 + ((beta[1:] * scale) ** 2).sum()) - log_likelihood


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 2), st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, -1.5]))
def test_the_fit_maximises_the_likelihood(seed, n_features, ridge, offset):
    random = np.random.default_rng(seed)
    features = random.normal(3, 2, (n_features, 40))
    count = random.integers(1, 6, 40)
    positives = random.binomial(count, sigmoid(0.4 * features.sum(0) - 1))
    positives[:2], positives[2:4] = count[:2], 0  # both classes occur, so that a maximum exists
    coefficients = logistic_fit(features, count, positives, ridge=ridge, offset=offset)
    arguments = (features, count, positives, ridge, offset)
    best = minimize(loss, np.zeros(n_features + 1), args=arguments, method="BFGS", options={"gtol": 1e-9})
    assert loss(coefficients, *arguments) <= best.fun + 1e-9 * abs(best.fun)
    np.testing.assert_allclose(coefficients, best.x, atol=1e-4)


def test_a_constant_feature_has_slope_zero():
    coefficients = logistic_fit(np.full((1, 4), 7.0), np.full(4, 5), np.array([1, 2, 1, 1]))
    np.testing.assert_allclose(coefficients, [np.log(5 / 15), 0], atol=1e-12)


def test_separated_classes_with_a_ridge_have_finite_slopes():
    features = np.array([[0.0, 1.0, 2.0, 3.0]])
    coefficients = logistic_fit(features, np.full(4, 10), np.array([0, 0, 10, 10]), ridge=1e-6)
    assert np.isfinite(coefficients).all()
    assert coefficients[1] > 5


@pytest.mark.parametrize("value", [-1e308, -800.0, 0.0, 800.0, 1e308])
def test_sigmoid_does_not_overflow(value):
    assert sigmoid(np.array([value]))[0] == pytest.approx(0.5 * (1 + np.tanh(value / 2)), abs=1e-300)


@pytest.mark.parametrize("form", ["_on_lists", "arrays", "compiled"])
def test_terms_of_a_line_are_the_derivatives_bit_by_bit(monkeypatch, form):
    monkeypatch.setattr(
        fill_line_terms, "run", lambda _, *arguments: getattr(fill_line_terms, form)(*arguments)
    )

    @settings(max_examples=20)
    @given(st.integers(0, 2**32), st.sampled_from([np.int32, np.int64]), st.sampled_from([1.0, 1e3]))
    def check(seed, kind, scale):
        random = np.random.default_rng(seed)
        x = scale * random.normal(0, 2, 30)
        count = random.integers(1, 6, 30).astype(kind)
        positives = random.binomial(count, sigmoid(x)).astype(kind)
        for beta in (np.array([-0.3]), np.array([-0.3, 1.2])):
            probability = sigmoid(beta[0] + (beta[1] * x if len(beta) == 2 else x))
            residual = positives - count * probability
            curvature = count * (probability * (1 - probability))
            gradient, hessian = [residual, residual * x], [curvature, curvature * x, curvature * x**2]
            expected = [*gradient[: len(beta)], *hessian[: 2 * len(beta) - 1]]
            assert line_terms(beta, x, count, positives).tolist() == [term.tolist() for term in expected]

    check()


@pytest.mark.parametrize("n_features", [1, 2])
def test_many_values_are_fitted_in_parts_as_at_once(n_features):
    random = np.random.default_rng(n_features)
    x = np.sort(random.normal(0, 2, 3 * POOLED_VALUES // 2))
    features = np.stack([x, np.minimum(x, 0.3)])[:n_features]
    count = random.integers(1, 4, len(x))
    positives = random.binomial(count, sigmoid(0.7 * x - 1))
    in_parts = fit_in_parts(features, count, positives)
    np.testing.assert_allclose(in_parts, logistic_fit(features, count, positives), rtol=1e-9)


def test_pooled_values_keep_rows_and_means():
    x = np.sort(np.random.default_rng(3).normal(size=POOLED_VALUES + 1000))
    count = np.arange(len(x)) % 3 + 1
    means, rows, positives = pooled_values(x[None, :], count, count // 2)
    assert (len(rows), rows.sum(), positives.sum()) == (POOLED_VALUES, count.sum(), (count // 2).sum())
    assert (means[0] * rows).sum() == pytest.approx((x * count).sum())


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 3), st.booleans())
def test_fits_that_start_from_each_other_are_those_that_start_anew(seed, n_features, alike):
    random = np.random.default_rng(seed)
    features = random.normal(3, 2, (n_features, 60))
    if alike and n_features:  # a constant, and a feature that nearly follows from another
        features[0], features[-1] = 1.0, features[-1] + 1e-3 * random.normal(size=60)
    count = random.integers(1, 6, 60)
    positives = random.binomial(count, sigmoid(0.2 * features.sum(0) - 1))
    ridges = (10.0, 1.0, 0.1, 0.01)
    for ridge, coefficients in zip(ridges, fits_by_ridge(features, count, positives, ridges), strict=True):
        expected = logistic_fit(features, count, positives, ridge)
        assert coefficients == pytest.approx(expected, rel=1e-6, abs=1e-6)  # neither ends at the optimum


@pytest.mark.parametrize("rows", [1, 16_384, 16_385, 40_001, 131_077, 300_000])
def test_losses_that_are_summed_in_parts_are_those_of_whole_arrays_to_the_last_bit(rows):
    random = np.random.default_rng(rows)
    log_odds, count = random.normal(0, 5, rows), random.integers(1, 9, rows)
    positives = random.binomial(count, 0.3)
    softplus = np.maximum(log_odds, 0) + np.log1p(np.exp(-np.abs(log_odds)))
    assert loss_at(log_odds, count, positives) == (count * softplus - positives * log_odds).sum()


def test_a_fit_to_many_values_is_that_of_whole_arrays_to_the_last_bit(monkeypatch):
    random = np.random.default_rng(2)
    features = random.normal(size=(2, 50_000))
    count = random.integers(1, 4, 50_000)
    positives = random.binomial(count, sigmoid(features[0]))
    in_parts = logistic_fit(features, count, positives)
    monkeypatch.setattr("uqcli.kernels.logistic.VALUES_PER_PART", 1 << 20)
    assert in_parts.tolist() == logistic_fit(features, count, positives).tolist()

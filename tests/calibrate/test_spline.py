"""Tests of monotone splines, against scipy's splines and a general minimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline
from scipy.optimize import minimize

from tests.oracles import calibration as oracle
from tests.properties.calibration_rows import PROBABILITY
from uqcli.base.counts import pool
from uqcli.calibrate.maps.spline import fit_by_ridge, fit_spline
from uqcli.kernels.interpolation import cubic_pieces, spline


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8, unique=True), st.integers(0, 10**6))
def test_pieces_are_the_spline_with_lines_outside(knots, seed):
    knots = np.sort(np.array(knots, dtype=float)) / 7
    levels = np.cumsum(np.random.default_rng(seed).random((len(knots) + 2, 2)), axis=0)
    expected = BSpline(np.concatenate([knots[:1].repeat(3), knots, knots[-1:].repeat(3)]), levels, 3)
    pieces = cubic_pieces(knots, levels)
    inside = np.linspace(knots[0], knots[-1], 30)
    np.testing.assert_allclose(spline(inside, knots, pieces).T, expected(inside), atol=1e-9)
    for end, step in ((knots[0], -2.0), (knots[-1], 3.0)):
        line = expected(end) + step * expected.derivative()(end)
        np.testing.assert_allclose(spline(np.array([end + step]), knots, pieces)[:, 0], line, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 150), st.sampled_from([0.01, 1.0, 10.0]))
def test_the_fit_has_the_smallest_penalised_loss(seed, rows, ridge):
    random = np.random.default_rng(seed)
    score = random.random(rows)
    label = random.random(rows) < score**2
    label[:2], label[2:4], score[:4] = True, False, [0.2, 0.7, 0.3, 0.8]
    fitted = fit_by_ridge(pool(score, label), PROBABILITY)(ridge).map
    knots = np.array(fitted.knots)
    basis = spline(oracle.logit(score), knots, cubic_pieces(knots, np.tril(np.ones((len(knots) + 2,) * 2))))

    def loss(coefficients):
        penalty = ridge / 2 * (np.diff(coefficients[1:]) ** 2).sum()
        return oracle.loss(coefficients @ basis, label) + penalty

    bounds = [(None, None), *[(0, None)] * (len(basis) - 1)]
    best = minimize(
        loss, np.zeros(len(basis)), bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-14, "maxfun": 10**5}
    )
    own = np.diff(np.array(fitted.levels), prepend=0.0)
    assert loss(own) <= best.fun + 1e-5
    assert (np.diff(fitted.levels) >= 0).all()


def test_a_bend_that_no_line_follows_is_fitted():
    random = np.random.default_rng(5)
    x = random.normal(0, 2, 50_000)
    truth = np.where(x < 0, -1.0, -1.0 + 2 * x)
    label = random.random(len(x)) < 1 / (1 + np.exp(-truth))
    score = 1 / (1 + np.exp(-x))
    fitted = fit_spline(pool(score, label), PROBABILITY, 0).map
    middle = np.abs(x) < 3
    error = oracle.logit(fitted.probability(score[middle], PROBABILITY)) - truth[middle]
    assert np.abs(error).max() < 0.35


@pytest.mark.parametrize("label", [[0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
def test_without_a_maximum_a_penalty_keeps_the_map_finite(label):
    fitted = fit_spline(pool(np.array([0.1, 0.2, 0.8, 0.9]), np.array(label) == 1), PROBABILITY, 0)
    probability = fitted.map.probability(np.array([0.0, 0.5, 1.0]), PROBABILITY)
    assert ((probability > 0) & (probability < 1)).all()
    assert fitted.notes

"""Tests of L-BFGS, against scipy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from uqcli.estimates.linear_scaling import minimum
from uqcli.kernels.linear import inverse


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_the_minimum_is_that_of_scipy(seed, size, preconditioned):
    random = np.random.default_rng(seed)
    root = random.normal(size=(size, size))
    quadratic, linear = root @ root.T + 0.1 * np.eye(size), random.normal(size=size)

    def loss(x):
        exponentials = np.exp(np.clip(0.3 * x, -50, 50))
        value = x @ quadratic @ x / 2 + linear @ x + exponentials.sum()
        return float(value), quadratic @ x + linear + 0.3 * exponentials

    inverted = inverse(quadratic)
    options = {"precondition": lambda gradient: inverted @ gradient} if preconditioned else {}
    best = minimize(loss, np.zeros(size), jac=True, method="BFGS", options={"gtol": 1e-10})
    assert loss(minimum(loss, np.zeros(size), **options))[0] == pytest.approx(best.fun, abs=1e-9)


def test_the_inverse_of_a_matrix():
    root = np.random.default_rng(2).normal(size=(9, 9))
    matrix = root @ root.T + np.eye(9)
    np.testing.assert_allclose(inverse(matrix) @ matrix, np.eye(9), atol=1e-10)

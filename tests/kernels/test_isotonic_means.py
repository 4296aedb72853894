"""Tests of isotonic means: rows fitted together equal rows fitted one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.smoothing import isotonic
from uqcli.kernels.pava import isotonic_means


@given(n_rows=st.integers(1, 40), size=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_rows_are_fitted_as_by_the_oracle_and_as_one_by_one(n_rows, size, seed):
    random = np.random.default_rng(seed)
    value = random.integers(1, 6, (n_rows, size)) / 8
    weight = random.integers(1, 4, (n_rows, size)).astype(float)
    fitted = isotonic_means(value, weight)
    one_by_one = [isotonic_means(value[[row]], weight[[row]])[0] for row in range(n_rows)]
    assert fitted.tolist() == [means.tolist() for means in one_by_one]
    for row_means, row_values, row_weights in zip(fitted, value, weight, strict=True):
        np.testing.assert_allclose(
            row_means[::-1], isotonic(row_values[::-1].tolist(), row_weights[::-1].tolist())
        )

"""Tests of isotonic means: rows fitted together equal rows fitted one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.smoothing import isotonic
from uqcli.kernels.pava import isotonic_means


@given(lines=st.integers(1, 40), size=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_rows_are_fitted_as_by_hand_and_as_one_by_one(lines, size, seed):
    random = np.random.default_rng(seed)
    value = random.integers(1, 6, (lines, size)) / 8
    weight = random.integers(1, 4, (lines, size)).astype(float)
    fitted = isotonic_means(value, weight)
    alone = [isotonic_means(value[[row]], weight[[row]])[0] for row in range(lines)]
    assert fitted.tolist() == [means.tolist() for means in alone]
    for line, row_values, row_weights in zip(fitted, value, weight, strict=True):
        np.testing.assert_allclose(
            line[::-1], isotonic(row_values[::-1].tolist(), row_weights[::-1].tolist())
        )

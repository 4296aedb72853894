"""Isotonic fits of numbers: many lines at once as one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.smoothing import isotonic
from uqcli.kernels.pava import isotonic_means


@given(lines=st.integers(1, 40), size=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_lines_are_fitted_as_by_hand_and_as_one_by_one(lines, size, seed):
    random = np.random.default_rng(seed)
    value = random.integers(1, 6, (lines, size)) / 8
    weight = random.integers(1, 4, (lines, size)).astype(float)
    fitted = isotonic_means(value, weight)
    alone = [isotonic_means(value[[at]], weight[[at]])[0] for at in range(lines)]
    assert fitted.tolist() == [each.tolist() for each in alone]
    for line, each, times in zip(fitted, value, weight, strict=True):
        np.testing.assert_allclose(line[::-1], isotonic(each[::-1].tolist(), times[::-1].tolist()))

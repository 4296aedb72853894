"""Tests of linear interpolation, against exact fractions."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracles import interpolation as oracle
from uqcli.kernels.interpolation import interpolate

SCORES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, 5e-324, 4e-320, 4e-314, 1e-300, 0.3, 0.30000000000000004, 1.0, 1e308, -1e308, -1.7e308]
)
POINTS = st.lists(st.tuples(SCORES, st.floats(0, 1)), min_size=1, max_size=12)


@given(POINTS, st.lists(SCORES, max_size=8))
@example([(0.0, 0.2), (4e-320, 0.22), (4e-314, 0.24), (1.0, 0.8)], [2.1e-319, 5.4e-316, 1e-10, 0.5])
@example([(-1.7e308, 0.0), (1.7e308, 1.0)], [-1e308, 0.0, 1e300])
@example([(0.0, 0.0), (1e308, 1e-10)], [1e307, 9.99e307])
def test_values_are_those_of_exact_fractions_and_in_order(points, values):
    x, y = (np.array(sorted(axis)) for axis in zip(*points, strict=True))
    values = np.unique(np.concatenate([values, x])) + 0.0
    fitted = interpolate(values, x, y)
    assert (np.diff(fitted) >= 0).all()
    for value, found in zip(values.tolist(), fitted.tolist(), strict=True):
        exact = float(oracle.interpolated(value, x.tolist(), y.tolist()))
        assert found == pytest.approx(exact, rel=1e-14, abs=1e-300)
        assert y[0] <= found <= y[-1]


def test_other_values_are_those_of_numpy_to_the_last_bit():
    random = np.random.default_rng(0)
    x, y = np.sort(random.random(200)), np.sort(random.random(200))
    values = random.random(100_000)
    assert (interpolate(values, x, y) == np.interp(values, x, y)).all()

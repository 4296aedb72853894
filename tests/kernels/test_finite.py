"""Tests of copying numbers: -0 becomes 0, and every number that is not finite is counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.kernels.finite import copied, copy_numbers


@pytest.mark.parametrize("form", ["arrays", "compiled"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(numbers=st.lists(st.floats(width=32), max_size=20))
def test_numbers_are_copied_and_counted(form, dtype, numbers):
    values = np.array(numbers, dtype=dtype)
    copy = np.empty_like(values)
    assert getattr(copy_numbers, form)(values, copy) == np.count_nonzero(~np.isfinite(values))
    np.testing.assert_array_equal(copy, values)
    assert not np.signbit(copy[copy == 0]).any()


def test_the_largest_numbers_are_finite():
    largest = np.array([np.finfo(np.float64).max, -np.finfo(np.float64).max])
    assert copied(largest)[1] == 0

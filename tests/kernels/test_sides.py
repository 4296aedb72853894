"""Tests of dividing columns between negative and positive rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.kernels.sides import by_side, divide

ROWS = st.lists(st.tuples(st.integers(-9, 9), st.booleans()), max_size=20)


@pytest.mark.parametrize("form", ["python", "arrays", "compiled"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@given(rows=ROWS)
def test_negative_rows_are_first_and_keep_their_order(form, dtype, rows):
    column = np.array([value for value, _ in rows], dtype=dtype)
    positive = np.array([flag for _, flag in rows], dtype=np.bool_)
    negatives = len(rows) - int(positive.sum())
    divided = np.empty_like(column)
    getattr(divide, form)(column, positive.view(np.int8), negatives, divided)
    expected = [value for side in (False, True) for value, flag in rows if flag == side]
    assert divided.tolist() == by_side(column, positive, negatives).tolist() == expected

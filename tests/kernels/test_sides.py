"""Tests of dividing columns between negative and positive rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.kernels.pooling import by_group, by_side, divide, scatter

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


@pytest.mark.parametrize("form", ["python", "arrays", "compiled"])
@pytest.mark.parametrize("kind", [np.int8, np.int64])
@given(rows=st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 3)), max_size=20))
def test_rows_of_a_group_keep_their_order(form, kind, rows):
    column, group = (np.array([row[index] for row in rows], dtype=kind) for index in (0, 1))
    sizes = np.bincount(group, minlength=4)
    grouped = np.empty_like(column)
    getattr(scatter, form)(column, group, np.cumsum(sizes) - sizes, grouped)
    expected = [value for wanted in range(4) for value, index in rows if index == wanted]
    assert grouped.tolist() == by_group(column, group, sizes).tolist() == expected

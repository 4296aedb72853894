"""Tests of the order of rows by several keys, and of the distinct ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.counts import distinct_rows


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=30))
def test_rows_are_in_the_order_of_all_their_keys(rows):
    keys = [np.array([row[index] for row in rows], dtype=np.float64) for index in range(3)]
    for number in range(1, 4):
        order, starts = distinct_rows(keys[:number])
        assert order.tolist() == np.lexsort(keys[:number][::-1]).tolist()
        assert [rows[index][:number] for index in order[starts]] == sorted({row[:number] for row in rows})

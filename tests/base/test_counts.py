"""Tests of the order of rows by several keys."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.counts import order_of


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=30))
def test_rows_are_in_the_order_of_all_their_keys(rows):
    keys = [np.array([row[index] for row in rows], dtype=np.float64) for index in range(3)]
    assert order_of(keys).tolist() == np.lexsort(keys[::-1]).tolist()
    assert order_of(keys[:1]).tolist() == np.argsort(keys[0], kind="stable").tolist()

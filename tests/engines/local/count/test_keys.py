"""Tests of integer keys that sort as their floats do, for both widths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.engines.local.count.keys import least_keys
from uqcli.kernels.keys import keys_of, values_of, widened

WIDTHS = {
    np.float32: st.floats(width=32, allow_nan=False, allow_infinity=False),
    np.float64: st.floats(allow_nan=False, allow_infinity=False),
}


@pytest.mark.parametrize("dtype", WIDTHS)
@given(data=st.data())
def test_keys_sort_as_their_numbers(dtype, data):
    value = np.array(data.draw(st.lists(WIDTHS[dtype], min_size=1)), dtype=dtype) + dtype(0)
    keys = keys_of(value)
    assert values_of(keys).tolist() == value.astype(np.float64).tolist()
    assert (np.argsort(keys, kind="stable") == np.argsort(value, kind="stable")).all()
    assert ((keys[:, None] < keys) == (value[:, None] < value)).all()
    assert keys_of(values_of(keys)).tolist() == widened(keys).tolist()


@pytest.mark.parametrize("dtype", WIDTHS)
@given(data=st.data())
def test_a_number_reaches_an_edge_exactly_if_its_key_does(dtype, data):
    value = np.array(data.draw(st.lists(WIDTHS[dtype], min_size=1)), dtype=dtype) + dtype(0)
    drawn = data.draw(st.lists(st.one_of(WIDTHS[dtype], WIDTHS[np.float64])))
    edges = np.array(drawn, dtype=np.float64)
    keys = least_keys(edges, keys_of(value).dtype)
    assert ((keys_of(value)[:, None] >= keys) == (value.astype(np.float64)[:, None] >= edges)).all()

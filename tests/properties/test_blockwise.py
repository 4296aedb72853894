"""Property tests of operations by part: they equal those of whole arrays, or of one part after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base import blockwise
from uqcli.base.blockwise import elementwise, sums_by_part


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Set parts to a few values."""
    monkeypatch.setattr(blockwise, "VALUES_PER_PART", 8)
    monkeypatch.setattr(blockwise, "_PARTS_PER_TASK", 2)


NUMBERS = st.lists(st.floats(-1e6, 1e6), max_size=60)


def test_parts_keep_their_order():
    assert blockwise.each_part(lambda part: (part.start, part.stop), 20) == [(0, 8), (8, 16), (16, 20)]
    assert blockwise.each_part(lambda part: part, 0) == []


@given(NUMBERS)
def test_sums_are_those_of_each_part(numbers):
    values = np.array(numbers, dtype=np.float64)
    sums = sums_by_part(lambda positions: (values[positions], values[positions] ** 2), len(values))
    cuts = range(0, len(values), 8)
    expected = [[float(terms[cut : cut + 8].sum()) for cut in cuts] for terms in (values, values**2)]
    assert sums == (expected if cuts else [])


@given(NUMBERS)
def test_an_elementwise_function_is_applied_to_all_values(numbers):
    values = np.array(numbers, dtype=np.float64)
    assert elementwise(np.sqrt, np.abs(values)).tolist() == np.sqrt(np.abs(values)).tolist()

"""Tests of operations on long arrays: the same results as on whole parts, one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli import parts
from uqcli.parts import elementwise, sums_by_part

NUMBERS = st.lists(st.floats(-1e6, 1e6), max_size=40)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "VALUES_PER_PART", 4)
    monkeypatch.setattr(parts, "_PARTS_PER_TASK", 2)


@given(NUMBERS, st.integers(0, 40))
def test_sums_are_those_of_each_part(numbers, start):
    values, start = np.array(numbers, dtype=np.float64), min(start, len(numbers))
    sums = sums_by_part(lambda positions: (values[positions], values[positions] ** 2), len(values), start)
    cuts = range(start, len(values), 4)
    expected = [[float(terms[cut : cut + 4].sum()) for cut in cuts] for terms in (values, values**2)]
    assert sums == (expected if cuts else [])


@given(NUMBERS)
def test_an_elementwise_function_is_applied_to_all_values(numbers):
    values = np.array(numbers, dtype=np.float64)
    assert elementwise(np.sqrt, np.abs(values)).tolist() == np.sqrt(np.abs(values)).tolist()

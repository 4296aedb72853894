"""Tests of pooling kernels against counters: as Python, as array functions and compiled."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.kernels.pooling import merge, pool, select_between

KEYS = st.lists(st.integers(-3, 3), max_size=20)
RUNS = pytest.mark.parametrize("form", ["python", "arrays", "compiled"])
TYPES = pytest.mark.parametrize("dtype", [np.int32, np.int64])


def sorted_keys(keys, dtype):
    return np.sort(np.array(keys, dtype=dtype))


def counted(form, negative, positive, dtype):
    """Pool keys, in place."""
    ordered = sorted_keys(negative + positive, dtype)
    count, positives = (np.full(len(ordered), -1, dtype=np.int32) for _ in range(2))
    size = getattr(pool, form)(ordered, sorted_keys(positive, dtype), ordered, count, positives)
    return ordered[:size], count[:size], positives[:size]


@RUNS
@TYPES
@given(negative=KEYS, positive=KEYS)
def test_keys_are_counted(form, dtype, negative, positive):
    expected, hits = Counter(negative + positive), Counter(positive)
    key, count, positives = counted(form, negative, positive, dtype)
    assert key.tolist() == sorted(expected)
    assert count.tolist() == [expected[value] for value in sorted(expected)]
    assert positives.tolist() == [hits[value] for value in sorted(expected)]


@RUNS
@TYPES
@given(sides=st.tuples(KEYS, KEYS, KEYS, KEYS))
def test_merged_counts_are_those_of_all_keys(form, dtype, sides):
    first, second = counted(form, *sides[:2], dtype), counted(form, *sides[2:], dtype)
    size = len(first[0]) + len(second[0])
    merged = np.empty(size, dtype=dtype), *(np.empty(size, dtype=np.int64) for _ in range(2))
    length = getattr(merge, form)(*first, *second, *merged)
    expected = counted(form, sides[0] + sides[2], sides[1] + sides[3], dtype)
    assert [column[:length].tolist() for column in merged] == [column.tolist() for column in expected]


@RUNS
@TYPES
@given(keys=KEYS, ends=st.tuples(st.integers(-4, 4), st.integers(-4, 4)))
def test_keys_between_two_ends_are_selected_in_order(form, dtype, keys, ends):
    selected = np.empty(len(keys) + 1, dtype=dtype)
    size = getattr(select_between, form)(np.array(keys, dtype=dtype), *ends, selected)
    assert selected[:size].tolist() == [key for key in keys if ends[0] <= key <= ends[1]]

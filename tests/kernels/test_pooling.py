"""Tests of pooling kernels against counters: as Python, as array functions and compiled."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from uqcli.kernels.pooling import find_ranges, merge, pool, ranges_of

KEYS = st.lists(st.integers(-3, 3), max_size=20)
ANY_KEYS = st.sampled_from([np.int32, np.int64]).flatmap(
    lambda dtype: arrays.arrays(dtype, st.integers(1, 30), elements=arrays.from_dtype(np.dtype(dtype)))
)
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
@given(keys=ANY_KEYS, table_bits=st.integers(0, 6), seed=st.integers(0, 9))
def test_each_key_has_its_range(form, keys, table_bits, seed):
    low, high = int(keys.min()), int(keys.max())
    shift = max(0, (high - low).bit_length() - table_bits)
    random = np.random.default_rng(seed)
    ranges = np.sort(random.integers(0, 5, ((high - low) >> shift) + 1)).astype(np.int16)
    expected = [int(ranges[(key - low) >> shift]) for key in keys.tolist()]
    index, size = np.empty(len(keys), dtype=np.int16), np.zeros(int(ranges[-1]) + 1, dtype=np.int64)
    getattr(find_ranges, form)(keys, low, shift, ranges, index, size)
    assert index.tolist() == ranges_of(keys, low, shift, ranges)[0].tolist() == expected
    assert size.tolist() == np.bincount(expected, minlength=len(size)).tolist()

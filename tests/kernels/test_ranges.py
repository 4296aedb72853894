"""Tests of the kernels that count rows by ranges of keys, against the starts of the ranges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.engines.local.count import ranges as ranges_module
from uqcli.engines.local.count.keys import ColumnSummary
from uqcli.engines.local.count.ranges import Ranges, _Split, _SplitRanges
from uqcli.kernels.keys import keys_of
from uqcli.kernels.pooling import assign_parts, assign_splits, count_parts, count_rows

FORMS = pytest.mark.parametrize("form", ["arrays", "compiled"])
TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
VALUES = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40)

MAX_PARTS = st.sampled_from([2, 16, 256])


@pytest.fixture
def ranges_with(monkeypatch):
    """Return a function that builds ranges whose keys are assigned by one form of the kernels."""

    def build(values, dtype, form, max_parts):
        kernels = {"assign_parts": assign_parts, "assign_splits": assign_splits, "count_parts": count_parts}
        for name, kernel in kernels.items():
            forced = type("Forced", (), {"run": lambda _, work, *args, k=kernel: getattr(k, form)(*args)})()
            monkeypatch.setattr(ranges_module, name, forced)
        keys = keys_of(np.array(values, dtype=dtype) + dtype(0))
        column = ColumnSummary()
        column.add(ColumnSummary.of(keys))
        return keys, _SplitRanges.from_ranges(Ranges.over(column, max_parts))

    return build


def check(ranges, keys):
    index = ranges.indices_of(keys)
    assert index.tolist() == np.maximum(np.searchsorted(ranges.starts, keys, side="right") - 1, 0).tolist()
    assert (keys <= ranges.ends[index]).all()
    if not ranges.splits:
        size, middle = ranges.size, len(keys) // 2
        count = np.zeros(2 * size, dtype=np.int64)
        ranges.whole.count(keys, np.array([0, middle, len(keys)]), count)
        groups = (np.arange(len(keys)) >= middle) * size
        assert count.tolist() == np.bincount(index + groups, minlength=2 * size).tolist()


@FORMS
@TYPES
def test_keys_are_in_the_range_that_starts_last_before_them(ranges_with, form, dtype):
    @given(VALUES, VALUES, MAX_PARTS)
    def each(sample, values, max_parts):
        keys, ranges = ranges_with(sample, dtype, form, max_parts)
        check(ranges, keys)
        beyond = np.clip(np.array(values, dtype=dtype), min(sample), None) + dtype(0)
        check(ranges, keys_of(beyond))

    each()


@FORMS
@TYPES
def test_split_ranges_start_last_before_their_keys(ranges_with, form, dtype):
    @given(VALUES, MAX_PARTS)
    def each(values, max_parts):
        keys, ranges = ranges_with(values, dtype, form, max_parts)
        for _ in range(2):
            count = np.bincount(ranges.indices_of(keys), minlength=ranges.size)
            to_split = (count > 0) & (ranges.ends > ranges.starts)
            if not to_split.any():
                return
            ranges = _Split.from_ranges(ranges, count > 0, to_split, 64).cut(ranges)
            check(ranges, keys)

    each()


@FORMS
@given(st.lists(st.integers(0, 5)))
def test_rows_are_added_to_counts(form, index):
    count = np.arange(6)
    getattr(count_rows, form)(np.array(index, dtype=np.int64), count)
    assert count.tolist() == [value + index.count(value) for value in range(6)]

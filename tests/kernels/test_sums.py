"""Property tests of exact sums in parts: they equal those of whole arrays in each form of the kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base import blockwise
from uqcli.base.counts import ValueCounts
from uqcli.kernels import sums

AMOUNTS = st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=60)
KERNELS = (sums.running_sums, sums.ranked, sums.residuals)


@pytest.fixture(autouse=True, params=["python", "arrays", "compiled"])
def variant(request, monkeypatch):
    """Set parts to a few values, and run each kernel in one of its forms."""
    monkeypatch.setattr(blockwise, "COUNTS_PER_PART", 32)
    monkeypatch.setattr(sums, "COUNTS_PER_PART", 32)
    monkeypatch.setattr(blockwise, "VALUES_PER_PART", 8)
    monkeypatch.setattr(sums, "VALUES_PER_PART", 8)
    monkeypatch.setattr(blockwise, "_PARTS_PER_TASK", 2)
    forms = {"python": "_on_lists", "arrays": "arrays", "compiled": "compiled"}
    for kernel in KERNELS:
        form = getattr(kernel, forms[request.param])
        monkeypatch.setattr(kernel, "run", lambda _, *args, form=form: form(*args))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_sums_and_ranks_equal_those_of_whole_arrays(kind):
    @given(AMOUNTS, st.data())
    def check(numbers, data):
        amount = np.array(numbers, dtype=kind)
        running = np.concatenate([[0], np.cumsum(numbers)])
        stops = np.array(sorted(data.draw(st.lists(st.integers(0, len(numbers))))), dtype=np.int64)
        assert sums.sums_before(amount, stops).tolist() == running[stops].tolist()
        total = int(running[-1])
        assert blockwise.total(amount) == total
        rank = np.array(sorted(data.draw(st.lists(st.integers(0, total - 1)))), dtype=np.int64)
        expected = np.searchsorted(running[1:], rank, side="right")
        assert sums.indices_of_ranks(amount, rank).tolist() == expected.tolist()

    check()


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=60))
def test_extremes_are_those_of_the_sums_of_each_part(rows):
    value, count, positives = (np.array(column) for column in zip(*rows, strict=True))
    highest = lowest = offset = 0.0
    for first in range(0, len(value), 8):
        part = slice(first, first + 8)
        running = offset + np.cumsum(positives[part] - count[part] * value[part])
        highest, lowest, offset = max(highest, *running), min(lowest, *running), running[-1]
    counts = ValueCounts(value=value, count=count, positives=positives)
    assert sums.running_extremes(counts) == (highest, lowest)

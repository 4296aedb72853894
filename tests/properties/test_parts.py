"""Property tests of sums by part: they equal those of whole arrays, of any width."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli import parts


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Set parts to a few values."""
    monkeypatch.setattr(parts, "VALUES_PER_PART", 8)


AMOUNTS = st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=60)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_sums_and_ranks_equal_those_of_whole_arrays(kind):
    @given(AMOUNTS, st.data())
    def check(numbers, data):
        amount = np.array(numbers, dtype=kind)
        running = np.concatenate([[0], np.cumsum(numbers)])
        stops = np.array(sorted(data.draw(st.lists(st.integers(0, len(numbers))))), dtype=np.int64)
        assert parts.sums_before(amount, stops).tolist() == running[stops].tolist()
        total = int(running[-1])
        rank = np.array(sorted(data.draw(st.lists(st.integers(0, total - 1)))), dtype=np.int64)
        expected = np.searchsorted(running[1:], rank, side="right")
        assert parts.indices_of_ranks(amount, rank).tolist() == expected.tolist()

    check()


def test_parts_keep_their_order():
    assert parts.each_part(lambda part: (part.start, part.stop), 20) == [(0, 8), (8, 16), (16, 20)]
    assert parts.each_part(lambda part: part, 0) == []

"""Tests of the hashing kernel: compiled equals array functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.base.draws import hashes
from uqcli.kernels.hashing import low_hashes, select_low

PAIRS = st.lists(st.tuples(st.floats(), st.floats()), max_size=20)


@pytest.mark.parametrize("form", ["arrays", "compiled"])
@given(pairs=PAIRS, limit=st.integers(0, 2**64 - 1), row=st.integers(0, 19))
def test_the_lowest_hashes_are_kept_in_order(form, pairs, limit, row):
    first, second = (np.array([pair[side] for pair in pairs], dtype=np.float64) for side in (0, 1))
    every = hashes([first, second])
    limits = np.array([every[row] if row < len(every) else limit], dtype=np.uint64)  # often a hash itself
    low = np.empty(len(pairs), dtype=np.uint64)
    size = getattr(select_low, form)(first.view(np.uint64), second.view(np.uint64), limits, low)
    assert low[:size].tolist() == every[every <= limits].tolist()


def test_narrow_numbers_have_the_hashes_of_wide_ones():
    values = np.array([0.1, 0.25, -3.0], dtype=np.float32)
    limit = np.array([2**64 - 1], dtype=np.uint64)
    wide = values.astype(np.float64)
    assert low_hashes(values, values, limit).tolist() == hashes([wide, wide]).tolist()

"""Tests of the kernel that exchanges values between clusters: compiled equals arrays, in order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.kernels.exchange import fill_sources


@pytest.mark.parametrize("form", ["arrays", "compiled", "python"])
@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_rows_take_from_their_donor_in_order(form, sizes, seed):
    random = np.random.default_rng(seed)
    sizes = np.array(sizes, dtype=np.int64)
    starts, donor = np.cumsum(sizes) - sizes, random.permutation(len(sizes))
    steps = random.standard_exponential(int(sizes.sum()) + len(sizes))
    source = np.empty(int(sizes.sum()), dtype=np.int64)
    getattr(fill_sources, form)(steps, sizes, starts, donor, source)
    place = 0
    for cluster, size in enumerate(sizes.tolist()):
        own = source[starts[cluster] : starts[cluster] + size].tolist()
        first, available = int(starts[donor[cluster]]), int(sizes[donor[cluster]])
        assert own == sorted(own)
        assert all(first <= row < first + available for row in own)
        if available == size:
            assert own == list(range(first, first + size))
        else:
            shares = np.cumsum(steps[place : place + size + 1])
            drawn = shares[:-1] / shares[-1] * available
            clear = np.abs(drawn - np.rint(drawn)) > 1e-6  # elsewhere rounding decides
            assert (np.array(own)[clear] == first + drawn[clear].astype(int)).all()
        place += size + 1

"""Tests of the frontier over a number of bins, against brute force; compiled equals plain Python."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uqcli.kernels import knapsack


@given(st.integers(1, 3), st.integers(1, 4), st.data())
def test_the_frontier_is_optimal_for_every_number_of_bins(rows, bins, data):
    steps = st.lists(st.integers(-3, 5), min_size=bins, max_size=bins)
    gains = np.array([[0, *np.cumsum(data.draw(steps))] for _ in range(rows)], dtype=np.int64)
    chosen = knapsack.bin_frontier(gains)
    for m in range(rows * bins + 1):
        assert chosen[:, m].sum() == m
        gain = sum(gains[row, taken] for row, taken in enumerate(chosen[:, m]))
        best = max(
            sum(gains[row, taken] for row, taken in enumerate(choice))
            for choice in product(range(bins + 1), repeat=rows)
            if sum(choice) == m
        )
        assert gain == best


def test_compiled_equals_python():
    random = np.random.default_rng(5)
    gains = np.concatenate(
        [np.zeros((3, 1), dtype=np.int64), random.integers(0, 9, (3, 20)).cumsum(1)], axis=1
    )
    results = []
    for run in (knapsack.max_plus_convolution.compiled, knapsack.max_plus_convolution.python):
        total, taken = np.zeros(61, dtype=np.int64), np.zeros((3, 61), dtype=np.int32)
        run(gains, total, np.empty_like(total), taken)
        results.append((total.tolist(), taken.tolist()))
    assert results[0] == results[1]

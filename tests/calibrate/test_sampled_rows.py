"""Tests of folds of weighted rows, and of rows drawn from counts."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.base.counts import ValueCounts
from uqcli.calibrate import sampled_rows
from uqcli.calibrate.sampled_rows import sample_of, split_into_folds


@settings(max_examples=50)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 99))
def test_folds_contain_every_row_once_and_have_equal_sizes(weights, n_folds, seed):
    """A row of weight w counts as w rows, and the sizes of folds differ by at most one."""
    weight = np.array(weights)
    folds = split_into_folds(weight, n_folds, np.random.default_rng(seed))
    assert (folds >= 0).all()
    assert folds.sum(axis=0).tolist() == weights
    sizes = folds.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1


def test_rows_are_drawn_without_replacement_in_proportion(monkeypatch):
    monkeypatch.setattr(sampled_rows, "MEASURED_ROWS", 600)
    random = np.random.default_rng(0)
    count = random.integers(1, 9, 400)
    counts = ValueCounts(
        value=np.sort(random.random(400)), count=count, positives=random.binomial(count, 0.3)
    )
    draws = [sample_of(counts, seed) for seed in range(200)]
    positions = [np.searchsorted(counts.value, drawn_counts.value) for drawn_counts in draws]
    taken, hits = np.zeros((2, 400), dtype=np.int64)
    for drawn_counts, position in zip(draws, positions, strict=True):
        assert drawn_counts.rows == 600
        assert (drawn_counts.count <= counts.count[position]).all()
        assert (drawn_counts.positives <= counts.positives[position]).all()
        assert (
            drawn_counts.count - drawn_counts.positives <= (counts.count - counts.positives)[position]
        ).all()
        taken[position] += drawn_counts.count
        hits[position] += drawn_counts.positives
    share = 600 / counts.rows
    error = np.sqrt(200 * counts.count * share * (1 - share))
    assert (np.abs(taken - 200 * share * counts.count) < 5 * error + 1).all()
    assert abs(hits.sum() / taken.sum() - counts.positives.sum() / counts.rows) < 0.01
    assert sample_of(replace(counts, count=np.ones_like(count)), 0).rows == 400

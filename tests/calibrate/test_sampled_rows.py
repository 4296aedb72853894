"""Tests of folds of weighted rows, and of rows drawn from counts."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.base import blockwise
from uqcli.base.counts import ValueCounts
from uqcli.base.rows import Rows
from uqcli.calibrate import sampled_rows
from uqcli.calibrate.sampled_rows import sample_of, sample_of_rows, split_into_folds
from uqcli.kernels import sums


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


def test_a_sample_of_many_distinct_rows_takes_each_at_most_as_often_as_it_is(monkeypatch):
    for module in (blockwise, sums):
        monkeypatch.setattr(module, "COUNTS_PER_PART", 64)
    weight = np.random.default_rng(0).integers(1, 4, 500)
    rows = Rows(numbers={"score": np.arange(500.0)}, positive=np.arange(500) % 2 == 0, weight=weight)
    taken = np.zeros((200, 500), dtype=np.int64)
    for seed, drawn in enumerate(taken):
        sample = sample_of_rows(rows, 300, seed)
        assert sample.size == 300
        drawn[sample.score.astype(np.int64)] = sample.weights()
    assert (taken <= weight).all()
    share = 300 / weight.sum()
    assert (np.abs(taken.sum(axis=0) - 200 * share * weight) < 5 * np.sqrt(200 * weight * share)).all()

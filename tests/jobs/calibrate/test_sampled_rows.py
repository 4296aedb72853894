"""Rows dealt out, and drawn from counts."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.counts import ValueCounts
from uqcli.jobs.calibrate import sampled_rows
from uqcli.jobs.calibrate.sampled_rows import sample_of, split_into_folds


@settings(max_examples=50)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 99))
def test_rows_are_dealt_out_whole(weights, parts, seed):
    """Every row of weight w is w rows, and no part has two rows more than another."""
    weight = np.array(weights)
    split_by_hash = split_into_folds(weight, parts, np.random.default_rng(seed))
    assert (split_by_hash >= 0).all()
    assert split_by_hash.sum(axis=0).tolist() == weights
    sizes = split_by_hash.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1


def test_rows_are_drawn_without_replacement_in_proportion(monkeypatch):
    monkeypatch.setattr(sampled_rows, "MEASURED_ROWS", 600)
    random = np.random.default_rng(0)
    count = random.integers(1, 9, 400)
    counts = ValueCounts(
        value=np.sort(random.random(400)), count=count, positives=random.binomial(count, 0.3)
    )
    drawn = [sample_of(counts, seed) for seed in range(200)]
    place = [np.searchsorted(counts.value, each.value) for each in drawn]
    taken, hits = np.zeros((2, 400), dtype=np.int64)
    for each, at in zip(drawn, place, strict=True):
        assert each.rows == 600
        assert (each.count <= counts.count[at]).all()
        assert (each.positives <= counts.positives[at]).all()
        assert (each.count - each.positives <= (counts.count - counts.positives)[at]).all()
        taken[at] += each.count
        hits[at] += each.positives
    share = 600 / counts.rows
    error = np.sqrt(200 * counts.count * share * (1 - share))
    assert (np.abs(taken - 200 * share * counts.count) < 5 * error + 1).all()
    assert abs(hits.sum() / taken.sum() - counts.positives.sum() / counts.rows) < 0.01
    assert sample_of(replace(counts, count=np.ones_like(count)), 0).rows == 400

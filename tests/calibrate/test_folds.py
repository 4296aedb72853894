"""Tests of folds of weighted rows, and of rows drawn from counts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uqcli.base import blockwise
from uqcli.base.counts import ValueCounts, pool
from uqcli.base.defaults import FEW_SCORES
from uqcli.base.rows import Rows
from uqcli.calibrate import folds
from uqcli.calibrate.folds import on_few_scores, sample_of, sample_of_rows, split_into_folds
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
    monkeypatch.setattr(folds, "MEASURED_ROWS", 600)
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


ROWS = st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=120)


def bins_one_by_one(rows, most):
    """Cut sorted rows at the scores of equal ranks, beside the lowest and the highest score."""
    scores = sorted(score for score, _ in rows)
    distinct = sorted(set(scores))
    if len(distinct) <= most:
        cuts = distinct
    else:
        ranks = [scores[r * len(scores) // (most - 2)] for r in range(1, most - 2)]
        cuts = sorted({distinct[0], distinct[1], distinct[-1], *ranks})
    found = []
    for low, high in zip(cuts, [*cuts[1:], np.inf], strict=True):
        inside = sorted(row for row in rows if low <= row[0] < high)
        found.append((inside[(len(inside) - 1) // 2][0], len(inside), sum(label for _, label in inside)))
    return found


@given(ROWS, st.integers(3, 12))
def test_bins_are_those_of_sorted_rows(rows, most):
    score, label = np.array(rows).T
    few = on_few_scores(pool(score.astype(float), label.astype(bool)), most)
    assert list(zip(few.value, few.count, few.positives, strict=True)) == bins_one_by_one(rows, most)
    assert len(few.value) <= most


@pytest.mark.parametrize("size", [FEW_SCORES, FEW_SCORES + 1, 40_000])
def test_many_scores_become_bins_of_equal_weight(size):
    value = np.arange(size, dtype=float)
    few = on_few_scores(
        ValueCounts(value=value, count=np.ones(size, dtype=int), positives=np.zeros(size, dtype=int))
    )
    assert len(few.value) <= FEW_SCORES
    assert few.count.max() <= -(-size // (FEW_SCORES - 2))
    assert (few.rows, few.value[0], few.value[-1]) == (size, 0, size - 1)
    assert (np.diff(few.value) > 0).all()

"""Tests of intervals over clusters and sampling weights: the oracle, edge cases, order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import survey as oracle
from uqcli.methods.proportion import clopper_pearson
from uqcli.methods.survey import proportion_interval, ratio_difference

CLUSTERS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=12, max_size=60)


def sums_of(pairs):
    """Return successes and trials of (successes, failures) pairs."""
    successes, failures = np.array(pairs).T
    return successes, successes + failures


@given(CLUSTERS, st.sampled_from([0.8, 0.95]))
def test_interval_of_clusters_is_that_of_the_oracle(pairs, confidence):
    successes, trials = sums_of(pairs)
    interval = proportion_interval(successes, trials, confidence)
    assert interval.clusters == np.count_nonzero(trials)
    if interval.clusters < 10:
        assert interval.low is None or interval.clusters == 0
        return
    counts = list(zip(successes.tolist(), trials.tolist(), strict=True))
    expected = oracle.proportion_interval(counts, confidence)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
    assert interval.low <= interval.value <= interval.high
    order = np.random.default_rng(0).permutation(len(trials))
    assert proportion_interval(successes[order], trials[order], confidence) == interval


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([1.0, 2.5, 10.0])), min_size=12, max_size=60))
def test_interval_of_sampling_weights_is_that_of_the_oracle(rows):
    hit, weight = map(np.array, zip(*rows, strict=True))
    interval = proportion_interval(hit * weight, weight, 0.95, rows=len(rows), clustered=False)
    pairs = list(zip((hit * weight).tolist(), weight.tolist(), strict=True))
    expected = oracle.proportion_interval(pairs, 0.95, rows=len(rows), clustered=False)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
    scaled = proportion_interval(hit * weight * 8, weight * 8, 0.95, rows=len(rows), clustered=False)
    assert (scaled.low, scaled.high) == pytest.approx((interval.low, interval.high))


def test_clusters_of_one_value_count_as_one_row():
    """Ten copies of each of 40 rows are worth 40 rows, less what the estimated effect costs."""
    hit = np.repeat([10, 0], 20)
    low, high = clopper_pearson(20, 40, 0.95)
    interval = proportion_interval(hit, np.full(40, 10), 0.95)
    assert interval.design_effect == pytest.approx(10 * 40 / 39)
    assert 0 < low - interval.low < 0.02
    assert 0 < interval.high - high < 0.02


def test_rare_outcomes_count_clusters():
    """Without a single success the rows of a cluster count as one."""
    none = proportion_interval(np.zeros(50, dtype=np.int64), np.full(50, 10), 0.95)
    assert none.design_effect == pytest.approx(10)
    assert none.high > clopper_pearson(0, 50, 0.95)[1]
    assert none.low == 0


def test_too_few_clusters_have_no_interval():
    nine, none = np.full(9, 5), np.zeros(9, dtype=np.int64)
    assert proportion_interval(nine, nine, 0.95).low is None
    assert proportion_interval(none, none, 0.95).value is None
    few = ratio_difference((none, nine), (nine, nine), 0.95)
    assert (few.value, few.low, few.p_value) == (1, None, None)
    same = ratio_difference((np.tile(nine, 4), np.full(36, 7)), (np.tile(nine, 4), np.full(36, 7)), 0.95)
    assert (same.value, same.low) == (0, None)
    assert ratio_difference((none, none), (none, nine), 0.95).value is None


@given(st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=25, max_size=60))
def test_difference_of_ratios_is_that_of_the_oracle(pairs):
    t_1, rest_1, t_2, rest_2 = np.array(pairs).T
    difference = ratio_difference((t_1, t_1 + rest_1), (t_2, t_2 + rest_2), 0.95)
    if difference.low is not None:
        clusters = list(zip(t_1, t_1 + rest_1, t_2, t_2 + rest_2, strict=True))
        expected = oracle.ratio_difference(clusters, 0.95)
        assert (difference.low, difference.high) == pytest.approx(expected, abs=1e-9)
        if abs(difference.p_value - 0.05) > 1e-6 and difference.low > -1 and difference.high < 1:
            assert (difference.low > 0 or difference.high < 0) == (difference.p_value < 0.05)

"""Tests of intervals over clusters and sampling weights: the oracle, edge cases, order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import survey as oracle
from uqcli.base.sampling_weights import WeightSums, units
from uqcli.estimates.proportion import clopper_pearson
from uqcli.estimates.survey import (
    RowOutcomes,
    limit_of_clusters,
    proportion_interval,
    ratio_difference,
    row_interval,
)

CLUSTERS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=12, max_size=60)


def sums_of(pairs):
    """Return successes and trials of (successes, failures) pairs."""
    successes, failures = np.array(pairs).T
    return successes, successes + failures


@given(CLUSTERS, st.sampled_from([0.8, 0.95]))
def test_interval_of_clusters_is_that_of_the_oracle(pairs, confidence):
    successes, trials = sums_of(pairs)
    interval = proportion_interval(successes, trials, confidence)
    clusters = np.count_nonzero(trials)
    if clusters == 0:
        assert (interval.value, interval.low, interval.high) == (None, 0, 1)
        return
    effective = trials.sum() ** 2 / (trials**2).sum()
    assert bool(interval.reason) == (effective < min(clusters, 20))
    assert not interval.reason or interval.reason.startswith(
        f"{clusters} clusters of unequal size count as {math.floor(10 * effective) / 10:.1f} of equal size, "
    )
    if clusters < 10:
        assert interval.low is None
        return
    if effective < 3:
        assert (interval.low, interval.high) == (None, None)
        return
    expected = oracle.proportion_interval(zip(successes.tolist(), trials.tolist(), strict=True), confidence)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
    assert interval.low <= interval.value <= interval.high
    order = np.random.default_rng(0).permutation(len(trials))
    assert proportion_interval(successes[order], trials[order], confidence) == interval


def test_what_unequal_clusters_count_as_is_never_rounded_up_to_what_is_needed():
    trials = np.array([100, 100, 57, *[1] * 7])  # they count as 2.997
    interval = proportion_interval(np.zeros_like(trials), trials, 0.95)
    assert interval.low is None
    assert interval.reason.endswith("count as 2.9 of equal size, 3 needed")


def sums_of_rows(weights):
    return WeightSums.of(units(np.array(weights, dtype=np.float64)), np.ones(len(weights), dtype=np.bool_))


WEIGHTS = st.lists(st.sampled_from([0.5, 1.0, 2.5, 200.0]), max_size=40)


@given(WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS)
def test_interval_of_sampling_weights_is_that_of_the_oracle(hits, misses, like_hits, like_misses):
    parts = [sums_of_rows(weights) for weights in (hits, misses, like_hits, like_misses)]
    interval = row_interval(RowOutcomes(*parts), 0.95)
    weights = [*hits, *misses]
    if not weights:
        assert (interval.value, interval.low, interval.high) == (None, 0, 1)
        return
    if len({*weights, *like_hits, *like_misses}) == 1:
        assert (interval.low, interval.high) == clopper_pearson(len(hits), len(weights), 0.95)
        return
    if interval.low is None:
        assert sum(weights) ** 2 < 3 * sum(w * w for w in weights)
        return
    pairs = [*((w, w) for w in hits), *((0, w) for w in misses)]
    expected = oracle.proportion_interval(pairs, 0.95, clustered=False, further=(like_hits, like_misses))
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
    assert interval.low <= interval.value <= interval.high


@given(st.integers(10, 60), st.data())
def test_clusters_of_a_row_each_have_the_exact_interval(clusters, data):
    """So have rows of one weight, whatever it is: to the last bit."""
    hits = data.draw(st.integers(0, clusters))
    exact = clopper_pearson(hits, clusters, 0.9)
    successes = (np.arange(clusters) < hits).astype(np.int64)
    interval = proportion_interval(successes, np.ones(clusters, dtype=np.int64), 0.9)
    assert (interval.low, interval.high) == exact
    of_rows = [sums_of_rows([3.0] * number) for number in (hits, clusters - hits)]
    both = of_rows[0] + of_rows[1]
    weighted = row_interval(RowOutcomes(*of_rows, both, both), 0.9)
    assert (weighted.low, weighted.high) == exact


def test_clusters_of_one_value_count_as_one_row():
    """Ten copies of each of 40 rows are worth 40 rows."""
    interval = proportion_interval(np.repeat([10, 0], 20), np.full(40, 10), 0.95)
    assert (interval.low, interval.high) == pytest.approx(clopper_pearson(20, 40, 0.95))
    none = proportion_interval(np.zeros(50, dtype=np.int64), np.full(50, 10), 0.95)
    assert (none.low, none.high) == pytest.approx(clopper_pearson(0, 50, 0.95))


def test_clusters_never_count_for_more_than_their_rows():
    """A success and a failure in each of 40 pairs are 80 rows, although every pair has the same rate."""
    pairs = proportion_interval(np.ones(40, dtype=np.int64), np.full(40, 2), 0.95)
    low, high = clopper_pearson(40, 80, 0.95)
    assert low - 0.01 < pairs.low < low
    assert high < pairs.high < high + 0.01


def test_a_failure_that_was_not_drawn_weighs_as_the_rows_that_could_be_one():
    """If 1 % of the cleared rows have a label and none is positive, recall may be far below 1."""
    flagged, cleared = sums_of_rows([1.0] * 1000), sums_of_rows([100.0] * 100)
    interval = row_interval(RowOutcomes(flagged, WeightSums(), flagged, cleared), 0.95)
    assert interval.value == interval.high == 1
    assert interval.low == pytest.approx(oracle.lower([1] * 1000, [], 100, 1, 0.025))
    assert interval.low < 0.8
    alike = row_interval(RowOutcomes(flagged, WeightSums(), flagged, flagged), 0.95)
    assert alike.low > 0.996


def test_the_p_value_of_a_rate_is_the_level_of_its_limit():
    random = np.random.default_rng(3)
    trials = random.integers(1, 9, 40)
    limit = limit_of_clusters(random.binomial(trials, 0.2), trials)
    for tail in (0.001, 0.025, 0.5, 0.999):
        assert limit.tail_at(np.array([limit.at(tail)]))[0] == pytest.approx(tail)


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

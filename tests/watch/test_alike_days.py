"""Evidence of days whose rates scatter about one mean: against its oracle, and what a Bayes factor obeys."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import alike_days as oracle
from uqcli.estimates.dependence import unit_sums
from uqcli.watch.bayes_factor import LogFactors, log_factor, log_factors, upper_end
from uqcli.watch.change import ChangeEvidence

BOUNDS = st.sampled_from([Fraction(1, 2), Fraction(1, 50), Fraction(9, 10), Fraction(9998, 10000)])
DAYS = st.lists(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=8
)


def arrays(days):
    return np.array(days, dtype=np.int64).reshape(-1, 2).T


def near(expected):
    return pytest.approx(expected, rel=1e-8, abs=1e-8)


@settings(max_examples=60)
@given(DAYS, BOUNDS)
def test_factors_are_those_of_the_oracle_after_each_day(days, bound):
    expected = [oracle.log_factor(days[:look], bound) for look in range(1, len(days) + 1)]
    assert log_factors(*arrays(days), bound).tolist() == near(expected)
    assert log_factor(*arrays(days), bound) == near(expected[-1])


@settings(max_examples=60)
@given(DAYS, BOUNDS, st.data())
def test_factors_since_a_day_are_those_of_the_oracle(days, bound, data):
    look = data.draw(st.integers(1, len(days)))
    starts = data.draw(st.lists(st.integers(0, look), min_size=1, max_size=3))
    found = LogFactors(*arrays(days), bound).since(np.array(starts), look)
    for start, value in zip(starts, found.tolist(), strict=True):
        weights = oracle.learned_weights(days[:start], bound)
        expected = oracle.log_factor(days[start:look], bound, weights) if start < look else 0.0
        assert value == near(expected)


@given(DAYS, st.randoms())
def test_days_count_in_any_order(days, random):
    other = random.sample(days, len(days))
    factor = log_factor(*arrays(days), Fraction(1, 5))
    assert log_factor(*arrays(other), Fraction(1, 5)) == factor
    assert log_factors(*arrays(other), Fraction(1, 5))[-1] == near(factor)


@pytest.mark.parametrize("bound", [Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)])
def test_the_mean_is_1_at_the_bound_on_average_over_overdispersions(bound):
    """Over all outcomes of two days, whose law is the weighted one of the oracle."""
    sizes, mean = (3, 2), 0.0
    for hits in itertools.product(*(range(size + 1) for size in sizes)):
        days = list(zip(hits, sizes, strict=True))
        ways = math.prod(math.comb(n, k) for k, n in days) * math.exp(log_factor(*arrays(days), bound))
        for overdispersion, weight in zip(oracle.OVERDISPERSIONS, oracle.WEIGHTS, strict=True):
            odds = float(bound / (1 - bound))
            mean += weight * ways * math.exp(oracle.log_likelihood(days, odds, overdispersion))
    assert mean == pytest.approx(1)


def test_bounds_of_0_and_1():
    some, all_ = arrays([(3, 5), (5, 5)]), arrays([(5, 5), (5, 5)])
    assert log_factors(*some[:, ::-1], Fraction(1)).tolist() == [0, math.inf]
    assert (log_factor(*some, Fraction(1)), log_factor(*all_, Fraction(1))) == (math.inf, 0)
    assert (log_factor(*some, Fraction(0)), log_factors(*some, Fraction(0)).tolist()) == (0, [0, 0])
    assert log_factor(*arrays([]), Fraction(1, 2)) == 0


def test_large_days_are_finite_and_count():
    trials = np.full(30, 10**9)
    logs = [log_factor(np.full(30, wrong), trials, Fraction(1, 1000)) for wrong in (0, 10**5, 10**6, 10**8)]
    assert np.isfinite(logs).all()
    assert logs[1] > 20 > 1 > logs[0] > 0 > max(logs[2:])


@pytest.mark.thorough
@settings(max_examples=20)
@given(DAYS, BOUNDS, st.none() | DAYS, st.sampled_from([3, 1000]))
def test_the_evidence_of_a_change_is_that_of_the_oracle(days, bound, calibration, limit):
    if bound < Fraction(1, 20):  # where the oracle's integral ends
        bound = Fraction(1, 20)
    sums = None if calibration is None else unit_sums(*arrays(calibration))
    change = ChangeEvidence(np.array(days), bound, math.log(limit), sums)
    expected = [oracle.log_change(days[:look], bound, limit, calibration) for look in (1, len(days))]
    assert [change.log_sum(look) for look in (1, len(days))] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 40)), max_size=60), BOUNDS, st.integers(1, 50))
def test_no_look_that_reaches_the_limit_is_left_out(days, bound, limit):
    """Also with batches without trials, and wherever the looks begin."""
    counts = np.array([(min(k, n), n) for k, n in [(0, 0), *days]])
    change = ChangeEvidence(counts, bound, math.log(limit))
    for first in (1, len(counts) // 2 + 1):
        reached = (look for look in range(first, len(counts) + 1) if change.log_sum(look) >= math.log(limit))
        assert next(change.alarms(range(first, len(counts) + 1)), None) == next(reached, None)


@pytest.mark.parametrize("limit", [30, 100, 1000])
def test_the_first_look_that_reaches_the_limit_is_found_as_evidence_slowly_rises(limit):
    change = ChangeEvidence(np.array([(k, 20) for k in [8, 7, 9, 8] * 8]), Fraction(1, 2), math.log(limit))
    reached = [look for look in range(1, 33) if change.log_sum(look) >= math.log(limit)]
    assert list(change.alarms(range(1, 33))) == reached
    assert reached[0] > 8
    assert change.log_sum(reached[0]) < math.log(limit) + 1


def test_a_change_is_found_among_days_that_differ():
    """Days before it have shown how much they differ, and those since it are only two."""
    days = [(9, 10), (10, 10), (8, 10), (10, 10), (9, 10)] * 8 + [(1, 10), (2, 10), (0, 10)]
    change = ChangeEvidence(np.array(days), Fraction(8, 10), math.log(1000))
    assert list(change.alarms(range(1, 41))) == []
    assert next(change.alarms(range(1, 44))) in (42, 43)


@settings(max_examples=20)
@given(DAYS, st.sampled_from([0.8, 0.95]))
def test_the_end_of_a_range_is_the_first_rate_that_the_days_reject(days, confidence):
    successes, trials = arrays(days)
    log_limit = math.log(2 / (1 - confidence)) + math.log(2)
    least = (successes.sum() + 0.5) / (trials.sum() + 1)
    end = upper_end(successes, trials, least, log_limit)
    if end in (least, 1):
        return
    assert log_factor(successes, trials, Fraction(end)) >= log_limit - 1e-6
    log_odds = math.log(end / (1 - end))
    for distance in (1e-5, 0.3, 0.6):
        inside = 1 / (1 + math.exp(distance - log_odds))
        if inside >= least:
            assert log_factor(successes, trials, Fraction(inside)) < log_limit


def test_an_end_is_found_from_outside_as_the_oracle_does():
    days = [(1, 9), (0, 8), (3, 9), (0, 9), (0, 5)]
    end = upper_end(*arrays(days), 0.4, math.log(40) + math.log(2))
    assert 0.4 < end == pytest.approx(oracle.upper_end(days, 0.95, 0.4), abs=0.003)
    assert upper_end(*arrays(days), 0.9, math.log(80)) == 0.9
    assert upper_end(*arrays([(5, 5), (7, 7)]), 0.9, math.log(80)) == 1


@pytest.mark.parametrize("rows", [20, 1000, 10**6])
def test_days_without_any_success_bound_the_rate_by_their_number(rows):
    successes, trials = np.zeros(365, dtype=np.int64), np.full(365, rows)
    end = upper_end(successes, trials, 1e-7, math.log(40) + math.log(2))
    assert end == pytest.approx(3.7 / 365, rel=0.15)


def test_starts_count_from_a_hundredth_of_their_part_of_the_limit_on():
    """Just below what effective counts reach, most starts have less than their part of it."""
    days = [(9, 10), (8, 10), (10, 10), (9, 10), (8, 10), (4, 10), (3, 10), (5, 10), (3, 10)]
    change = ChangeEvidence(np.array(days), Fraction(3, 5), math.log(9.5))
    assert change.log_sum(9) == near(oracle.log_change(days, Fraction(3, 5), 9.5))
    assert change.log_sum(9) < math.log(9.5) < np.logaddexp.reduce(change.log_effective(9))

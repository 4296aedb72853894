"""Tests of the confidence sequence: against the evidence on both sides."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uqcli.estimates.proportion import clopper_pearson
from uqcli.watch.evidence import log_e_value, rate_interval, rate_intervals

COUNTS = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCES = st.sampled_from([0.5, 0.9, 0.95, 0.99])


def is_in(rate, successes, trials, confidence):
    """Return whether neither side rejects a rate."""
    at_least = log_e_value(successes, trials, rate)
    at_most = log_e_value(trials - successes, trials, 1 - rate)
    return max(at_least, at_most) < math.log(2 / (1 - confidence))


@given(COUNTS, CONFIDENCES, st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000))
def test_the_interval_contains_what_neither_side_rejects(counts, confidence, rate):
    low, high = rate_interval(*counts, confidence)
    if min(abs(rate - low), abs(rate - high)) > 1e-9:
        assert (low < rate < high) == is_in(rate, *counts, confidence)


@given(COUNTS, CONFIDENCES)
def test_intervals_contain_the_observed_rate_and_mirror(counts, confidence):
    successes, trials = counts
    low, high = rate_interval(successes, trials, confidence)
    assert 0 <= low <= successes / trials <= high <= 1
    mirrored = rate_interval(trials - successes, trials, confidence)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(COUNTS, st.sampled_from([0.9, 0.95, 0.99]))
def test_intervals_at_all_looks_are_wider_than_those_at_one(counts, confidence):
    low, high = rate_interval(*counts, confidence)
    one_low, one_high = clopper_pearson(*counts, confidence)
    assert high - low > one_high - one_low


def test_the_price_of_all_looks_at_a_thousand_trials():
    for successes in (500, 700, 900, 990):
        low, high = rate_interval(successes, 1000, 0.95)
        one_low, one_high = clopper_pearson(successes, 1000, 0.95)
        assert 1.5 < (high - low) / (one_high - one_low) < 1.9


def test_edges():
    assert rate_interval(0, 0, 0.95) == (0, 1)
    assert rate_interval(50, 50, 0.95)[1] == 1
    assert rate_interval(0, 50, 0.95)[0] == 0
    low, high = rate_interval(10**9 - 1, 10**9, 0.95)
    assert 0.99999997 < low < high < 1


def test_a_sequence_of_looks_is_each_look_alone():
    successes, trials = np.array([0, 0, 9, 90, 900]), np.array([0, 5, 10, 100, 1000])
    low, high = rate_intervals(successes, trials, 0.9)
    alone = [rate_interval(k, n, 0.9) for k, n in zip(successes.tolist(), trials.tolist(), strict=True)]
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == alone

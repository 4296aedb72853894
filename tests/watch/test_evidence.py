"""Tests of the e-value: against its integral, and of what makes it anytime-valid."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.oracles import watch as oracle
from uqcli.watch.evidence import is_alarm, log_e_bounds, log_e_value, log_e_values

TWENTIETHS = st.integers(1, 19).map(lambda count: Fraction(count, 20))
BOUNDS = st.one_of(
    st.sampled_from([Fraction(9, 10), Fraction(99, 100), Fraction(999, 1000)]),
    st.fractions(Fraction(1, 20), Fraction(999, 1000), max_denominator=1000),
)
EXTREME = [Fraction(1, 10**30), Fraction(1, 10**6), 1 - Fraction(1, 10**6), 1 - Fraction(1, 10**30)]


@st.composite
def counts_near(draw, bounds, most):
    """Draw a bound and counts within 50 standard deviations of it, or anywhere."""
    bound = draw(bounds)
    trials = int(10 ** draw(st.floats(0, math.log10(most))))
    if draw(st.booleans()):
        return draw(st.integers(0, trials)), trials, bound
    spread = math.sqrt(trials * bound * (1 - bound))
    successes = round(trials * bound + draw(st.floats(-50, 50)) * spread)
    return min(max(successes, 0), trials), trials, bound


def near(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(counts_near(TWENTIETHS, 300))
def test_the_e_value_is_the_exact_integral(case):
    assert log_e_value(*case) == near(oracle.log_of(oracle.e_value(*case)))


@given(counts_near(BOUNDS, 10**6))
def test_the_e_value_is_the_integral_of_a_million_trials(case):
    assert log_e_value(*case) == near(oracle.log_e_value(*case))


@given(counts_near(TWENTIETHS, 300))
def test_both_oracles_agree(case):
    assert oracle.log_e_value(*case) == near(oracle.log_of(oracle.e_value(*case)))


def test_a_case_that_library_functions_miss():
    assert log_e_value(3800, 4000, Fraction(9, 10)) == near(oracle.log_e_value(3800, 4000, Fraction(9, 10)))
    assert round(log_e_value(3800, 4000, Fraction(9, 10)), 3) == -5.107


@pytest.mark.parametrize("bound", [*EXTREME, Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("trials", [1, 7, 1000, 10**6, 10**9])
def test_edges_are_finite_and_in_order(bound, trials):
    successes = np.unique(np.array([0, 1, trials // 2, trials - 1, trials]))
    log_e = log_e_values(successes, np.full_like(successes, trials), bound)
    assert np.isfinite(log_e).all()
    assert (np.diff(log_e) < 1e-9).all()
    assert log_e[-1] <= 1e-12
    assert log_e[0] >= -1e-12


@pytest.mark.parametrize("bound", [Fraction(0), *EXTREME, Fraction(9, 10), Fraction(1)])
def test_no_trials_are_no_evidence(bound):
    assert log_e_value(0, 0, bound) == 0


def test_bounds_of_0_and_1():
    assert log_e_value(10, 10, Fraction(1)) == 0
    assert log_e_value(9, 10, Fraction(1)) == math.inf
    assert log_e_value(0, 10, Fraction(0)) == 0


@given(BOUNDS, st.integers(1, 2000))
def test_more_failures_never_lower_the_evidence(bound, trials):
    successes = np.arange(trials + 1)
    assert (np.diff(log_e_values(successes, np.full(trials + 1, trials), bound)) < 0).all()


@given(BOUNDS, st.integers(1, 3000), st.floats(0, 1))
def test_the_mean_is_1_at_the_bound_and_at_most_1_above_it(bound, trials, part):
    successes = np.arange(trials + 1)
    log_e = log_e_values(successes, np.full(trials + 1, trials), bound)
    rate = float(bound)
    at_bound = np.exp(log_e + stats.binom.logpmf(successes, trials, rate))
    assert at_bound.sum() == pytest.approx(1, rel=1e-9)
    higher = rate + part * (1 - rate)
    assert np.exp(log_e + stats.binom.logpmf(successes, trials, higher)).sum() <= 1 + 1e-9


@given(BOUNDS, st.integers(0, 200), st.integers(0, 200), st.floats(0, 1))
def test_one_more_trial_never_raises_the_mean(bound, successes, failures, part):
    rate = float(bound) + part * float(1 - bound)
    trials = successes + failures
    now, success, failure = (
        log_e_value(successes + k, trials + n, bound) for k, n in ((0, 0), (1, 1), (0, 1))
    )
    assert rate * math.exp(success - now) + (1 - rate) * math.exp(failure - now) <= 1 + 1e-9


def test_the_alarm_is_at_1_over_delta():
    assert is_alarm(math.log(100), Fraction(1, 100))
    assert not is_alarm(math.log(99.9), Fraction(1, 100))
    assert is_alarm(math.inf, Fraction(1, 10**9))


@pytest.mark.parametrize(
    "bound", [Fraction(1, 10**6), Fraction(1, 50), Fraction(1, 2), Fraction(9998, 10000)]
)
def test_upper_bounds_of_evidence_hold_and_are_near_where_it_counts(bound):
    random, rate = np.random.default_rng(6), float(bound)
    trials = 10 ** random.uniform(0, 7, 3000)
    spread = random.normal(0, 4, 3000) * np.sqrt(rate * (1 - rate) / trials)
    successes = trials * np.where(
        random.random(3000) < 0.8, np.clip(rate + spread, 0, 1), random.random(3000)
    )
    log_e = log_e_values(successes, trials, bound)
    excess = log_e_bounds(successes, trials, bound) - log_e
    assert excess.min() > -1e-9
    assert excess[log_e > 2].max() < 0.2

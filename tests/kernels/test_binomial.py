"""Tests of limits of few trials: by exact sums, beside scipy, and in each form with the same bits."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv

from uqcli.estimates.proportion import clopper_pearson
from uqcli.kernels.binomial import FEW_TRIALS, rate_of_tail, solve_tail

TAILS = st.sampled_from([0.4999, 0.25, 0.025, 0.005, 1e-4, 1e-9, 1e-30, 1e-300])


@st.composite
def trials_and_successes(draw, most=FEW_TRIALS):
    trials = draw(st.integers(1, most))
    return trials, draw(st.integers(1, trials))


@given(trials_and_successes(40), TAILS)
def test_the_tail_at_the_rate_is_the_given_one_in_exact_sums(pair, tail):
    trials, successes = pair
    p = Fraction(rate_of_tail(successes, trials, tail))
    exact = sum(comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(successes, trials + 1))
    assert float(exact / Fraction(tail)) == pytest.approx(1, abs=1e-12)


@given(trials_and_successes(), TAILS)
def test_the_rate_is_the_quantile_of_a_beta_distribution(pair, tail):
    trials, successes = pair
    expected = float(betaincinv(successes, trials - successes + 1, tail))
    assert rate_of_tail(successes, trials, tail) == pytest.approx(expected, rel=1e-12)


@given(trials_and_successes(), TAILS)
def test_python_and_machine_code_have_the_same_bits(pair, tail):
    trials, successes = pair
    rates = {form: np.array([tail]) for form in ("_on_lists", "compiled")}
    for form, rate in rates.items():
        getattr(solve_tail, form)(successes, trials, rate)
    assert rates["_on_lists"].tolist() == rates["compiled"].tolist()


@given(st.integers(0, FEW_TRIALS), st.integers(FEW_TRIALS - 2, FEW_TRIALS + 2))
def test_limits_do_not_jump_where_scipy_takes_over(successes, trials):
    low, high = clopper_pearson(successes, trials, 0.95)
    expected = (
        float(betaincinv(successes, trials - successes + 1, 0.025)) if successes else 0.0,
        float(betaincinv(successes + 1, trials - successes, 0.975)) if successes < trials else 1.0,
    )
    assert (low, high) == pytest.approx(expected, rel=1e-12)

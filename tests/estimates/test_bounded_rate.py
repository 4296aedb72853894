"""Tests of rates against a bound, beside every outcome counted by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom

from uqcli.conformal.coverage import coverage_chances, coverage_p_value
from uqcli.estimates.proportion import POWER, BoundedRate

TRIALS = st.integers(1, 40)
BOUNDS = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)


def detectable_by_hand(trials, p_value, level, upper):
    """Search all numbers of successes for the last that the test rejects, then the rates that it detects."""
    kept = [k for k in range(trials + 1) if p_value(k) <= level]
    if not kept:
        return None
    grid = np.linspace(0, 1, 20_001)
    power = binom.cdf(max(kept), trials, grid)
    rate = grid[power >= POWER].max(initial=0.0)
    return 1 - rate if upper else rate


@given(trials=TRIALS, bound=BOUNDS, upper=st.booleans(), data=st.data())
def test_a_rate_is_tested_exactly(trials, bound, upper, data):
    successes = data.draw(st.integers(0, trials))
    rate = BoundedRate(successes=successes, trials=trials, bound=bound, upper=upper)
    outcomes = range(successes, trials + 1) if upper else range(successes + 1)
    expected = sum(binom.pmf(k, trials, float(bound)) for k in outcomes)
    assert rate.p_value() == pytest.approx(expected, abs=1e-12)
    for level in (0.05, 0.3):
        share = float(1 - bound) if upper else float(bound)
        found = rate.detectable(level)
        by_hand = detectable_by_hand(trials, lambda k, share=share: binom.cdf(k, trials, share), level, upper)
        assert (found is None) == (by_hand is None)
        assert found is None or found == pytest.approx(by_hand, abs=1e-4)


@given(trials=TRIALS, rows=st.integers(1, 60), data=st.data())
def test_a_coverage_is_tested_beside_the_luck_of_its_calibration_rows(trials, rows, data):
    """The mean of binomial tails over equally likely coverages is the beta-binomial tail."""
    covered, alpha = data.draw(st.integers(0, trials)), Fraction(1, 10)
    chances = coverage_chances(rows, alpha)
    rate = BoundedRate(successes=covered, trials=trials, bound=1 - alpha, chances=chances)
    assume((chances > 0).all())
    assert rate.p_value() == pytest.approx(coverage_p_value(covered, trials, rows, alpha), abs=2e-3)
    found = rate.detectable(0.05)
    by_hand = detectable_by_hand(trials, lambda k: binom.cdf(k, trials, chances).mean(), 0.05, upper=False)
    assert (found is None) == (by_hand is None)
    assert found is None or found == pytest.approx(by_hand, abs=1e-4)

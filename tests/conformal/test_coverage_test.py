"""Tests of the test of guaranteed coverage: distribution of counts, several guarantees, effective rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from uqcli.conformal.coverage import coverage_p_value, effective_rows, rank_of
from uqcli.estimates.proportion import holm

ALPHAS = st.sampled_from([Fraction(1, 10), Fraction(1, 20), Fraction(1, 3), Fraction(1, 100)])


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), ALPHAS)
def test_p_values_are_those_of_the_beta_binomial_distribution(covered, missed, calibration_rows, alpha):
    rows = covered + missed
    rank = rank_of(calibration_rows, alpha)
    p_value = coverage_p_value(covered, rows, calibration_rows, alpha)
    if rank > calibration_rows:
        assert p_value == 1
    else:
        expected = stats.betabinom(rows, rank, calibration_rows + 1 - rank).cdf(covered)
        assert p_value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("rows", [10**6, 2 * 10**7])
def test_large_counts_agree_with_the_normal_limit(rows):
    calibration_rows, alpha = rows, Fraction(1, 10)
    rank = rank_of(calibration_rows, alpha)
    standard_error = np.sqrt(2 * 0.09 / rows)
    for step in (-3, -1, 0, 2):
        covered = round(rows * (0.9 + step * standard_error))
        assert coverage_p_value(covered, rows, calibration_rows, alpha) == pytest.approx(
            stats.norm.cdf(step), abs=1e-3
        )
    assert rank / (calibration_rows + 1) >= 0.9


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_is_the_step_down_rule(p_values):
    adjusted = holm(p_values)
    assert list(adjusted) == list(p_values)
    for level in (0.01, 0.05, 0.2, 0.5):
        rejected, remaining = set(), dict(p_values)
        while remaining:
            name = min(remaining, key=lambda hypothesis: (remaining[hypothesis], hypothesis))
            if remaining[name] * len(remaining) > level:
                break
            rejected.add(name)
            del remaining[name]
        assert {name for name, p in adjusted.items() if p <= level} == rejected


def test_equal_weights_make_every_row_effective():
    test_counts = np.array([0, 0]), np.array([10**7, 10**7]), Fraction(1, 10)
    assert effective_rows([3, 4], [0.5, 0.5], *test_counts) == 7
    assert effective_rows([100, 100], [1.0, 0.0], *test_counts) == 100


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.floats(0, 9), st.integers(0, 40), st.integers(0, 40)), min_size=1
    )
)
def test_classes_that_are_missed_more_often_leave_fewer_effective_rows(classes):
    """The expected value is the sum over rows, each with the miss rate of its class."""
    alpha, total, variance, squares = 0.1, 0.0, 0.0, 0.0
    for rows, weight, missed, covered in classes:
        miss = (missed + 1) / (missed + covered + 2)
        for _ in range(rows):
            total += weight
            squares += weight**2
            variance += weight**2 * (miss * 0.9**2 + (1 - miss) * 0.1**2)
    rows, weights, missed, covered = (list(column) for column in zip(*classes, strict=True))
    tested = np.array(missed) + np.array(covered)
    effective = effective_rows(rows, weights, np.array(missed), tested, Fraction(1, 10))
    largest = max(squares, variance / (alpha * (1 - alpha)))
    assert effective == pytest.approx(total**2 / largest if largest else 0, rel=1e-9, abs=1)

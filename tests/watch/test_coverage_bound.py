"""Tests of the coverage that prediction sets have at least: against the law of order statistics."""

from fractions import Fraction
from math import comb

from hypothesis import given
from hypothesis import strategies as st

from uqcli.watch.promises import coverage_bound

DELTAS = st.sampled_from([Fraction(1, 100), Fraction(1, 20), Fraction(1, 2)])


def probability_below(coverage, kept, rows):
    """Return P(Beta(kept, rows + 1 - kept) <= coverage): ``kept`` of ``rows`` values or more lie below it."""
    return sum(comb(rows, k) * coverage**k * (1 - coverage) ** (rows - k) for k in range(kept, rows + 1))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n))), DELTAS)
def test_the_coverage_is_lower_with_half_of_delta(case, delta):
    bound = coverage_bound(*case, delta)
    assert probability_below(bound, *case) <= delta / 2
    assert probability_below(bound + Fraction(1, 10**10), *case) > delta / 2 * (1 - Fraction(1, 10**6))


def test_sets_of_every_label_always_cover():
    assert coverage_bound(101, 100, Fraction(1, 100)) == 1
    assert coverage_bound(0, 100, Fraction(1, 100)) == 0

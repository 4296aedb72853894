"""Tests of the evidence of a change: against its definition, and its mean."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import watch as oracle
from uqcli.watch.evidence import is_change_alarm, log_change_evidence, log_e_value

TWENTIETHS = st.integers(1, 19).map(lambda count: Fraction(count, 20))
BATCHES = st.lists(
    st.integers(0, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=12
)


def change_evidence_path(batches, bound):
    """Return the evidence of a change after every batch, not its logarithm."""
    log_evidence = [log_change_evidence(batches[:look], bound) for look in range(1, len(batches) + 1)]
    with np.errstate(over="ignore"):
        return np.exp(np.array(log_evidence, dtype=np.float64))


@given(BATCHES, TWENTIETHS)
def test_the_evidence_is_the_sum_over_all_starts(batches, bound):
    path = change_evidence_path(batches, bound)
    expected = [float(oracle.change_evidence(batches[:look], bound)) for look in range(1, len(batches) + 1)]
    assert path.tolist() == pytest.approx(expected, rel=1e-9)
    if batches:
        assert log_change_evidence(batches, bound) == pytest.approx(math.log(expected[-1]), abs=1e-9)


def test_no_batches_are_no_evidence():
    assert log_change_evidence([], Fraction(1, 2)) == -math.inf
    assert change_evidence_path([], Fraction(1, 2)).tolist() == []


def test_one_batch_has_its_own_e_value():
    assert log_change_evidence([(3, 9)], Fraction(9, 10)) == log_e_value(3, 9, Fraction(9, 10))


def test_a_failure_under_a_bound_of_1_is_infinite_evidence():
    assert change_evidence_path([(5, 5), (4, 5), (5, 5)], Fraction(1)).tolist() == [1, math.inf, math.inf]
    assert log_change_evidence([(5, 5), (4, 5)], Fraction(1)) == math.inf


def test_evidence_beyond_the_doubles_is_infinite_only_as_a_number():
    batches = [(0, 5000), (0, 5000)]
    assert change_evidence_path(batches, Fraction(9, 10)).tolist() == [math.inf, math.inf]
    assert math.isfinite(log_change_evidence(batches, Fraction(9, 10)))


@pytest.mark.parametrize("bound", [Fraction(1, 2), Fraction(9, 10)])
def test_the_mean_after_t_batches_is_t(bound):
    """Over all outcomes of four batches of two trials each."""
    for looks in range(1, 5):
        mean = 0.0
        for hits in itertools.product(range(3), repeat=looks):
            chance = math.prod(
                math.comb(2, k) * float(bound) ** k * float(1 - bound) ** (2 - k) for k in hits
            )
            mean += chance * math.exp(log_change_evidence([(k, 2) for k in hits], bound))
        assert mean == pytest.approx(looks)


def test_a_long_good_past_does_not_delay_the_alarm():
    bad = [(5, 10)] * 10
    path = change_evidence_path([(10, 10)] * 500 + bad, Fraction(9, 10))
    alone = change_evidence_path(bad, Fraction(9, 10))
    assert (path[500:] >= alone).all()
    assert np.flatnonzero(path >= 1000)[0] == 500 + np.flatnonzero(alone >= 1000)[0]


def test_the_alarm_is_at_the_run_length():
    assert is_change_alarm(math.log(1000), 1000)
    assert not is_change_alarm(math.log(999), 1000)

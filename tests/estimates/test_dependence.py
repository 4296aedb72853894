"""Effective counts of dependent trials equal those of a slow oracle, and obey what they must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dependence import dependence
from uqcli.estimates.dependence import MIN_DAYS, DivisorsSince, dependence_path, divisors_since, unit_sums

DAYS = st.lists(
    st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=30
)


def arrays(days):
    return np.array(days, dtype=np.int64).reshape(-1, 2).T


@given(DAYS, st.none() | DAYS)
def test_the_estimates_are_those_of_the_oracle_after_every_day(days, calibration):
    sums = None if calibration is None else unit_sums(*arrays(calibration))
    path = dependence_path(*arrays(days), sums)
    for day in range(len(days)):
        effect, used, lag = dependence(days[: day + 1], calibration)
        assert path.effect[day] == pytest.approx(effect, rel=1e-6)
        assert path.used[day] == pytest.approx(used, rel=1e-6)
        assert path.lag[day] == pytest.approx(lag, rel=1e-6, abs=1e-9, nan_ok=True)
        assert path.used[day] >= path.effect[day] >= 1


@given(DAYS, st.none() | DAYS)
def test_divisors_since_each_day_are_those_of_the_oracle(days, calibration):
    sums = None if calibration is None else unit_sums(*arrays(calibration))
    divisors = divisors_since(*arrays(days), sums)
    expected = [dependence(days, calibration, change)[1] for change in range(len(days))]
    assert divisors.tolist() == pytest.approx(expected, rel=1e-5)
    assert divisors[0] == pytest.approx(dependence_path(*arrays(days), sums).used[-1], rel=1e-6)


def test_a_fall_does_not_hide_itself():
    days = [(16, 20), (15, 20), (17, 20), (16, 20)] * 10 + [(6, 20), (5, 20), (7, 20)] * 3
    pooled = dependence_path(*arrays(days)).used[-1]
    assert divisors_since(*arrays(days))[40] < 2 < 10 < pooled


@given(st.lists(DAYS.filter(lambda days: len(days) >= 5).map(lambda days: days[:5]), min_size=1, max_size=4))
def test_streams_side_by_side_are_each_as_alone(streams):
    both = np.array(streams, dtype=np.int64)
    path = dependence_path(both[..., 0], both[..., 1])
    for index, days in enumerate(streams):
        alone = dependence_path(*arrays(days))
        for together, single in zip(path, alone, strict=True):
            assert np.array_equal(together[index], single, equal_nan=True)


def test_one_day_says_nothing_and_calibration_days_speak_from_the_first():
    days = [(5, 10)]
    assert dependence_path(*arrays(days)).used.tolist() == [np.inf]
    sums = unit_sums(*arrays([(5, 10), (6, 10), (4, 10), (5, 10)] * 8))
    assert 1 < dependence_path(*arrays(days), sums).used[0] < 3


def test_calibration_days_that_contradict_the_days_watched_are_left_out():
    watched, calibration = [(9, 10), (1, 10)] * 15, [(5, 10)] * 40
    path = dependence_path(*arrays(watched), unit_sums(*arrays(calibration)))
    alone = dependence_path(*arrays(watched))
    assert path.left_out.tolist() == [day >= MIN_DAYS for day in range(1, 31)]
    assert (path.used == alone.used)[path.left_out].all()


def test_days_in_spells_count_less_and_units_in_no_order_do_not():
    spells = [(8, 10)] * 10 + [(2, 10)] * 10 + [(8, 10)] * 10
    path = dependence_path(*arrays(spells))
    assert path.has_spells[-1]
    assert path.lag[-1] > 0.5
    unordered = dependence_path(*arrays(spells), in_order=False)
    assert path.used[-1] > 3 * unordered.used[-1]
    assert not unordered.has_spells.any()


@pytest.mark.parametrize("days", [60, 250])
def test_many_alike_days_have_the_tail_of_the_upper_limit_that_the_oracle_has(days):
    """From 20 degrees of freedom on it is .05, which few days have not."""
    counts = [(4 + day % 3, 10) for day in range(days)]
    path = dependence_path(*arrays(counts))
    assert path.used[-1] == pytest.approx(dependence(counts, None)[1], rel=1e-9)


def test_calibration_days_that_understate_do_not_outvote_the_days_watched():
    watched, calibration = [(9, 10), (2, 10), (8, 10), (1, 10)] * 4, [(5, 10), (4, 10)] * 100
    path = dependence_path(*arrays(watched), unit_sums(*arrays(calibration)))
    alone = dependence_path(*arrays(watched))
    assert not path.left_out[-1]
    assert path.used[-1] >= alone.effect[-1] > 3 * path.effect[-1]


@pytest.mark.parametrize("rate", [0.0, 2e-5, 0.5, 1 - 2e-5, 1.0])
def test_independent_rows_at_any_rate_are_not_taken_for_dependent_ones(rate):
    """A rate that was cut to .001 divided counts by up to 1,999."""
    trials = np.full(60, 20_000)
    hits = np.random.default_rng(3).binomial(trials, rate)
    path = dependence_path(hits, trials)
    assert path.used[-1] < 2
    assert not path.has_spells[-1]
    assert path.used == pytest.approx(dependence_path(trials - hits, trials).used, rel=1e-12)
    assert divisors_since(hits, trials)[-10] < 2


def test_days_of_one_rate_have_no_lag_by_rounding():
    assert np.isnan(dependence_path(np.full(40, 7), np.full(40, 60)).lag).all()


def test_lower_bounds_of_divisors_are_below_them_and_near():
    random = np.random.default_rng(4)
    trials = random.integers(1, 60, 90)
    hits = random.binomial(trials, random.beta(3, 3, 90))
    calibration = unit_sums(*arrays([(5, 10), (2, 10), (9, 10)] * 5))
    divisors = DivisorsSince(hits, trials, calibration)
    least = divisors.at_least(30, 90)
    for look in (30, 61, 90):
        exact, row = divisors.after(look), least[look - 30, :look]
        lag = dependence_path(hits[:look], trials[:look]).lag[-1]
        assert (row <= exact * (1 + 1e-12)).all()
        assert (row[10:-10] >= 0.9 * exact[10:-10]).all() or lag > 0.05

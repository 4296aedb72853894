"""Tests of what to expect before labels: against sums row by row, and what may not matter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.before_labels import before_labels as row_by_row
from uqcli.base.counts import ValueCounts, pool
from uqcli.watch.before_labels import expected_before_labels, isotonic_rates


def unlabelled(score):
    return pool(score, np.zeros(len(score), dtype=bool))


def calibration_rows(seed, rows=400, digits=2):
    random = np.random.default_rng(seed)
    score = random.random(rows).round(digits)
    return pool(score, random.random(rows) < 0.1 + 0.8 * score**2)


def expected(calibration, new, is_flagged, seed=0, confidence=0.9, **weights):
    return expected_before_labels(
        calibration, unlabelled(new[is_flagged]), unlabelled(new), seed, confidence, **weights
    )


def ends(estimate):
    return estimate.value, estimate.low, estimate.high


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.2, 0.8), st.sampled_from([None, (1.2, 0.5), (0.5, 3.0)]))
def test_sums_over_bins_are_sums_over_rows(seed, threshold, weights):
    calibration, random = calibration_rows(seed), np.random.default_rng(seed + 1)
    low, high = calibration.value[[0, -1]]
    new = random.uniform(low, high, 300)
    is_flagged = (new >= threshold) & (random.random(300) < 0.9)
    found = expected(calibration, new, is_flagged, seed, weights=weights)
    precision, recall = row_by_row(calibration, new, is_flagged, seed, 0.9, weights or (1.0, 1.0))
    for estimate, (value, low, high) in ((found.precision, precision), (found.recall, recall)):
        assert ends(estimate) == pytest.approx((value, min(value, low), max(value, high)), abs=1e-9)
    assert found.reason == ""


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_rates_do_not_fall_and_keep_the_number_of_positives(seed, drop):
    calibration, random = calibration_rows(seed, rows=60), np.random.default_rng(drop)
    kept = random.random(len(calibration.count)) < 0.7
    kept[0] = True
    count, positives = calibration.count * kept, calibration.positives * kept
    rate = isotonic_rates(calibration.value, count, positives)
    assert (np.diff(rate) >= -1e-12).all()
    assert (rate * count).sum() == pytest.approx(positives.sum())


def test_rows_of_weight_two_are_two_rows_and_their_order_does_not_matter():
    calibration, new = calibration_rows(1), np.random.default_rng(2).uniform(0.1, 0.9, 200).round(2)
    twice = expected(calibration, np.repeat(new, 2), np.repeat(new, 2) > 0.5)
    flagged, everything = unlabelled(new[new > 0.5]), unlabelled(new)
    doubled = [replace(counts, count=2 * counts.count) for counts in (flagged, everything)]
    assert twice == expected_before_labels(calibration, *doubled, 0, 0.9)
    assert twice == expected(calibration, np.repeat(new[::-1], 2), np.repeat(new[::-1], 2) > 0.5)
    assert twice != expected(calibration, np.repeat(new, 2), np.repeat(new, 2) > 0.5, seed=1)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_intervals_contain_the_value_and_grow_with_the_confidence(seed):
    calibration, new = calibration_rows(seed), np.random.default_rng(seed).random(100)
    narrow, wide = (expected(calibration, new, new > 0.4, confidence=level) for level in (0.8, 0.99))
    if narrow.reason:
        assert narrow.reason == wide.reason
        return
    for name in ("precision", "recall"):
        inner, outer = getattr(narrow, name), getattr(wide, name)
        assert 0 <= outer.low <= inner.low <= inner.value <= inner.high <= outer.high <= 1


def test_scores_on_any_increasing_scale_give_the_same_at_calibration_scores():
    calibration = calibration_rows(3)
    new = np.random.default_rng(4).choice(calibration.value, 300)
    logits = replace(calibration, value=np.log((calibration.value + 0.1) / (1.1 - calibration.value)))
    moved = logits.value[np.searchsorted(calibration.value, new)]
    assert expected(calibration, new, new > 0.5).precision.value == pytest.approx(
        expected(logits, moved, new > 0.5).precision.value
    )


def test_drawn_weights_widen_the_interval_and_weights_of_one_change_nothing():
    calibration, new = calibration_rows(5), np.random.default_rng(6).uniform(0.05, 0.95, 400)
    plain = expected(calibration, new, new > 0.5)
    same = expected(calibration, new, new > 0.5, weights=(1.0, 1.0))
    assert ends(same.precision) == pytest.approx(ends(plain.precision))
    draws = np.exp(np.random.default_rng(7).normal(0, 0.5, (200, 2)))
    drawn = expected(calibration, new, new > 0.5, weights=(1.0, 1.0), weight_draws=draws)
    assert drawn.precision.value == same.precision.value
    assert drawn.precision.high - drawn.precision.low > 1.5 * (same.precision.high - same.precision.low)
    unusable = expected(calibration, new, new > 0.5, weights=(1.0, 1.0), weight_draws=-draws)
    assert unusable == same


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ([0.1, 0.2], "no row is flagged"),
        ([0.2, 0.99], "fewer than 50 calibration rows are flagged"),
        ([0.5, 0.6, 7.0], "33.3% of flagged rows are outside the scores of the calibration rows"),
    ],
)
def test_nothing_is_stated_without_a_ground_for_it(new, reason):
    new = np.array(new)
    found = expected(calibration_rows(8), new, new > 0.3)
    assert (found.precision, found.recall) == (None, None)
    assert found.reason.startswith(reason)


@pytest.mark.parametrize(("share", "stated"), [(0.01, True), (0.02, False)])
def test_one_flagged_row_in_a_hundred_may_be_outside(share, stated):
    new = np.full(100, 0.7)
    new[: round(100 * share)] = 2.0
    assert (expected(calibration_rows(9), new, new > 0.5).precision is not None) == stated


def test_rates_of_zero_and_one_have_no_interval():
    count = np.array([100, 100])
    calibration = ValueCounts(value=np.array([0.0, 1.0]), count=count, positives=np.array([0, 100]))
    new = np.array([0.0, 1.0, 1.0])
    found = expected(calibration, new, new > 0.5)
    assert (ends(found.precision), ends(found.recall)) == ((1.0, None, None), (1.0, None, None))
    without_positives = replace(calibration, positives=np.array([0, 0]))
    assert ends(expected(without_positives, new, new > 0.5).recall) == (None, None, None)

"""Tests of the band of the calibration curve, against all blocks row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import band as oracle
from uqcli.base.counts import pool
from uqcli.kernels import units
from uqcli.tce import band
from uqcli.tce.band import BlockLimits, calibration_band

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.001, 0.1, 0.3, 0.35, 0.5, 0.9, 1.0]) | st.floats(0, 1), st.booleans()),
    min_size=1,
    max_size=40,
)


def band_of(rows, confidence=0.95):
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    return calibration_band(pool(score + 0.0, label), confidence)


@settings(max_examples=150)
@given(ROWS, st.sampled_from([0.5, 0.9, 0.999]), st.sampled_from([1, 3, 7, 200]))
def test_the_band_is_that_of_all_blocks(rows, confidence, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(band, "_MAX_CELLS", most)
        result = band_of(rows, confidence)
    intervals = oracle.blocks(rows, most, confidence)
    within, proved, runs = oracle.deviations(rows, most, confidence)
    for last, low in zip(result.last, result.low, strict=True):
        assert low == pytest.approx(oracle.limits(intervals, last)[0], abs=1e-9)
    for first, high in zip(result.first, result.high, strict=True):
        assert high == pytest.approx(oracle.limits(intervals, first)[1], abs=1e-9)
    assert result.within_low == pytest.approx(proved, abs=1e-9)
    assert result.within_runs == pytest.approx(runs, abs=1e-9)
    if result.within is not None:
        assert result.within == pytest.approx(within, abs=1e-9)


@given(
    st.lists(ROWS, min_size=1, max_size=4),
    st.lists(st.sampled_from([0.5, 0.9]), min_size=4, max_size=4),
    st.sampled_from([0, 1 << 12]),
)
def test_bands_that_share_limits_are_those_of_each_alone(problems, confidences, few):
    limits = BlockLimits()
    for rows, confidence in zip(problems, confidences, strict=False):
        counts = pool(np.array([s for s, _ in rows]), np.array([bool(y) for _, y in rows]))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(units, "_FEW_PLACES", few)  # beyond, pairs are hashed
            shared = calibration_band(counts, confidence, limits)
        assert repr(shared) == repr(calibration_band(counts, confidence))


def test_a_weight_is_a_number_of_rows():
    random = np.random.default_rng(3)
    score, label = np.round(random.random(300), 2), random.random(300) < 0.4
    weight = random.integers(0, 4, 300)
    one, other = pool(score, label, weight), pool(np.repeat(score, weight), np.repeat(label, weight))
    assert calibration_band(one, 0.95).metrics() == calibration_band(other, 0.95).metrics()


def test_rates_that_fall_with_the_score_are_within_nothing():
    score = np.linspace(0.01, 0.99, 2000)
    result = calibration_band(pool(score, np.random.default_rng(1).random(2000) > score), 0.95)
    assert result.within is None
    assert result.within_low > 0.5


def test_few_rows_show_nothing():
    result = band_of([(0.5, True), (0.5, False)])
    assert (result.within_low, result.detectable) == (0.0, None)
    assert 0.4 < result.within <= 0.5


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_a_certain_score_that_fails_is_proved_wrong(score):
    result = band_of([(score, score == 0.0)] * 30)
    assert result.within_low > 0.85
    assert result.within == 1.0

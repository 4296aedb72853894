"""Tests of calibration maps of the score alone, against scikit-learn and slow oracles."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from tests.oracles import calibration as oracle
from tests.properties.calibration_rows import PROBABILITY, ROWS, SCORE_ONLY_METHODS, arrays, scored
from uqcli.base.choices import CalibrationMethod
from uqcli.base.counts import pool
from uqcli.calibrate.fit import fit
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps import IsotonicMap
from uqcli.calibrate.maps.formulas import fit_beta, fit_platt, fit_temperature
from uqcli.calibrate.maps.isotonic import fit_isotonic
from uqcli.calibrate.scale import Scale


@given(ROWS)
def test_isotonic_equals_scikit_learn(rows):
    score, label = arrays(rows)
    counts = pool(score, label)
    model = IsotonicRegression(out_of_bounds="clip")
    if len(counts.value) > 1 and np.diff(counts.value).min() < 1e-14:
        return  # scikit-learn pools scores that close
    model.fit(counts.value, counts.positives / counts.count, sample_weight=counts.count)
    fitted, new = fit_isotonic(counts), np.linspace(-0.2, 1.2, 41)
    np.testing.assert_allclose(fitted.probability(score, PROBABILITY), model.predict(score), atol=1e-9)
    # lines begin at the end of a score's 32-bit number
    np.testing.assert_allclose(fitted.probability(new, PROBABILITY), model.predict(new), atol=2e-6)


def test_an_isotonic_map_has_few_points():
    counts = pool(np.linspace(0, 1, 100_000), np.random.default_rng(8).random(100_000) < 0.5)
    fitted = fit_isotonic(counts)
    assert isinstance(fitted, IsotonicMap)
    assert len(fitted.x) < 200


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(30, 200))
def test_platt_equals_scikit_learn(seed, rows):
    random = np.random.default_rng(seed)
    score = random.random(rows)
    label = random.random(rows) < 0.1 + 0.8 * score
    label[:2], label[2:4], score[:4] = True, False, [0.2, 0.7, 0.3, 0.8]
    fitted = fit_platt(pool(score, label), PROBABILITY).map
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's advice on C
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
        model.fit(oracle.logit(score)[:, None], label)
    assert fitted.slope == pytest.approx(model.coef_[0, 0], abs=1e-6)
    assert fitted.intercept == pytest.approx(model.intercept_[0], abs=1e-6)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(5, 80), st.sampled_from([0.2, 1.0, 4.0]))
def test_temperature_and_beta_have_the_smallest_loss(seed, rows, power):
    random = np.random.default_rng(seed)
    score = random.random(rows)
    label = random.random(rows) < score**power
    label[:2], label[2:4] = True, False
    score[:4] = [0.2, 0.7, 0.3, 0.8]
    counts = pool(score, label)
    slope = fit_temperature(counts, PROBABILITY).map.slope
    log_odds = oracle.logit(score)
    best = oracle.loss(oracle.temperature_slope(score, label) * log_odds, label)
    assert oracle.loss(slope * log_odds, label) <= best + 1e-7
    fitted = fit_beta(counts, PROBABILITY).map
    assert min(fitted.a, fitted.b) >= 0
    fitted_loss = oracle.loss(fitted.a * np.log(score) - fitted.b * np.log1p(-score) + fitted.c, label)
    assert fitted_loss <= oracle.smallest_beta_loss(score, label) + 1e-6


@given(ROWS, st.integers(1, 8))
def test_histogram_is_the_positive_rate_of_the_bin(rows, bins):
    score, label = arrays(rows)
    data = scored(score, label)
    fitted = fit(data, CalibrationOptions(method=CalibrationMethod.HISTOGRAM, n_bins=bins))
    np.testing.assert_allclose(fitted.predict(data).probability, oracle.histogram(score, label, bins))


@pytest.mark.parametrize("method", SCORE_ONLY_METHODS)
@settings(max_examples=40)
@given(rows=ROWS)
def test_probabilities_are_monotone_and_weights_count_as_repeated_rows(method, rows):
    score, label = arrays(rows)
    options = CalibrationOptions(method=method, scale=Scale(undersampled=3.0))
    fitted = fit(scored(score, label), options)
    new = scored(np.linspace(0, 1, 60), np.zeros(60))
    probability = fitted.predict(new).probability
    assert np.isfinite(probability).all()
    assert ((probability >= 0) & (probability <= 1)).all()
    rising = method not in (CalibrationMethod.HISTOGRAM, CalibrationMethod.PLATT)
    rounding = 1e-15 if method is CalibrationMethod.SPLINE else 0.0
    assert not rising or (np.diff(probability) >= -rounding).all()
    order = np.random.default_rng(0).permutation(len(score))
    assert fit(scored(score[order], label[order]), options).map == fitted.map
    doubled = fit(scored(np.tile(score, 2), np.tile(label, 2)), options)
    weighted = fit(scored(score, label, weight=np.full(len(score), 2)), options)
    assert doubled.map == weighted.map


@settings(max_examples=40)
@given(rows=ROWS)
def test_swapping_the_classes_swaps_the_probabilities(rows):
    score, label = arrays(rows)
    grid = np.linspace(0.01, 0.99, 30)
    for method in (CalibrationMethod.TEMPERATURE, CalibrationMethod.PLATT):
        options = CalibrationOptions(method=method, scale=Scale(real=True))
        original = fit(scored(oracle.logit(score), label), options)
        swapped = fit(scored(-oracle.logit(score), ~label), options)
        new = scored(oracle.logit(grid), np.zeros(30)), scored(-oracle.logit(grid), np.zeros(30))
        np.testing.assert_allclose(
            original.predict(new[0]).probability, 1 - swapped.predict(new[1]).probability, atol=1e-6
        )


@pytest.mark.parametrize(
    ("score", "label", "note"),
    [
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], "separates"),
        ([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], "separates"),
        ([0.1, 0.5, 0.5, 0.9], [0, 0, 1, 1], "separates"),
        ([0.1, 0.2, 0.8], [0, 0, 0], "all labels are equal"),
        ([0.4, 0.4, 0.4], [0, 1, 1], "All scores are equal"),
        ([0.1, 0.4, 0.6, 0.9], [1, 0, 1, 0], "negative"),
    ],
)
def test_fits_without_a_maximum_are_finite_and_have_a_note(score, label, note):
    data = scored(score, label)
    fitted = fit(data, CalibrationOptions(method=CalibrationMethod.PLATT))
    probability = fitted.predict(data).probability
    assert ((probability > 0) & (probability < 1)).all()
    assert note in " ".join(fitted.notes)
    for method in SCORE_ONLY_METHODS:
        assert np.isfinite(fit(data, CalibrationOptions(method=method)).predict(data).probability).all()


def test_a_constant_score_is_calibrated_to_the_positive_rate():
    data = scored([0.4] * 4, [0, 1, 1, 1])
    np.testing.assert_allclose(
        fit(data, CalibrationOptions(method=CalibrationMethod.PLATT)).predict(data).probability, 0.75
    )

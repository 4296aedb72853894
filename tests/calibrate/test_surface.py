"""Tests of the logistic surface over score and uncertainty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import calibration as oracle
from tests.properties.calibration_rows import PROBABILITY, ROWS, arrays, scored
from uqcli.base.choices import CalibrationMethod
from uqcli.calibrate.fit import fit
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps.spline import RIDGES
from uqcli.kernels.logistic import logistic_fit

SURFACE = CalibrationOptions(method=CalibrationMethod.SURFACE)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_surface_has_the_smallest_loss_of_one_of_the_ridges(rows, random):
    score, label = arrays(rows)
    score = np.clip(score, 0.001, 0.999)
    uncertainty = np.array([random.choice([0.0, 0.5, 1.0, 3.0]) for _ in rows])
    data = scored(score, label, uncertainty=uncertainty)
    probability = fit(data, SURFACE).predict(data).probability
    expected = [
        oracle.surface(score, uncertainty, label, ridge, curved)
        for ridge in RIDGES
        for curved in (False, True)
    ]
    assert min(np.abs(probability - other).max() for other in expected) < 1e-5


def test_a_useful_uncertainty_lowers_the_loss_of_new_rows():
    random = np.random.default_rng(1)

    def draw(rows):
        x, v = random.normal(size=(2, rows))
        score = 1 / (1 + np.exp(-x))
        label = random.random(rows) < 1 / (1 + np.exp(-x * (1.2 - 0.6 * v)))
        return scored(score, label, uncertainty=np.exp(v))

    def loss(method):
        fitted = fit(train, CalibrationOptions(method=method))
        probability = fitted.predict(new).probability
        return -np.log(np.where(new.labels, probability, 1 - probability)).mean()

    train, new = draw(4000), draw(20_000)
    assert loss(CalibrationMethod.SURFACE) < loss(CalibrationMethod.PLATT) - 0.01


def test_a_rate_that_is_no_line_in_the_log_odds_has_a_curve_and_stays_level_beyond_the_seen_scores():
    random = np.random.default_rng(2)
    x, v = random.normal(size=(2, 4000))
    label = random.random(4000) < 1 / (1 + np.exp(-x * (1 - 0.4 * x)))
    curved = fit(scored(1 / (1 + np.exp(-x)), label, uncertainty=v), SURFACE).map
    assert curved.slope[2] == pytest.approx(-0.4, abs=0.1)
    ends = np.array([np.abs(x).max(), 30.0])
    beyond = scored(1 / (1 + np.exp(-ends)), [0, 0], uncertainty=np.zeros(2))
    probability = curved.predict(beyond.score, PROBABILITY, beyond.uncertainty).probability
    assert probability[0] == pytest.approx(probability[1])
    straight = random.random(4000) < 1 / (1 + np.exp(-x))
    assert fit(scored(1 / (1 + np.exp(-x)), straight, uncertainty=v), SURFACE).map.slope[2] == 0


def test_an_uncertainty_far_from_all_seen_ones_counts_as_the_nearest():
    data = scored([0.2, 0.4, 0.6, 0.8] * 9, [0, 0, 1, 1] * 9, uncertainty=np.arange(36.0))
    fitted = fit(data, SURFACE)
    far = scored([0.3, 0.3], [0, 0], uncertainty=np.array([-1e300, 1e300]))
    near = scored([0.3, 0.3], [0, 0], uncertainty=np.array([0.0, 35.0]))
    assert fitted.predict(far).probability.tolist() == fitted.predict(near).probability.tolist()
    assert not fitted.map.contradiction()
    assert fitted.map.predict(near.score, PROBABILITY, near.uncertainty).probability == pytest.approx(
        fitted.predict(near).probability
    )


@pytest.mark.parametrize("rows", [300, 3000])
def test_the_ridge_is_the_one_that_fits_from_the_start_would_choose(monkeypatch, rows):
    random = np.random.default_rng(rows)
    x, v = random.normal(size=(2, rows))
    label = random.random(rows) < 1 / (1 + np.exp(-x * (1.2 - 0.6 * v - 0.2 * x)))
    data = scored(1 / (1 + np.exp(-x)), label, uncertainty=v)
    fitted = fit(data, SURFACE).map
    monkeypatch.setattr(
        "uqcli.calibrate.maps.surface.fits_by_ridge",
        lambda features, count, positives, ridges: [
            logistic_fit(features, count, positives, ridge) for ridge in ridges
        ],
    )
    assert fit(data, SURFACE).map == fitted

"""Simulations of the tests of guarantees: a valid guarantee is rejected at most at the level."""

from fractions import Fraction

import numpy as np
import pytest

import uqcli
from tests.properties.class_rows import SOURCE, TARGET, gaussian_mixture, posterior
from tests.statistical.levels import highest, repetitions
from uqcli.base.choices import ConformalMethod, ConformalMode
from uqcli.base.counts import ValueCounts
from uqcli.calibrate.maps.histogram import fit_histogram
from uqcli.conformal.coverage import SCORES, THRESHOLDS, LabelScores, coverage_p_value, effective_rows
from uqcli.evaluate.calibrators import error_p_values

REPETITIONS = repetitions(60)
ALPHA, LEVEL = Fraction(1, 10), 0.05
ALLOWED = highest(LEVEL, REPETITIONS)


def p_value_on_target(random, method, calibration_rows, test_rows):
    """Return the p-value of prediction sets with true class weights, on labelled target data."""
    label, x = gaussian_mixture(random, calibration_rows, SOURCE)
    weights = TARGET / SOURCE
    score = SCORES[method].label_scores(posterior(x, SOURCE), label, random.random(calibration_rows))
    rows = LabelScores(score=score, label=label, weight=None)
    threshold = np.array([THRESHOLDS[ConformalMode.LABEL_SHIFT](rows, [ALPHA] * 3, weights.tolist())])
    new_label, x = gaussian_mixture(random, test_rows, TARGET)
    members = SCORES[method].sets(posterior(x, SOURCE), threshold, random.random(test_rows))
    missed = ~members[np.arange(test_rows), new_label]
    counts = (np.bincount(classes, minlength=3) for classes in (new_label[missed], new_label))
    rows = effective_rows(np.bincount(label, minlength=3).tolist(), weights.tolist(), *counts, ALPHA)
    return coverage_p_value(test_rows - int(missed.sum()), test_rows, rows, ALPHA)


@pytest.mark.parametrize("method", ConformalMethod)
@pytest.mark.parametrize(("calibration_rows", "test_rows"), [(60, 100), (1000, 1000), (1000, 5000)])
def test_valid_prediction_sets_on_target_data_are_seldom_rejected(method, calibration_rows, test_rows):
    p_values = [
        p_value_on_target(np.random.default_rng(seed), method, calibration_rows, test_rows)
        for seed in range(REPETITIONS)
    ]
    assert np.mean(np.array(p_values) <= LEVEL) <= ALLOWED


@pytest.mark.parametrize(("fit_rows", "test_rows"), [(100, 100), (300, 3000), (3000, 30_000)])
@pytest.mark.parametrize("rare", [1, 20])
def test_valid_error_bounds_of_a_histogram_are_seldom_rejected(fit_rows, test_rows, rare):
    """The true rate is at the end of the error bound of every bin, clipped to [0, 1]."""
    rejections = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score = random.random(fit_rows)
        label = random.random(fit_rows) < score / rare
        order = np.argsort(score)
        counts = ValueCounts(
            value=score[order], count=np.ones(fit_rows, dtype=int), positives=label[order].astype(int)
        )
        fitted_map = fit_histogram(counts, np.arange(1, 10) / 10, 0.95)
        true_rate = [
            np.clip(rate + random.choice([-1, 1]) * (error or 0), 0, 1)
            for rate, error in zip(fitted_map.rate, fitted_map.error, strict=True)
        ]
        count = np.bincount(random.integers(0, 10, test_rows), minlength=10)
        p_values = error_p_values(random.binomial(count, true_rate), count, fitted_map.rate, fitted_map.error)
        rejections += bool(p_values) and min(p_values.values()) <= LEVEL
    assert rejections / REPETITIONS <= ALLOWED


@pytest.mark.parametrize("kinds", [2, 3, 4, 5])
@pytest.mark.parametrize("size", [40, 200, 1500])
def test_a_rule_that_just_meets_several_bounds_is_seldom_blamed(kinds, size):
    """Every rate of new rows is exactly at its bound, so that each test errs as often as it may."""
    bounds = {"precision": "0.7", "recall": "0.7", "max_fpr": "0.2", "max_selected": "40%"}
    bounds = dict(list({**bounds, "min_specificity": "0.8"}.items())[:kinds])
    score = np.repeat([1.0, 0.0], [40, 60])
    label = np.repeat([1, 0, 1, 0], [28, 12, 12, 48])
    rule, blamed = uqcli.find_boundary(score, label, algorithm="st", **bounds), 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        positive = random.random(size) < 0.4
        flagged = random.random(size) < np.where(positive, 0.7, 0.2)
        blamed += rule.evaluate(flagged.astype(float), positive).metrics["promise_broken"] == 1
    assert blamed / REPETITIONS <= ALLOWED

"""What evaluate calls broken: promises that hold are called so no more often than its level."""

import os
from fractions import Fraction

import numpy as np
import pytest

from tests.properties.class_rows import SOURCE, TARGET, gaussian_mixture, posterior
from uqcli.choices import ConformalMethod, ConformalMode
from uqcli.counts import ValueCounts
from uqcli.methods.calibrate.histogram import error_p_values, fit_histogram
from uqcli.methods.conformal.coverage_test import coverage_p_value, effective_rows
from uqcli.methods.conformal.scores import SCORES
from uqcli.methods.conformal.thresholds import THRESHOLDS, CoverageGuarantee, LabelScores

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "60"))
ALPHA, LEVEL = Fraction(1, 10), 0.05
ALLOWED = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / REPETITIONS)


def of_target(random, method, calibration, tested):
    """The p-value of sets for a target with its true class weights, on labelled rows of it."""
    label, x = gaussian_mixture(random, calibration, SOURCE)
    weights = TARGET / SOURCE
    score = SCORES[method].of_labels(posterior(x, SOURCE), label, random.random(calibration))
    rule = THRESHOLDS[ConformalMode.LABEL_SHIFT]
    guarantee = CoverageGuarantee(alphas=[ALPHA] * 3, weights=weights.tolist())
    threshold = np.array([rule(LabelScores(score=score, label=label, weight=None), guarantee)])
    new, x = gaussian_mixture(random, tested, TARGET)
    inside = SCORES[method].sets(posterior(x, SOURCE), threshold, random.random(tested))
    missed = ~inside[np.arange(tested), new]
    counts = (np.bincount(each, minlength=3) for each in (new[missed], new))
    rows = effective_rows(np.bincount(label, minlength=3).tolist(), weights.tolist(), *counts, ALPHA)
    return coverage_p_value(tested - int(missed.sum()), tested, rows, ALPHA)


@pytest.mark.parametrize("method", ConformalMethod)
@pytest.mark.parametrize(("calibration", "tested"), [(60, 100), (1000, 1000), (1000, 5000)])
def test_sets_for_a_target_that_keep_their_promise_are_seldom_called_broken(method, calibration, tested):
    found = [
        of_target(np.random.default_rng(seed), method, calibration, tested) for seed in range(REPETITIONS)
    ]
    assert np.mean(np.array(found) <= LEVEL) <= ALLOWED


@pytest.mark.parametrize(("fitted", "tested"), [(100, 100), (300, 3000), (3000, 30_000)])
@pytest.mark.parametrize("rare", [1, 20])
def test_errors_of_a_histogram_that_hold_are_seldom_called_broken(fitted, tested, rare):
    """The truth lies at the edge of the error of every bin, as far as a probability can."""
    broken = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score = random.random(fitted)
        label = random.random(fitted) < score / rare
        order = np.argsort(score)
        counts = ValueCounts(
            value=score[order], count=np.ones(fitted, dtype=int), positives=label[order].astype(int)
        )
        made = fit_histogram(counts, np.arange(1, 10) / 10, 0.95)
        edge = [
            np.clip(rate + random.choice([-1, 1]) * (error or 0), 0, 1)
            for rate, error in zip(made.rate, made.error, strict=True)
        ]
        count = np.bincount(random.integers(0, 10, tested), minlength=10)
        p_values = error_p_values(random.binomial(count, edge), count, made.rate, made.error)
        broken += bool(p_values) and min(p_values.values()) <= LEVEL
    assert broken / REPETITIONS <= ALLOWED

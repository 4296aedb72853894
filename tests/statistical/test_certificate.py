"""Simulations of certified boundaries: they miss their bound with at most the stated risk."""

import contextlib
import os

import numpy as np
import pytest

import uqcli

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "60"))
DELTA = 0.2


def rising(score, uncertainty):
    """Return rates that rise with the score, less steeply at high uncertainty."""
    return np.clip(score**2 * (1 - 0.4 * (uncertainty > 0.5)), 0, 1)


def plateau(score, uncertainty):
    """Return rates just below the bound of 0.7 for most alerts, which rules fitted to noise often flag."""
    del uncertainty
    return np.where(score > 0.9, 0.8, np.where(score > 0.4, 0.68, 0.05))


def true_precision(model, rate):
    """Integrate the precision of a boundary over the unit square."""
    points = (np.arange(400) + 0.5) / 400
    score, uncertainty = (axis.ravel() for axis in np.meshgrid(points, points))
    flagged = model.decide(score, uncertainty)
    truth = rate(score, uncertainty)
    return float(truth[flagged].mean()) if flagged.any() else 1.0


@pytest.mark.parametrize("rate", [rising, plateau])
@pytest.mark.parametrize("size", [400, 2500])
def test_violations_are_as_rare_as_certified(rate, size):
    certified_misses, uncertified_misses, feasible = 0, 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score, uncertainty = random.random(size), random.random(size)
        label = random.random(size) < rate(score, uncertainty)
        options = {"uncertainty": uncertainty, "precision": "0.7", "score_bins": 100}
        try:
            model = uqcli.find_boundary(score, label, **options, algorithm="smooth", certify=DELTA, seed=seed)
            certified_misses += true_precision(model, rate) < 0.7
            feasible += 1
        except uqcli.InfeasibleError:
            pass
        with contextlib.suppress(uqcli.InfeasibleError):
            optimum = uqcli.find_boundary(score, label, **options, algorithm="vw-dpmt")
            uncertified_misses += true_precision(optimum, rate) < 0.7
    allowed = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / REPETITIONS)
    assert certified_misses / REPETITIONS <= allowed, certified_misses / REPETITIONS
    assert uncertified_misses / REPETITIONS > (allowed if rate is rising else DELTA), (
        uncertified_misses / REPETITIONS
    )
    if size > 1000 and rate is rising:
        assert feasible >= REPETITIONS / 2


def test_order_and_repetition_of_rows_do_not_change_a_certificate(tmp_path):
    random = np.random.default_rng(1)
    score, uncertainty = random.random(3000).round(2), random.random(3000).round(1)
    label = random.random(3000) < rising(score, uncertainty)
    weight = random.integers(0, 3, 3000)
    options = {"precision": "0.6", "algorithm": "smooth", "certify": "0.1", "seed": 3, "score_bins": 50}
    certified = uqcli.find_boundary(score, label, uncertainty=uncertainty, weight=weight, **options)
    order = random.permutation(np.repeat(np.arange(3000), weight))
    repeated = uqcli.find_boundary(score[order], label[order], uncertainty=uncertainty[order], **options)
    assert certified.artifact.certificate == repeated.artifact.certificate
    assert certified.thresholds == repeated.thresholds
    other_seed = uqcli.find_boundary(
        score, label, uncertainty=uncertainty, weight=weight, **{**options, "seed": 4}
    )
    assert other_seed.artifact.certificate != certified.artifact.certificate

"""Certified boundaries break their promise as seldom as they say, where the truth is known."""

import contextlib
import os

import numpy as np
import pytest

import uqcli

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "60"))
DELTA = 0.2


def rising(score, uncertainty):
    """Rates that rise with the score, the less the higher the uncertainty."""
    return np.clip(score**2 * (1 - 0.4 * (uncertainty > 0.5)), 0, 1)


def plateau(score, uncertainty):
    """Just below the bound of 0.7 for most alerts: a little luck takes them in."""
    del uncertainty
    return np.where(score > 0.9, 0.8, np.where(score > 0.4, 0.68, 0.05))


def true_precision(model, rate):
    """Of a boundary, by quadrature over the unit square."""
    points = (np.arange(400) + 0.5) / 400
    score, uncertainty = (each.ravel() for each in np.meshgrid(points, points))
    chosen = model.decide(score, uncertainty)
    truth = rate(score, uncertainty)
    return float(truth[chosen].mean()) if chosen.any() else 1.0


@pytest.mark.parametrize("rate", [rising, plateau])
@pytest.mark.parametrize("size", [400, 2500])
def test_violations_are_as_rare_as_promised(rate, size):
    certified, plain, found = 0, 0, 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng(seed)
        score, uncertainty = random.random(size), random.random(size)
        label = random.random(size) < rate(score, uncertainty)
        given = {"uncertainty": uncertainty, "precision": "0.7", "score_bins": 100}
        try:
            model = uqcli.find_boundary(score, label, **given, algorithm="smooth", certify=DELTA, seed=seed)
            certified += true_precision(model, rate) < 0.7
            found += 1
        except uqcli.InfeasibleError:
            pass
        with contextlib.suppress(uqcli.InfeasibleError):
            optimum = uqcli.find_boundary(score, label, **given, algorithm="vw-dpmt")
            plain += true_precision(optimum, rate) < 0.7
    allowed = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / REPETITIONS)
    assert certified / REPETITIONS <= allowed, certified / REPETITIONS
    assert plain / REPETITIONS > (allowed if rate is rising else DELTA), plain / REPETITIONS
    if size > 1000 and rate is rising:
        assert found >= REPETITIONS / 2


def test_neither_the_order_of_rows_nor_their_writing_out_changes_a_certificate(tmp_path):
    random = np.random.default_rng(1)
    score, uncertainty = random.random(3000).round(2), random.random(3000).round(1)
    label = random.random(3000) < rising(score, uncertainty)
    weight = random.integers(0, 3, 3000)
    given = {"precision": "0.6", "algorithm": "smooth", "certify": "0.1", "seed": 3, "score_bins": 50}
    one = uqcli.find_boundary(score, label, uncertainty=uncertainty, weight=weight, **given)
    order = random.permutation(np.repeat(np.arange(3000), weight))
    other = uqcli.find_boundary(score[order], label[order], uncertainty=uncertainty[order], **given)
    assert one.artifact.certificate == other.artifact.certificate
    assert one.thresholds == other.thresholds
    again = uqcli.find_boundary(score, label, uncertainty=uncertainty, weight=weight, **{**given, "seed": 4})
    assert again.artifact.certificate != one.artifact.certificate

"""Simulations of the default rule: it meets its bound on average, and expected metrics are near the truth."""

import contextlib
import os

import numpy as np
import pytest

import uqcli
from tests.statistical.populations import POPULATIONS, measure_boundary
from uqcli.artifacts.boundary import EXPECTED_RANGE
from uqcli.jobs.intervals import proportion_estimate

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "8"))
SIZES = (500, 2000)


def measurements_of(name, rule):
    """Measure boundaries of calibration sets of each size, without the infeasible ones."""
    measured = [
        measure_boundary(POPULATIONS[name], size, seed, **rule)
        for size in SIZES
        for seed in range(REPETITIONS)
    ]
    return [measurement for measurement in measured if measurement]


@pytest.mark.parametrize("algorithm", [None, "vw-dpmt"])
@pytest.mark.parametrize("name", POPULATIONS)
def test_expected_metrics_hold_on_new_data(name, algorithm):
    measurements = [
        measurement
        for measurement in measurements_of(name, {"algorithm": algorithm})
        if "precision_bias" in measurement
    ]
    with_range = [measurement for measurement in measurements if measurement["alerts"] >= 30]
    for rate in ("precision", "recall"):
        covered = [
            measurement[f"{rate}_covered"] for measurement in with_range if f"{rate}_covered" in measurement
        ]
        assert bool(covered) == (rate == "precision" or algorithm is None)
        if covered:
            assert np.mean(covered) >= 0.85 - 3 * np.sqrt(0.85 * 0.15 / len(covered)), np.mean(covered)
        bias = np.array([measurement[f"{rate}_bias"] for measurement in with_range])
        assert abs(bias.mean()) <= 0.02 + 3 * bias.std() / np.sqrt(len(bias)), bias.mean()


@pytest.mark.filterwarnings("ignore:most rows repeat")
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("share", ["1%", "5%", "20%"])
def test_the_expected_share_of_alerts_holds_on_new_data(share, ties):
    def drawn(size, seed):
        random = np.random.default_rng(seed)
        score, uncertainty = random.random(size), random.random(size)
        if ties:
            score, uncertainty = score.round(2), uncertainty.round(1)
        return score, uncertainty, random.random(size) < score**2 * (1 - 0.4 * (uncertainty > 0.5))

    new, covered = drawn(200_000, 99), []
    for size in (200, 500, 2000):
        for seed in range(4 * REPETITIONS):
            score, uncertainty, label = drawn(size, seed)
            with contextlib.suppress(uqcli.InfeasibleError):
                rule = uqcli.find_boundary(score, label, uncertainty=uncertainty, max_selected=share)
                expected = proportion_estimate(rule.artifact.fit.selected, size, EXPECTED_RANGE)
                covered.append(expected.low <= rule.decide(*new[:2]).mean() <= expected.high)
    assert np.mean(covered) >= 0.9 - 3 * np.sqrt(0.09 / len(covered)), np.mean(covered)


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_default_meets_its_bound_and_is_never_much_worse_than_the_score_alone(name):
    measurements = measurements_of(name, {})
    excess = np.array([measurement["excess"] for measurement in measurements])
    assert excess.mean() >= -0.01 - 3 * excess.std() / np.sqrt(len(excess)), excess.mean()
    gaps = np.array([measurement["gap"] for measurement in measurements])
    assert gaps.mean() >= -0.0015 - 3 * gaps.std() / np.sqrt(len(gaps)), gaps.mean()

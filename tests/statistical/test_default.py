"""Simulations of the default rule: it meets its bound on average, and its expected metrics are right."""

import os

import numpy as np
import pytest

from tests.statistical.laws import LAWS, measure_boundary

REPETITIONS = int(os.environ.get("STATISTICAL_REPETITIONS", "8"))
SIZES = (500, 2000)


def lines_of(name, rule):
    """Measure boundaries of calibration sets of each size, without the infeasible ones."""
    measured_lines = [
        measure_boundary(LAWS[name], size, seed, **rule) for size in SIZES for seed in range(REPETITIONS)
    ]
    return [line for line in measured_lines if line]


@pytest.mark.parametrize("algorithm", [None, "vw-dpmt"])
@pytest.mark.parametrize("name", LAWS)
def test_expected_metrics_hold_on_new_data(name, algorithm):
    lines = [line for line in lines_of(name, {"algorithm": algorithm}) if "precision_bias" in line]
    with_range = [line for line in lines if line["alerts"] >= 30]
    for rate in ("precision", "recall"):
        covered = [line[f"{rate}_covered"] for line in with_range if f"{rate}_covered" in line]
        assert bool(covered) == (rate == "precision" or algorithm is None)
        if covered:
            assert np.mean(covered) >= 0.85 - 3 * np.sqrt(0.85 * 0.15 / len(covered)), np.mean(covered)
        bias = np.array([line[f"{rate}_bias"] for line in with_range])
        assert abs(bias.mean()) <= 0.02 + 3 * bias.std() / np.sqrt(len(bias)), bias.mean()


@pytest.mark.parametrize("name", LAWS)
def test_the_default_meets_its_bound_and_is_never_much_worse_than_the_score_alone(name):
    lines = lines_of(name, {})
    excess = np.array([line["excess"] for line in lines])
    assert excess.mean() >= -0.01 - 3 * excess.std() / np.sqrt(len(excess)), excess.mean()
    gaps = np.array([line["gap"] for line in lines])
    assert gaps.mean() >= -0.0015 - 3 * gaps.std() / np.sqrt(len(gaps)), gaps.mean()

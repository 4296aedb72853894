"""Simulations of the error bounds of histogram calibration: they hold at their level."""

import itertools

import numpy as np
import pytest

from uqcli.calibrate.maps.histogram import bound, target_bound
from uqcli.calibrate.scale import Scale


def test_the_distribution_free_bound_holds_at_its_level():
    """Theorem 3: at confidence 0.9, the bound holds for all bins at once in at least 90 % of draws."""
    truth, sizes, violations = np.linspace(0.05, 0.95, 5), np.array([40, 80, 200, 400, 1000]), 0
    random = np.random.default_rng(7)
    for _ in range(2000):
        gap = 2 * np.abs(random.binomial(sizes, truth) / sizes - truth)  # the 1-norm of two classes
        violations += (gap > [bound(int(size), 5, 0.9) for size in sizes]).any()
    assert violations / 2000 <= 0.1


def test_the_bound_for_the_target_holds_at_its_level():
    """Theorem 4: the bound holds for all bins at once, with frequencies corrected by estimated weights."""
    random, violations = np.random.default_rng(9), 0
    truth, sizes, weights = np.array([0.1, 0.4, 0.8]), np.array([300, 500, 900]), np.array([0.5, 2.0])
    for _ in range(1000):
        rate = random.binomial(sizes, truth) / sizes
        estimated = weights + random.uniform(-0.05, 0.05, 2)
        corrected = Scale.in_target(rate, tuple(estimated))
        exact = Scale.in_target(truth, tuple(weights))
        norm = max(bound(int(size), 3, 0.9) for size in sizes)
        violations += (2 * np.abs(corrected - exact) > target_bound(estimated.tolist(), norm, 0.05)).any()
    assert violations / 1000 <= 0.1


@pytest.mark.parametrize("weights", [(0.5, 2.0), (1.0, 1.0), (0.2, 1.0), (3.0, 0.7)])
@pytest.mark.parametrize("norm", [0.01, 0.1, 0.2])
@pytest.mark.parametrize("weight_error", [0.0, 0.01, 0.05])
def test_the_bound_for_the_target_holds_in_the_worst_case_and_is_not_vacuous(weights, norm, weight_error):
    """With the largest allowed errors of rates and weights, the error exceeds a quarter of the bound."""
    truth = np.linspace(0, 1, 101)
    exact = Scale.in_target(truth, weights)
    worst = 0.0
    for error in (-norm / 2, norm / 2):
        rate = np.clip(truth + error, 0, 1)
        for signs in itertools.product((-1, 0, 1), repeat=2):
            estimated = tuple(w + sign * weight_error for w, sign in zip(weights, signs, strict=True))
            worst = max(worst, float(2 * np.abs(Scale.in_target(rate, estimated) - exact).max()))
    allowed = target_bound(weights, norm, weight_error)
    assert allowed / 4 < worst <= allowed

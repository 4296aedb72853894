"""Simulations of the verdict on a chosen calibration method: true probabilities are seldom improved."""

import numpy as np
import pytest
from scipy import stats

from tests.requests import labelled_rows
from tests.statistical.levels import repetitions
from uqcli.base.options import OptionalResampling
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.options import CalibrateRequest
from uqcli.calibrate.run import run

REPETITIONS = repetitions(40)


def true_scores(random, rows):
    score = random.beta(0.7, 1.8, rows)
    return labelled_rows(score, (random.random(rows) < score).astype(int))


def true_classes(random, rows):
    probability = random.dirichlet([0.5] * 4, rows)
    label = (random.random((rows, 1)) > probability.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return labelled_rows(probability, label)


@pytest.mark.parametrize("rows", [200, 1000])
@pytest.mark.parametrize("draw", [true_scores, true_classes])
def test_a_chosen_map_seldom_helps_true_probabilities(draw, rows):
    helped = 0
    for seed in range(REPETITIONS):
        data = draw(np.random.default_rng(seed), rows)
        request = CalibrateRequest(
            data=data, calibration=CalibrationOptions(seed=seed), resampling=OptionalResampling(bootstrap=200)
        )
        helped += "Calibration helped" in run(request).report.payload()["notes"][0]
    assert stats.binomtest(helped, REPETITIONS, 0.05, alternative="greater").pvalue > 1e-3, helped

"""Two Gaussian classes: the paper's experiment, and sample-by-sample tests of its scores."""

import numpy as np
import pytest
from scipy import stats

from uqcli import calibration_error
from uqcli.draws import Purpose, blocks
from uqcli.methods.stream.gaussian import GaussianModel, draw_gaussian, train


def drawn(prevalence, train_prevalence, rows=6000, seed=0):
    model = GaussianModel(prevalence=prevalence, train_prevalence=train_prevalence)
    fitted = train(model, seed)
    ((_, random),) = blocks(rows, seed, Purpose.SIMULATE)
    return draw_gaussian(model, fitted, rows, random), fitted


def test_the_truth_is_true():
    rows, (intercept, slope) = drawn(0.4, 0.4, rows=60_000)
    assert slope == pytest.approx(0.25, abs=0.03)
    assert intercept == pytest.approx(np.log(0.4 / 0.6), abs=0.06)
    groups = np.digitize(rows.true_positivity, np.quantile(rows.true_positivity, [0.25, 0.5, 0.75]))
    for group in range(4):
        chosen = groups == group
        expected, spread = rows.true_positivity[chosen].mean(), 0.5 / np.sqrt(chosen.sum())
        assert abs(rows.label[chosen].mean() - expected) < 4 * spread


@pytest.mark.parametrize(
    ("train_prevalence", "prevalence", "low", "high"),
    [(0.5, 0.5, 0, 40), (0.5, 0.4, 85, 100), (0.5, 0.6, 85, 100), (0.01, 0.01, 0, 40), (0.01, 0.02, 50, 100)],
)
def test_a_wrong_class_mix_is_found_and_a_right_one_accepted(train_prevalence, prevalence, low, high):
    rows, _ = drawn(prevalence, train_prevalence)
    found = calibration_error(rows.score, rows.label)
    rejected = 0
    for first, last, positives, count in zip(
        found.bins.start[:-1], found.bins.start[1:], found.bins.positives, found.bins.count, strict=True
    ):
        scores = np.sort(rows.score)[first:last]  # no ties: one row a score
        p_values = [stats.binomtest(int(positives), int(count), score).pvalue for score in scores]
        rejected += sum(p <= 0.05 for p in p_values)
    assert found.metrics["tce"] == 100 * rejected / 6000
    assert low <= found.metrics["tce"] <= high

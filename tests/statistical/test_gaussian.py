"""Simulations of two Gaussian classes: the paper's experiment, and tests of its scores row by row."""

import numpy as np
import pytest
from scipy import stats

from reproduction.generators.gaussian import GaussianModel
from uqcli import calibration_error


def test_true_rates_equal_those_of_the_labels():
    model = GaussianModel(prevalence=0.4, train_prevalence=0.4)
    intercept, slope = model.train(0)
    rows = model.draw(60_000)
    assert slope == pytest.approx(0.25, abs=0.03)
    assert intercept == pytest.approx(np.log(0.4 / 0.6), abs=0.06)
    groups = np.digitize(rows["true_positivity"], np.quantile(rows["true_positivity"], [0.25, 0.5, 0.75]))
    for group in range(4):
        in_group = groups == group
        expected, standard_error = rows["true_positivity"][in_group].mean(), 0.5 / np.sqrt(in_group.sum())
        assert abs(rows["label"][in_group].mean() - expected) < 4 * standard_error


@pytest.mark.parametrize(
    ("train_prevalence", "prevalence", "low", "high"),
    [(0.5, 0.5, 0, 40), (0.5, 0.4, 85, 100), (0.5, 0.6, 85, 100), (0.01, 0.01, 0, 40), (0.01, 0.02, 50, 100)],
)
def test_wrong_class_priors_are_rejected_and_right_ones_accepted(train_prevalence, prevalence, low, high):
    rows = GaussianModel(prevalence=prevalence, train_prevalence=train_prevalence).draw(6000)
    report = calibration_error(rows["score"], rows["label"])
    rejected = 0
    for first, last, positives, count in zip(
        report.bins.start[:-1], report.bins.start[1:], report.bins.positives, report.bins.count, strict=True
    ):
        scores = np.sort(rows["score"])[first:last]  # no ties: one row per score
        p_values = [stats.binomtest(int(positives), int(count), score).pvalue for score in scores]
        rejected += sum(p <= 0.05 for p in p_values)
    assert report.metrics["tce"] == 100 * rejected / 6000
    assert low <= report.metrics["tce"] <= high

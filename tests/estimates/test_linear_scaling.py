"""Linear scaling of class probabilities: Platt scaling of two classes, and refits to other weights."""

import numpy as np
import pytest

from uqcli.base.counts import pool
from uqcli.base.rows import ClassCounts
from uqcli.calibrate.maps.formulas import fit_platt
from uqcli.calibrate.scale import Scale
from uqcli.estimates.linear_scaling import LinearScaling, scaled


def class_counts(rows, classes, seed=0):
    random = np.random.default_rng(seed)
    label = np.append(np.arange(classes), random.integers(0, classes, rows - classes))
    score = np.exp(random.normal(np.eye(classes)[label] * 1.5, 1.0).round(1))
    return ClassCounts.from_rows(score / score.sum(axis=1, keepdims=True), label, None)


def test_two_classes_are_scaled_as_by_platt():
    counts = class_counts(3000, 2)
    scores = pool(counts.probability[:, 1], counts.label == 1, counts.count)
    platt = fit_platt(scores, Scale()).map
    fitted = LinearScaling(counts=counts, classes=2).fitted
    expected = platt.probability(counts.probability[:, 1], Scale())
    np.testing.assert_allclose(scaled(fitted, counts.probability)[:, 1], expected, atol=0.01)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_mean_probability_of_a_class_is_its_share(classes):
    counts = class_counts(300, classes)
    scaling = LinearScaling(counts=counts, classes=classes)
    random = np.random.default_rng(1)
    weight = random.standard_gamma(counts.count)
    refitted = scaling.refit(weight, random)
    for weights, map_ in ((counts.count, scaling.fitted), (weight, refitted)):
        mean = np.average(scaled(map_, counts.probability), axis=0, weights=weights)
        share = np.bincount(counts.label, weights) / weights.sum()
        np.testing.assert_allclose(mean, share, atol=0.01)


@pytest.mark.parametrize("classes", [2, 3])
def test_maps_of_separated_classes_stay_near_the_scores_and_vary(classes):
    probability = np.repeat(np.eye(classes) * 0.7 + 0.3 / classes, 5, axis=0)
    counts = ClassCounts.from_rows(probability, np.repeat(np.arange(classes), 5), None)
    scaling = LinearScaling(counts=counts, classes=classes)
    fitted = scaling.fitted
    assert np.abs(fitted).max() < 3
    weight, random = np.ones(len(counts.count)), np.random.default_rng(1)
    slopes = [scaling.refit(weight, random)[0, 0] for _ in range(50)]
    assert np.std(slopes) > 0.3


@pytest.mark.parametrize("rows", [3, 60])
def test_cross_fitted_probabilities_come_from_the_other_folds(rows):
    counts = class_counts(rows, 2)
    result = LinearScaling(counts=counts, classes=2).cross_fitted()
    np.testing.assert_allclose(result.sum(axis=1), 1)
    row_fold = np.arange(int(counts.count.sum())) % 5
    distinct = np.repeat(np.arange(len(counts.count)), counts.count)
    expected = np.zeros_like(result)
    for fold in set(row_fold.tolist()):
        outside = np.bincount(distinct[row_fold != fold], minlength=len(counts.count))
        kept = outside > 0
        training = ClassCounts(
            probability=counts.probability[kept], label=counts.label[kept], count=outside[kept]
        )
        calibrated = scaled(LinearScaling(counts=training, classes=2).fitted, counts.probability)
        held_out = np.bincount(distinct[row_fold == fold], minlength=len(counts.count))
        expected += held_out[:, None] * calibrated / counts.count[:, None]
    np.testing.assert_allclose(result, expected, atol=1e-9)

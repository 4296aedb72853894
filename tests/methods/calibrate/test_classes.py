"""Tests of temperature scaling of many classes, against loops over rows and general minimisers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import calibration as oracle
from uqcli.class_counts import ClassCounts
from uqcli.counts import pool
from uqcli.methods.calibrate.classes import fit_class_temperature
from uqcli.methods.calibrate.parametric import fit_temperature
from uqcli.methods.calibrate.scale import Scale


def draw_rows(seed, rows, classes, power=1.0):
    """Draw rows whose labels follow a power of their probabilities."""
    random = np.random.default_rng(seed)
    probability = random.dirichlet(np.ones(classes), rows).round(3)
    probability[:, -1] = 1 - probability[:, :-1].sum(axis=1)
    probability = np.clip(probability, 0, 1)
    share = np.clip(probability, 1e-12, 1) ** power
    share /= share.sum(axis=1, keepdims=True)
    label = (random.random((rows, 1)) > share.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return probability, label.astype(np.int64), random.integers(0, 4, rows)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 200), st.integers(2, 6), st.sampled_from([0.3, 1.0, 3.0]))
def test_the_fit_maximises_the_likelihood(seed, rows, classes, power):
    probability, label, weight = draw_rows(seed, rows, classes, power)
    weight[0] = 1
    fitted, _ = fit_class_temperature(ClassCounts.from_rows(probability, label, weight))
    best = oracle.class_temperature_slope(probability, label, weight)
    losses = [oracle.class_loss(slope, probability, label, weight) for slope in (fitted.slope, best)]
    assert losses[0] <= losses[1] * (1 + 1e-9) + 1e-9


def test_two_classes_have_the_temperature_of_one_score():
    probability, label, weight = draw_rows(7, 300, 2, 2.0)
    score = np.clip(probability[:, 1], 0.001, 0.999)
    both = np.stack([1 - score, score], axis=1)
    fitted, _ = fit_class_temperature(ClassCounts.from_rows(both, label, weight))
    single = fit_temperature(pool(score, label == 1, weight), Scale()).map
    assert fitted.slope == pytest.approx(single.slope, rel=1e-9)
    assert fitted.probabilities(both)[:, 1] == pytest.approx(single.probability(score, Scale()), abs=1e-12)


def test_row_order_and_weights_as_copies_change_no_bit():
    probability, label, weight = draw_rows(3, 200, 4)
    order = np.random.default_rng(0).permutation(len(label))
    copies = np.repeat(np.arange(len(label)), weight)
    forms = [
        (probability, label, weight),
        (probability[order], label[order], weight[order]),
        (probability[copies], label[copies], None),
    ]
    assert len({fit_class_temperature(ClassCounts.from_rows(*form))[0].slope for form in forms}) == 1


def test_the_temperature_of_always_correct_predictions_is_at_its_bound():
    probability = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])
    fitted, notes = fit_class_temperature(ClassCounts.from_rows(probability, np.array([0, 1]), None))
    assert (fitted.slope, notes) == (1e3, ("The temperature is at its bound of 0.001.",))

"""Tests of maps of many classes, against loops over rows and general minimisers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.oracles import calibration as oracle
from tests.properties.class_rows import problems
from uqcli.base.counts import pool
from uqcli.base.rows import ClassCounts
from uqcli.calibrate.fit_options import CalibrationOptions
from uqcli.calibrate.maps import classes as classes_module
from uqcli.calibrate.maps.classes import (
    ClassTemperatureMap,
    fit_class_temperature,
    fit_linear,
    fit_one_vs_rest,
    tuned_penalty,
)
from uqcli.calibrate.maps.formulas import fit_temperature
from uqcli.calibrate.maps.histogram import fit_class_histogram
from uqcli.calibrate.maps.isotonic import fit_isotonic
from uqcli.calibrate.scale import Scale
from uqcli.estimates.linear_scaling import (
    Penalty,
    class_logits,
    derivatives_of_rows,
    fit_coefficients,
    fit_few_coefficients,
    identity,
    unpacked,
)


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


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 200), st.integers(2, 40), st.sampled_from([0.3, 1.0, 3.0]))
def test_the_derivatives_are_those_of_the_loss_of_each_row(seed, rows, classes, power):
    probability, label, weight = draw_rows(seed, rows, classes, power)
    probability[0] = np.eye(classes)[0]  # certain, and wrong where class 0 is rare
    weight[0], label[0] = 1, min(1, seed % 2)
    counts = ClassCounts.from_rows(probability, label, weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes_module, "VALUES_PER_BLOCK", 5 * classes)
        derivative = classes_module.log_loss_derivatives(counts)
    for slope in (1e-3, 0.7, 20.0, 1e3):
        expected = oracle.class_loss_derivatives(slope, probability, label, weight)
        assert derivative(slope) == pytest.approx(expected, rel=1e-9, abs=1e-9 * weight.sum())


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(2, 200), st.integers(2, 6), st.sampled_from([0.003, 0.3, 1.0, 30.0])
)
def test_the_fit_does_not_depend_on_its_start(seed, rows, classes, power):
    probability, label, _ = draw_rows(seed, rows, classes, power)
    counts = ClassCounts.from_rows(probability, label, None)
    fitted, notes = fit_class_temperature(counts)
    for slope in (1e-3, fitted.slope, fitted.slope * 1.01, 3.0, 1e3):
        other, other_notes = fit_class_temperature(counts, ClassTemperatureMap(slope=slope))
        assert other.slope == pytest.approx(fitted.slope, rel=1e-9)
        assert notes == other_notes


@pytest.mark.parametrize("method", ["temperature", "vector", "matrix"])
def test_many_rows_are_fitted_from_a_sample_of_them(method, monkeypatch):
    probability, label, weight = draw_rows(11, 3000, 4, 2.0)
    counts = ClassCounts.from_rows(probability, label, weight)

    def fitted():
        if method == "temperature":
            return [fit_class_temperature(counts)[0].slope]
        penalty = Penalty(other=0.01 if method == "matrix" else None)
        return np.ravel(fit_linear(counts, penalty).coefficients).tolist()

    expected = fitted()
    monkeypatch.setattr(classes_module, "_MANY_ROWS", 100)
    assert fitted() == pytest.approx(expected, rel=1e-9, abs=1e-9)


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


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 80), st.integers(3, 4), st.booleans())
def test_linear_scaling_has_the_smallest_penalised_loss(seed, rows, classes, is_full):
    probability, label, _ = draw_rows(seed, rows, classes, 2.0)
    penalty = Penalty(diagonal=0.1, intercept=0.01, other=0.03 if is_full else None)
    fitted = fit_linear(ClassCounts.from_rows(probability, label, None), penalty)
    identity = np.column_stack([np.eye(classes) if is_full else np.ones((classes, 1)), np.zeros(classes)])
    ridges = np.where(identity == 1, 0.1, 0.03)
    ridges[:, -1] = 0.01
    arguments = (probability, label, ridges, identity)
    best = minimize(oracle.linear_loss, identity.ravel(), args=arguments, method="BFGS")
    assert oracle.linear_loss(np.array(fitted.coefficients), *arguments) <= best.fun + 1e-8


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(2, 60), st.integers(2, 5), st.booleans(), st.sampled_from([0.5, 4.0])
)
def test_few_coefficients_are_those_of_the_least_loss_from_any_start(seed, rows, classes, is_full, power):
    probability, label, _ = draw_rows(seed, rows, classes, power)
    weight = np.random.default_rng(seed).integers(1, 4, rows)
    penalty = Penalty(diagonal=0.01, intercept=0.001, other=0.003 if is_full else None)
    counts = ClassCounts.from_rows(probability, label, weight)
    fitted = fit_few_coefficients(counts, penalty, None)
    searched = fit_coefficients(counts, penalty, tolerance=1e-10)
    np.testing.assert_allclose(fitted, searched, atol=1e-6)
    start = np.random.default_rng(seed).normal(0, 3, fitted.shape)
    np.testing.assert_allclose(fit_few_coefficients(counts, penalty, start), fitted, rtol=1e-8, atol=1e-8)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
def test_derivatives_by_coefficients_are_differences_of_the_loss(seed, classes, is_full):
    probability, label, _ = draw_rows(seed, 20, classes, 2.0)
    unchanged = identity(classes, is_full=is_full)
    point = unchanged + np.random.default_rng(seed).normal(0, 0.3, unchanged.shape)
    logits, share = class_logits(probability).T, np.full(20, 1 / 20)

    def loss(flat):
        return oracle.linear_loss(flat, probability, label, 0.0, unchanged)

    def gradient(flat):
        return derivatives_of_rows(flat.reshape(point.shape), logits, share, label)[1].ravel()

    value, first, packed = derivatives_of_rows(point, logits, share, label)
    steps = np.eye(point.size) * 1e-5
    slopes = [(loss(point.ravel() + step) - loss(point.ravel() - step)) / 2e-5 for step in steps]
    bends = [(gradient(point.ravel() + step) - gradient(point.ravel() - step)) / 2e-5 for step in steps]
    assert value == pytest.approx(loss(point.ravel()))
    np.testing.assert_allclose(first.ravel(), slopes, atol=1e-6)
    np.testing.assert_allclose(unpacked(packed, is_full=is_full), bends, atol=1e-5)


def folds_of(probability, label, parts=5):
    fold = np.arange(len(label)) % parts
    return [
        (
            ClassCounts.from_rows(probability[fold != part], label[fold != part], None),
            ClassCounts.from_rows(probability[fold == part], label[fold == part], None),
        )
        for part in range(parts)
    ]


def test_penalties_are_smaller_where_the_classes_need_their_own_slopes():
    probability, label, _ = draw_rows(5, 3000, 3)
    swapped = np.where(label == 2, 1, label)  # class 2 is never right
    penalties = [
        tuned_penalty(folds_of(probability, labels), is_full=False).intercept for labels in (label, swapped)
    ]
    assert penalties[1] < penalties[0]


def test_more_rows_than_those_of_the_choice_have_a_smaller_penalty_each():
    assert Penalty(rows=100).scaled(400) == 0.25
    assert Penalty().scaled(400) == 1.0


@given(problems())
def test_one_against_the_rest_is_normalised_and_never_certain(problem):
    probability, label, _ = problem
    counts = ClassCounts.from_rows(probability, label, None)
    for with_intervals in (False, True):
        fitted = fit_one_vs_rest(counts, with_intervals=with_intervals)
        mapped = fitted.probabilities(probability)
        assert mapped.sum(axis=1) == pytest.approx(1)
        assert (mapped > 0).all()
        assert not fitted.contradiction()
    single = [
        part.probability(column, Scale()) for part, column in zip(fitted.maps, probability.T, strict=True)
    ]
    np.testing.assert_allclose(mapped, (np.array(single) / np.sum(single, axis=0)).T)


@given(problems(), st.integers(1, 4))
def test_the_histogram_has_the_class_frequencies_of_each_bin(problem, bins):
    probability, label, _ = problem
    counts = ClassCounts.from_rows(probability, label, None)
    options = CalibrationOptions(n_bins=bins)
    fitted = fit_class_histogram(counts, options.histogram_edges, 0.95)
    np.testing.assert_allclose(
        fitted.probabilities(probability), oracle.class_histogram(probability, label.tolist(), bins)
    )
    assert not fitted.contradiction()


def test_isotonic_blocks_at_the_ends_are_not_certain():
    counts = pool(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.array([0, 0, 1, 0, 1]) == 1)
    assert fit_isotonic(counts, certain=False).y == [1 / 4, 1 / 4, 0.5, 0.5, 2 / 3]
    assert fit_isotonic(pool(np.array([0.1]), np.array([False])), certain=False).y == [1 / 3]
    both = pool(np.array([0.1, 0.2]), np.array([False, True]))
    assert fit_isotonic(both, certain=False).y == [1 / 3, 2 / 3]

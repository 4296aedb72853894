"""Tests of paired class probabilities, against loops over rows and against two classes."""

import math

import numpy as np
import pytest

from tests.calibrate.test_classes import draw_rows
from uqcli.base.draws import Purpose, generator
from uqcli.estimates.drawn_pairs import SIDES
from uqcli.estimates.paired import PairedClassCounts, PairedCounts


def paired_rows(seed, rows=80, classes=3):
    before, label, weight = draw_rows(seed, rows, classes)
    before = np.clip(before, 0.01, 1)
    before /= before.sum(axis=1, keepdims=True)
    after = before**2 / (before**2).sum(axis=1, keepdims=True)
    return before, after, label, weight


def test_losses_equal_those_summed_over_rows():
    before, after, label, weight = paired_rows(1)
    losses = PairedClassCounts.from_predictions(before, after, label, weight).losses()
    for side, rows in (("before", before), ("after", after)):
        total, log_losses, squares = 0, 0.0, 0.0
        for row, y, row_weight in zip(rows, label, weight, strict=True):
            total += row_weight
            log_losses -= row_weight * math.log(row[y])
            squares += (
                row_weight
                * sum((p - (class_number == y)) ** 2 for class_number, p in enumerate(row))
                / len(row)
            )
        assert losses[side]["log_loss"] == pytest.approx(log_losses / total)
        assert losses[side]["brier"] == pytest.approx(squares / total)


def test_losses_of_two_classes_equal_those_of_one_score():
    before, after, label, weight = paired_rows(2, classes=2)
    by_class = PairedClassCounts.from_predictions(before, after, label, weight)
    by_score = PairedCounts.from_predictions(before[:, 1], after[:, 1], label == 1, weight)
    metrics, expected = by_class.with_errors(), by_score.with_errors()
    for name in ("log_loss", "brier"):
        for side in SIDES:
            assert metrics[name][side].value == pytest.approx(expected[name][side].value)
            assert metrics[name][side].error == pytest.approx(expected[name][side].error)
    assert by_class.rows_that_differ() == pytest.approx(by_score.rows_that_differ())
    assert by_class.min_class_rows == by_score.min_class_rows


def test_pairs_are_pooled_and_resampled_by_row():
    before, after, label, weight = paired_rows(4)
    twice = [np.concatenate([column, column]) for column in (before, after, label, weight)]
    counts, doubled = (
        PairedClassCounts.from_predictions(before, after, label, weight),
        PairedClassCounts.from_predictions(*twice),
    )
    assert (doubled.count == 2 * counts.count).all()
    resampled = counts.resampled(generator(1, Purpose.BOOTSTRAP, 0))
    assert resampled.times.sum() == counts.count.sum()
    assert resampled.with_errors() != counts.with_errors()


def test_a_true_class_of_probability_zero_has_no_log_loss():
    before, after, label, weight = paired_rows(5)
    after[:, 0], after[:, 1:] = 0.0, 0.5
    metrics = PairedClassCounts.from_predictions(before, after, label, weight).with_errors()
    assert metrics["log_loss"]["after"].value is None
    assert metrics["log_loss"]["before"].value is not None
    assert metrics["brier"]["after"].value is not None

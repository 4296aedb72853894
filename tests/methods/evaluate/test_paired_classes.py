"""Class probabilities before and after, against loops over rows and against the case of two classes."""

import math

import numpy as np
import pytest

from tests.methods.calibrate.test_classes import drawn
from uqcli.draws import Purpose, generator
from uqcli.methods.evaluate.paired import SIDES, PairedCounts
from uqcli.methods.evaluate.paired_classes import PairedClassCounts


def of(seed, rows=80, classes=3):
    before, label, weight = drawn(seed, rows, classes)
    before = np.clip(before, 0.01, 1)
    before /= before.sum(axis=1, keepdims=True)
    after = before**2 / (before**2).sum(axis=1, keepdims=True)
    return before, after, label, weight


def test_losses_are_those_of_each_row():
    before, after, label, weight = of(1)
    found = PairedClassCounts.of(before, after, label, weight).losses()
    for side, rows in (("before", before), ("after", after)):
        total, log_losses, squares = 0, 0.0, 0.0
        for row, y, times in zip(rows, label, weight, strict=True):
            total += times
            log_losses -= times * math.log(row[y])
            squares += times * sum((p - (at == y)) ** 2 for at, p in enumerate(row)) / len(row)
        assert found[side]["log_loss"] == pytest.approx(log_losses / total)
        assert found[side]["brier"] == pytest.approx(squares / total)


def test_two_classes_are_one_score():
    before, after, label, weight = of(2, classes=2)
    many = PairedClassCounts.of(before, after, label, weight)
    one = PairedCounts.of(before[:, 1], after[:, 1], label == 1, weight)
    found, expected = many.with_errors(), one.with_errors()
    for name in ("log_loss", "brier"):
        for side in SIDES:
            assert found[name][side].value == pytest.approx(expected[name][side].value)
            assert found[name][side].error == pytest.approx(expected[name][side].error)
    assert many.rows_apart() == pytest.approx(one.rows_apart())
    assert many.least_of_a_class == one.least_of_a_class


def test_rows_are_pooled_and_resampled_whole():
    before, after, label, weight = of(4)
    twice = [np.concatenate([each, each]) for each in (before, after, label, weight)]
    pairs, doubled = PairedClassCounts.of(before, after, label, weight), PairedClassCounts.of(*twice)
    assert (doubled.count == 2 * pairs.count).all()
    again = pairs.resampled(generator(1, Purpose.BOOTSTRAP, 0))
    assert again.count.sum() == pairs.count.sum()
    assert again.losses() != pairs.losses()


def test_certainty_that_may_be_wrong_has_no_error():
    before, after, label, weight = of(5)
    after[:, 0], after[:, 1:] = 0.0, 0.5
    found = PairedClassCounts.of(before, after, label, weight).with_errors()
    assert found["log_loss"]["after"].value is None
    assert found["log_loss"]["before"].value is not None
    assert found["brier"]["after"].value is not None

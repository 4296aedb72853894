"""One exact number of each rank, threshold and test of prediction sets."""

from fractions import Fraction

import numpy as np
import pytest

from tests.oracles.formulas import calibration as formulas
from tests.oracles.formulas import rates
from uqcli.base.choices import ConformalMethod
from uqcli.conformal.coverage import (
    LabelScores,
    clustered_p_value,
    coverage_chances,
    coverage_p_value,
    label_shift_thresholds,
    rank_of,
)
from uqcli.conformal.rule import format_of

TENTH = Fraction(1, 10)


def close(numbers):
    return pytest.approx(numbers, rel=1e-9)


@pytest.mark.parametrize("rows", [8, 9, 98, 99, 100, 105])
def test_rank_of_the_threshold(rows):
    assert rank_of(rows, TENTH) == formulas.conformal_rank(rows, TENTH)


@pytest.mark.parametrize(
    ("covered", "rows", "calibration_rows"), [(80, 100, 105), (41, 50, 30), (50, 50, 99)]
)
def test_covered_rows_against_the_guarantee(covered, rows, calibration_rows):
    found = coverage_p_value(covered, rows, calibration_rows, TENTH)
    assert found == close(formulas.coverage_p(covered, rows, calibration_rows, TENTH))


def test_covered_clusters_against_the_guarantee():
    covered, rows = [7, 9, 6, 8, 5, 9, 7, 8, 4, 9, 6, 7], [9, 9, 8, 9, 9, 9, 9, 8, 9, 9, 9, 9]
    chances = formulas.coverage_chances(60, TENTH, 1000)
    assert coverage_chances(60, TENTH) == close(chances)
    missed = [n - k for k, n in zip(covered, rows, strict=True)]
    law = rates.clusters(missed, covered)
    expected = sum(law.tail_at(1 - chance) for chance in chances) / len(chances)
    assert clustered_p_value(np.array(covered), np.array(rows), 60, TENTH) == close(expected)


def test_thresholds_for_other_class_frequencies():
    random = np.random.default_rng(2)
    score, label = random.random(30), random.integers(0, 3, 30)
    for weights in ([0.5, 1.5, 2.25], [0.0, 0.7, 9.0]):
        found = label_shift_thresholds(
            LabelScores(score=score, label=label, weight=None), weights, Fraction(1, 5)
        )
        for y, threshold in enumerate(found):
            expected = formulas.shifted_threshold(score.tolist(), label.tolist(), weights, y, Fraction(1, 5))
            assert threshold == (expected if expected is not None else pytest.approx(threshold))


@pytest.mark.parametrize(("threshold", "is_new"), [(0.9985, True), (0.998, True), (0.9979, False)])
def test_sets_that_could_hold_a_class_of_probability_0_have_another_format(threshold, is_new):
    """Probabilities add up to 1 within .001, and thresholds are within as much of such a sum."""
    assert format_of(ConformalMethod.APS, [[0.5, threshold]]) == (2 if is_new else 1)
    assert format_of(ConformalMethod.LAC, [[0.5, threshold]]) == 1

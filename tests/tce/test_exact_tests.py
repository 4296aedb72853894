"""One exact number of each test of probabilities, and of the band of the calibration curve."""

import numpy as np
import pytest

from tests.oracles.formulas import calibration as formulas
from tests.oracles.formulas.rates import holm
from uqcli.base.counts import ValueCounts, pool
from uqcli.estimates.calibration_tests import p_values, t_rejected
from uqcli.tce.band import calibration_band
from uqcli.tce.chance import null_distributions
from uqcli.tce.part_tests import Statistics, adjusted_p_values, calibration_p_values


def close(numbers):
    return pytest.approx(numbers, rel=1e-9)


def scores_and_labels(rows, seed=1):
    random = np.random.default_rng(seed)
    score = random.beta(1, 2, rows).clip(0.01, 0.99).round(2)
    return score, random.random(rows) < 0.9 * score


def test_limit_laws_of_both_statistics_of_a_part():
    score, label = scores_and_labels(600)
    expected = formulas.part_p_values(score.tolist(), label.tolist())
    assert Statistics.of(pool(score, label)).limit_p_values() == close(expected)
    assert min(expected) < 0.2


def test_p_values_of_parts_are_doubled_and_adjusted_together():
    parts, expected = {}, []
    for name, seed in (("a", 1), ("b", 7), ("c", 3)):
        score, label = scores_and_labels(1200, seed)
        parts[name] = pool(score, label)
        expected.append(min(1.0, 2 * min(formulas.part_p_values(score.tolist(), label.tolist()))))
    found = calibration_p_values(parts, dict.fromkeys(parts, (0,)), 0)
    assert not any(part.is_drawn for part in found.values())
    assert [part.p_value for part in found.values()] == close(expected)
    assert [adjusted_p_values(found)[name] for name in parts] == close(holm(expected))


@pytest.mark.parametrize(
    ("k", "n", "q"), [(1, 30, 0.1633), (1, 30, 0.1751), (1, 30, 0.18), (20, 40, 0.6), (3, 40, 0.02)]
)
def test_exact_test_of_a_score(k, n, q):
    assert p_values(np.array([q]), np.array([k]), np.array([n])) == close(formulas.binomial_p(k, n, q))


def test_t_test_of_scores():
    score = np.linspace(0.05, 0.95, 91)
    labels = [1] * 7 + [0] * 13
    rejected = t_rejected(score, np.array([0, 91]), np.array([7]), np.array([20]), 0.05).of_scores()
    expected = [formulas.t_test_p(labels, float(s)) <= 0.05 for s in score]
    assert rejected.tolist() == expected
    assert 0 < sum(expected) < 91


def test_band_of_the_calibration_curve():
    cells = [(0.05, 40, 1), (0.1, 200, 40), (0.3, 30, 8), (0.31, 90, 50), (0.55, 120, 40)]
    cells += [(0.6, 60, 45), (0.7, 10, 8), (0.9, 25, 16)]
    score, count, positives = (np.array(column) for column in zip(*cells, strict=True))
    found = calibration_band(ValueCounts(value=score, count=count, positives=positives), 0.9)
    assert (found.within, found.within_low, found.within_runs) == close(formulas.band(cells, 0.9))
    assert found.within_low > 0


def test_draws_of_calibrated_labels():
    draws = [{"ece": 0.01 * i} for i in range(99)]
    found = null_distributions({"ece": 0.955}, draws)["ece"]
    assert found.p_value == close((1 + 3) / 100)
    assert found.mean == close(0.49)
    assert found.least_p == close(1 / 100)

"""One exact number of each test of a segment, and of the deviation that it would detect."""

import math

import numpy as np
import pytest

from tests.oracles.formulas import calibration as formulas
from uqcli.audit.segments import Segmented, detectable_gaps, two_sided_p


def close(numbers):
    return pytest.approx(numbers, rel=1e-9)


def segment(score, observed):
    ones = np.ones(len(score), dtype=np.int64)
    return Segmented(score=score, weight=ones, segment=ones - 1, observed=np.array([observed]))


@pytest.mark.parametrize("observed", [2, 9, 18])
def test_few_expected_positives(observed):
    score = np.sort(np.random.default_rng(1).random(60) * 0.3)
    assert score.sum() < 10
    for scores, count in ((score, observed), (1 - score, 60 - observed)):
        expected = formulas.poisson_binomial_p(scores.tolist(), count)
        assert two_sided_p(segment(np.sort(scores), count)) == close(expected)


@pytest.mark.parametrize("observed", [30, 37, 55])
def test_many_expected_positives(observed):
    score = np.sort(np.random.default_rng(1).random(100) * 0.6 + 0.1)
    assert two_sided_p(segment(score, observed)) == close(formulas.saddlepoint_p(score.tolist(), observed))


def test_detectable_deviation():
    score = np.linspace(0.1, 0.7, 100)
    error = math.sqrt(float((score * (1 - score)).sum())) / 100
    found = detectable_gaps(np.array([error]), 0.05 / 7)
    assert found == close(formulas.detectable_gap(score.tolist(), 0.05, 7))

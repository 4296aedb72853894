"""Simulations of the audit: false alarms come at their level, and a deviating segment is found."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tests.statistical.levels import repetitions
from uqcli.audit.run import Outcomes, audit_rate, audit_scores
from uqcli.base.counts import Feature

REPETITIONS = repetitions(200)

SCORES = {
    "uniform": lambda random, size: random.random(size),
    "beta(1, 3)": lambda random, size: random.beta(1, 3, size),
    "rare": lambda random, size: random.beta(1, 200, size),
    "extremes": lambda random, size: random.beta(0.2, 0.2, size),
    "two decimals": lambda random, size: np.round(random.beta(2, 5, size), 2),
}


def columns_of(random, score):
    """Draw columns with and without a relation to the score, a number, and a value of few rows."""
    size = len(score)
    return {
        "device": Feature(levels=("a", "b", "c"), value=random.integers(0, 3, size).astype(float)),
        "city": Feature(
            levels=tuple("abcdefghijkl"), value=np.minimum(random.geometric(0.3, size) - 1, 11.0)
        ),
        "high": Feature(levels=("no", "yes"), value=(score > np.median(score)).astype(float)),
        "age": Feature(levels=None, value=random.integers(18, 90, size).astype(float)),
    }


@pytest.mark.parametrize("size", [400, 3000])
@pytest.mark.parametrize("scores", SCORES)
def test_calibrated_scores_show_a_segment_at_the_level(scores, size):
    alarms = missed = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([seed, size])
        score = SCORES[scores](random, size)
        outcomes = Outcomes(
            columns=columns_of(random, score),
            weight=np.ones(size, dtype=np.int64),
            success=random.random(size) < score,
        )
        audit = audit_scores(outcomes, score, 0.05)
        alarms += bool(audit.deviating)
        missed += any(not segment.low <= 0 <= segment.high for segment in audit.segments)
    assert stats.binomtest(alarms, REPETITIONS, 0.05, alternative="greater").pvalue > 1e-3, alarms
    assert stats.binomtest(missed, REPETITIONS, 0.05, alternative="greater").pvalue > 1e-3, missed


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("bound", [Fraction(1, 50), Fraction(7, 10), Fraction(19, 20)])
def test_a_rule_at_its_bound_shows_a_segment_at_the_level(bound, upper):
    alarms = 0
    for seed in range(REPETITIONS):
        random = np.random.default_rng([seed, 7])
        success = random.random(2000) < float(bound)
        columns = columns_of(random, random.random(2000))
        outcomes = Outcomes(columns=columns, weight=np.ones(2000, dtype=np.int64), success=success)
        alarms += bool(audit_rate(outcomes, bound, 0.05, "flagged", upper=upper).deviating)
    assert stats.binomtest(alarms, REPETITIONS, 0.05, alternative="greater").pvalue > 1e-3, alarms


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_segment_of_300_rows_is_found(sign):
    """The rate of two values together is off by 0.2."""
    runs, hits, shown = REPETITIONS // 2, 0, 0
    for seed in range(runs):
        random = np.random.default_rng([seed, 3])
        score = 0.2 + 0.6 * random.beta(2, 2, 5000)
        columns = columns_of(random, score)
        planted = np.arange(5000) < 300
        columns["city"].value[planted] = 11.0
        columns["device"].value[planted] = 2.0
        others = ~planted & (columns["city"].value == 11.0)
        columns["city"].value[others] = 0.0
        rate = np.where(planted, score + sign * 0.2, score)
        outcomes = Outcomes(
            columns=columns, weight=np.ones(5000, dtype=np.int64), success=random.random(5000) < rate
        )
        audit = audit_scores(outcomes, score, 0.05)
        (segment,) = [segment for segment in audit.segments if segment.values == {"city": "l"}]
        hits += segment.p_holm <= 0.05
        shown += segment.detectable < 0.2
    assert hits >= 0.95 * runs, hits / runs
    assert shown == runs

"""Tests of the p-values of segments, against the exact distribution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import audit as oracle
from uqcli.audit import segments
from uqcli.audit.segments import Segmented, two_sided_p

SCORES = st.sampled_from([0.0, 1e-9, 0.01, 0.2, 0.5, 0.9, 0.999, 1.0]) | st.floats(0, 1)


def p_of(scores, positives, weight=None):
    rows = Segmented(
        score=np.array(scores),
        weight=np.ones(len(scores), dtype=np.int64) if weight is None else np.array(weight),
        segment=np.zeros(len(scores), dtype=np.int64),
        observed=np.array([positives]),
    )
    return float(two_sided_p(rows)[0])


@settings(max_examples=200, deadline=None)
@given(st.lists(SCORES, min_size=1, max_size=60), st.floats(0, 1))
def test_few_expected_positives_have_exact_tails(scores, share):
    positives = round(share * len(scores))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_EXACT_BELOW", 1000)
        assert p_of(sorted(scores), positives) == pytest.approx(oracle.two_sided(scores, positives), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(40, 400), st.floats(-6, 6))
def test_other_tails_are_within_a_few_percent(seed, rows, distance):
    random = np.random.default_rng(seed)
    scores = np.sort(random.beta(*random.uniform(0.3, 4, 2), rows))
    spread = np.sqrt((scores * (1 - scores)).sum())
    positives = round(float(np.clip(scores.sum() + distance * spread, 0, rows)))
    if min(scores.sum(), rows - scores.sum()) < 10:
        return
    exact = oracle.two_sided(scores.tolist(), positives)
    assert p_of(scores, positives) == pytest.approx(exact, rel=0.05)


@pytest.mark.covering("thorough", every=2, also=["40"])
@pytest.mark.parametrize("copies", [1, 3, 40, 5000])
def test_equal_rows_are_added_by_doubling(copies):
    """Many copies of a row take another way than few, to the same distribution."""
    scores, positives = [1e-4, 3e-4], 2 + copies // 1000
    expected = oracle.two_sided([score for score in scores for _ in range(copies)], positives)
    assert p_of(scores, positives, [copies, copies]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "positives", "expected"),
    [
        ([0.0] * 60, 0, 1.0),
        ([0.0] * 60, 1, 0.0),
        ([1.0] * 60, 60, 1.0),
        ([1.0] * 60, 59, 0.0),
        ([0.0] * 30 + [1.0] * 30, 30, 1.0),
        ([0.5] * 60, 60, 2 * 0.5**60),
    ],
)
def test_certain_scores_must_come_true(scores, positives, expected):
    assert p_of(scores, positives) == pytest.approx(expected, rel=1e-9)


def test_the_detectable_gap_is_that_of_the_normal_test():
    (gap,) = segments.detectable_gaps(np.sqrt(np.array([0.16 / 300])), 0.05 / 100)
    assert gap == pytest.approx((3.4808 + 0.8416) * np.sqrt(0.16 / 300), rel=1e-4)

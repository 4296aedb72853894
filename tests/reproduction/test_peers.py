"""Tests of other tools' thresholds, on rows with a known answer."""

import numpy as np
import pytest

from reproduction.peers import controlled_threshold, tuned_threshold


@pytest.fixture
def rows():
    """Make rows of three scores with positive rates of 0.1, 0.5 and 0.95."""
    score = np.repeat([0.2, 0.6, 1.0], 1000)
    label = np.concatenate([np.arange(1000) < 1000 * rate for rate in (0.1, 0.5, 0.95)])
    order = np.random.default_rng(0).permutation(3000)
    return score[order], label[order]


@pytest.mark.thorough
def test_both_choose_the_only_score_above_the_bound(rows):
    score, label = rows
    assert 0.6 < tuned_threshold(score, label, 0.8) <= 1
    assert 0.6 < controlled_threshold(score, label, 0.8, 0.1) <= 1


@pytest.mark.thorough
def test_without_a_feasible_threshold_there_is_none(rows):
    score, label = rows
    assert tuned_threshold(score, label, 0.99) is None
    with pytest.warns(UserWarning, match="control"):
        assert controlled_threshold(score, label, 0.99, 0.1) is None


@pytest.mark.thorough
def test_a_sequence_from_the_top_needs_fewer_rows_than_tests_of_all_thresholds():
    """47 of 50 rows above 0.5 reject a precision of 0.8 with p = 0.006, above a hundredth of the risk."""
    score = np.repeat([0.2, 0.99], 50)
    label = np.concatenate([np.zeros(50, dtype=np.bool_), np.arange(50) < 47])
    with pytest.warns(UserWarning, match="control"):
        assert controlled_threshold(score, label, 0.8, 0.1) is None
    assert 0.2 < controlled_threshold(score, label, 0.8, 0.1, from_the_top=True) <= 0.99

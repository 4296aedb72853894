"""Tests of paired probabilities: how many rows distinguish them."""

import numpy as np
import pytest

from uqcli.estimates.paired import PairedCounts


def test_rows_that_differ_are_those_that_distinguish_two_probabilities():
    before, positive = np.full(60, 0.5), np.arange(60) < 25
    after = before.copy()
    after[[0, 1, 2, 30, 31]] += 0.25
    assert PairedCounts.from_predictions(before, after, positive, None).rows_that_differ() == pytest.approx(2)
    after[3:25] += 1e-9  # negligible
    assert PairedCounts.from_predictions(before, after, positive, None).rows_that_differ() == pytest.approx(2)
    after[32:] -= 0.25
    assert PairedCounts.from_predictions(before, after, positive, None).rows_that_differ() == pytest.approx(3)
    hidden = before + np.where(np.arange(60) < 20, 0.25, 1e-9)  # the negatives do not change
    assert PairedCounts.from_predictions(before, hidden, positive, None).rows_that_differ() < 1e-3
    tiny = PairedCounts.from_predictions(before * 0, np.where(positive, 1e-300, 0), positive, None)
    assert tiny.rows_that_differ() == 0
    twice = PairedCounts.from_predictions(before, after, positive, np.full(60, 2)).rows_that_differ()
    assert twice == pytest.approx(6)
    assert PairedCounts.from_predictions(before, before, positive, None).rows_that_differ() == 0

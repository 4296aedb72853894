"""Tests of paired probabilities: how many rows distinguish them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import delong
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


@given(st.integers(0, 2**32 - 1), st.integers(10, 25), st.integers(10, 25), st.integers(2, 30))
def test_equal_auc_is_tested_as_over_all_pairs_of_rows(seed, positives, negatives, values):
    random = np.random.default_rng(seed)
    positive = np.arange(positives + negatives) < positives
    first, second = random.integers(0, values, (2, len(positive))) + positive * random.integers(0, 3)
    weight = random.integers(1, 3, len(positive))
    tested = PairedCounts.from_predictions(first * 1.0, second * 1.0, positive, weight).delong_p_value()
    rows = [row for *row, w in zip(first, second, positive, weight, strict=True) for _ in range(w)]
    assert tested == pytest.approx(delong.p_value(rows), rel=1e-6, abs=1e-12)
    exchanged = PairedCounts.from_predictions(second * 1.0, first * 1.0, positive, weight)
    assert exchanged.delong_p_value() == pytest.approx(tested)


def test_the_p_value_of_equal_auc_is_that_of_its_definition():
    """The difference is .175, its variance 161/14400 of positives and 265/14400 of negatives."""
    first, positive = np.arange(20.0), np.arange(20) % 2 == 0
    second = first * 7 % 19
    paired = PairedCounts.from_predictions(first, second, positive, None)
    assert paired.delong_p_value() == pytest.approx(0.3232106568299681, abs=1e-12)
    nine = (np.arange(20) > 0).astype(np.int64)
    assert PairedCounts.from_predictions(first, second, positive, nine).delong_p_value() is None

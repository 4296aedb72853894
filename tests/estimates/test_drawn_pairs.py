"""Tests of bootstrap samples of paired probabilities: they have the metrics of their rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.estimates.test_paired_classes import paired_rows
from uqcli.estimates.drawn_pairs import SIDES
from uqcli.estimates.paired import PairedClassCounts, PairedCounts
from uqcli.estimates.score_metrics import average_precision


@given(
    seed=st.integers(0, 2**32 - 1),
    values=st.sampled_from([2, 20, 10**9]),
    heaviest=st.sampled_from([1, 3, 50]),
    reaches_ends=st.booleans(),
)
def test_a_sample_of_pairs_has_the_metrics_of_its_rows(seed, values, heaviest, reaches_ends):
    random = np.random.default_rng(seed)
    before, after = (random.integers(0 if reaches_ends else 1, values, (2, 40)) / values).clip(0, 1)
    positive, weight = random.random(40) < 0.4, random.integers(1, heaviest + 1, 40)
    if not 0 < positive.sum() < 40:
        return
    pairs = PairedCounts.from_predictions(before, after, positive, weight)
    drawn = pairs.resampled(np.random.default_rng(seed))
    cells = pairs._cells
    assert drawn.times.sum() == weight.sum()
    labels = np.repeat([False, True], [len(cells.negative[0]), len(cells.positive[0])])
    values_of_rows = [
        value[np.concatenate([negative, of_positive])]
        for value, negative, of_positive in zip(cells.values, cells.negative, cells.positive, strict=True)
    ]
    expected = PairedCounts.from_predictions(*values_of_rows, labels, drawn.times)
    for mine, theirs in zip(drawn.sides, expected.sides, strict=True):
        for column in ("value", "count", "positives"):
            np.testing.assert_array_equal(getattr(mine, column)[mine.count > 0], getattr(theirs, column))
        assert average_precision(mine) == average_precision(theirs)
    metrics, metrics_of_rows = drawn.with_errors(), expected.with_errors()
    assert metrics.keys() == metrics_of_rows.keys()
    for name, sides in metrics.items():
        for side in SIDES:
            # whether a single row may dominate is decided on all rows, not on each sample
            if sides[side].value is None and name == "log_loss":
                continue
            found, wanted = sides[side], metrics_of_rows[name][side]
            assert (found.value, found.error) == pytest.approx((wanted.value, wanted.error), abs=1e-7)


def test_a_sample_of_classes_has_the_metrics_of_its_rows():
    before, after, label, weight = paired_rows(3)
    pairs = PairedClassCounts.from_predictions(before, after, label, weight)
    drawn = pairs.resampled(np.random.default_rng(1))
    expected = PairedClassCounts.from_predictions(pairs.before, pairs.after, pairs.label, drawn.times)
    for name, sides in drawn.with_errors().items():
        for side, found in sides.items():
            wanted = expected.with_errors()[name][side]
            assert (found.value, found.error) == pytest.approx((wanted.value, wanted.error), rel=1e-9)


@pytest.mark.parametrize("rows", [7, 31, 101])
def test_a_sample_whose_scores_separate_the_labels_has_no_log_odds_of_the_auc(rows):
    """All but one pair of rows are in order; that one is not drawn in about a third of the samples."""
    score = np.arange(1, 2 * rows + 1) / (2 * rows + 1)
    positive = np.arange(2 * rows) >= rows
    positive[[0, -1]] = positive[[-1, 0]]
    pairs = PairedCounts.from_predictions(score, score**2, positive, None)
    separated = 0
    for seed in range(99):
        drawn = pairs.resampled(np.random.default_rng(seed))
        count, hits = drawn.sides[0].count, drawn.sides[0].positives
        is_separated = not (count[0] or count[-1]) and 0 < hits.sum() < count.sum()
        separated += is_separated
        if is_separated:
            assert drawn.with_errors()["auc"]["before"].value is None
    assert separated > 5


def test_a_sample_without_a_label_has_no_auc():
    before = np.arange(1, 13) / 20
    pairs = PairedCounts.from_predictions(before, before[::-1], np.arange(12) == 5, None)
    drawn = next(
        sample for seed in range(99) if not (sample := pairs.resampled(np.random.default_rng(seed))).times[-1]
    )
    assert {side: estimate.value for side, estimate in drawn.with_errors()["auc"].items()} == dict.fromkeys(
        SIDES
    )

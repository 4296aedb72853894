"""Tests of intervals of paired differences: exact coverage over every sample, and edge cases."""

import itertools

import numpy as np
import pytest
from scipy import stats

from uqcli.estimates.proportion import Chosen, clopper_pearson, mcnemar, precisions_interval, shares_interval


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("trials", [1, 3, 8, 20])
def test_intervals_cover_every_true_difference_of_shares(trials, confidence):
    samples = [sample for sample in itertools.product(range(trials + 1), repeat=2) if sum(sample) <= trials]
    intervals = np.array([shares_interval(*sample, trials, confidence) for sample in samples])
    counts = [(*sample, trials - sum(sample)) for sample in samples]
    for discordant in (0.005, 0.02, 0.1, 0.3, 0.6, 0.9, 0.99, 1.0):
        for split in (0, 0.02, 0.1, 0.3, 0.5):
            gained, lost = discordant * (1 - split), discordant * split
            probability = stats.multinomial.pmf(counts, trials, [gained, lost, 1 - discordant])
            truth = gained - lost
            covering = (intervals[:, 0] <= truth + 1e-12) & (truth <= intervals[:, 1] + 1e-12)
            assert probability[covering].sum() >= confidence - 1e-9, (discordant, split)


def test_mcnemar_is_the_binomial_test():
    for gained, lost in itertools.product(range(12), repeat=2):
        expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        assert mcnemar(gained, lost) == pytest.approx(expected)
    assert mcnemar(3 * 10**11, 3 * 10**11) == 1
    assert mcnemar(10**9, 10**9 + 10**5) == pytest.approx(
        2 * stats.norm.cdf(-(10**5 - 1) / 44722.5), rel=1e-2
    )


def test_intervals_and_mcnemar_agree_except_near_the_level():
    """Both are exact for equal rules, and rows that neither rule flags hardly matter."""
    for gained, lost in itertools.product(range(40), repeat=2):
        low, high = shares_interval(gained, lost, 10**6, 0.95)
        p_value = mcnemar(gained, lost)
        if not 0.03 < p_value < 0.08:
            assert (low > 0 or high < 0) == (p_value < 0.05), (gained, lost, p_value)


def rows_chosen(positives, negatives):
    return Chosen(positives=positives, negatives=negatives)


def test_precision_intervals_of_equal_and_of_disjoint_selections():
    low, high = precisions_interval(rows_chosen(0, 0), rows_chosen(30, 10), rows_chosen(0, 0), 0.95)
    assert low < 0 < high
    # the rules may differ on new data: 0 of 40 rows differ here, and the exact upper bound is above 0
    _, upper = clopper_pearson(0, 40, 0.95)
    assert high == pytest.approx(np.hypot(0.25 * upper, 0.75 * upper))
    assert precisions_interval(rows_chosen(3, 2), rows_chosen(0, 0), rows_chosen(0, 0), 0.95) == (-1, 1)
    (lost_low, lost_high), (low, high) = clopper_pearson(3, 10, 0.9), clopper_pearson(16, 20, 0.9)
    interval = precisions_interval(rows_chosen(3, 7), rows_chosen(0, 0), rows_chosen(16, 4), 0.9)
    assert interval[0] == pytest.approx(0.5 - np.hypot(0.8 - low, lost_high - 0.3))
    assert interval[1] == pytest.approx(0.5 + np.hypot(high - 0.8, 0.3 - lost_low))


def test_intervals_scale_to_counts_of_any_size():
    for scale in (1, 10**6, 10**12):
        lost, kept = rows_chosen(3 * scale, 5 * scale), rows_chosen(20 * scale, 9 * scale)
        low, high = precisions_interval(lost, kept, rows_chosen(2 * scale, 0), 0.95)
        value = 22 / 31 - 23 / 37
        assert low < value < high
        assert high - low == pytest.approx(0.35 / np.sqrt(scale), rel=0.5)
        low, high = shares_interval(3 * scale, 5 * scale, 40 * scale, 0.95)
        assert low < -0.05 < high

"""Intervals of paired differences: exact coverage by listing every sample, and their corners."""

import itertools

import numpy as np
import pytest
from scipy import stats

from uqcli.methods.evaluate.difference import (
    Chosen,
    PairedSelections,
    mcnemar,
    precisions_interval,
    shares_interval,
)
from uqcli.methods.proportion import clopper_pearson


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("trials", [1, 3, 8, 20])
def test_shares_are_covered_whatever_the_truth(trials, confidence):
    samples = [each for each in itertools.product(range(trials + 1), repeat=2) if sum(each) <= trials]
    ends = np.array([shares_interval(*each, trials, confidence) for each in samples])
    counts = [(*each, trials - sum(each)) for each in samples]
    for apart in (0.005, 0.02, 0.1, 0.3, 0.6, 0.9, 0.99, 1.0):
        for split in (0, 0.02, 0.1, 0.3, 0.5):
            gained, lost = apart * (1 - split), apart * split
            chance = stats.multinomial.pmf(counts, trials, [gained, lost, 1 - apart])
            truth = gained - lost
            held = (ends[:, 0] <= truth + 1e-12) & (truth <= ends[:, 1] + 1e-12)
            assert chance[held].sum() >= confidence - 1e-9, (apart, split)


def test_mcnemar_is_the_binomial_test():
    for gained, lost in itertools.product(range(12), repeat=2):
        expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        assert mcnemar(gained, lost) == pytest.approx(expected)
    assert mcnemar(3 * 10**11, 3 * 10**11) == 1
    assert mcnemar(10**9, 10**9 + 10**5) == pytest.approx(
        2 * stats.norm.cdf(-(10**5 - 1) / 44722.5), rel=1e-2
    )


def test_intervals_and_mcnemar_agree_but_for_the_border():
    """Both are exact in the same sense where nothing differs; rows of neither hardly matter."""
    for gained, lost in itertools.product(range(40), repeat=2):
        low, high = shares_interval(gained, lost, 10**6, 0.95)
        p_value = mcnemar(gained, lost)
        if not 0.03 < p_value < 0.08:
            assert (low > 0 or high < 0) == (p_value < 0.05), (gained, lost, p_value)


def chosen(positives, negatives):
    return Chosen(positives=positives, negatives=negatives)


def test_precisions_of_selections_that_are_one_or_have_nothing_in_common():
    same = PairedSelections(lost=chosen(0, 0), kept=chosen(30, 10), gained=chosen(0, 0))
    low, high = precisions_interval(same, 0.95)
    assert low < 0 < high
    # one row of a selection may be another one in the truth: the exact bound of none among 40
    _, most = clopper_pearson(0, 40, 0.95)
    assert high == pytest.approx(np.hypot(0.25 * most, 0.75 * most))
    nothing = PairedSelections(lost=chosen(3, 2), kept=chosen(0, 0), gained=chosen(0, 0))
    assert precisions_interval(nothing, 0.95) == (-1, 1)
    apart = PairedSelections(lost=chosen(3, 7), kept=chosen(0, 0), gained=chosen(16, 4))
    (lost_low, lost_high), (low, high) = clopper_pearson(3, 10, 0.9), clopper_pearson(16, 20, 0.9)
    found = precisions_interval(apart, 0.9)
    assert found[0] == pytest.approx(0.5 - np.hypot(0.8 - low, lost_high - 0.3))
    assert found[1] == pytest.approx(0.5 + np.hypot(high - 0.8, 0.3 - lost_low))


def test_counts_of_any_size():
    for scale in (1, 10**6, 10**12):
        pair = PairedSelections(
            lost=chosen(3 * scale, 5 * scale), kept=chosen(20 * scale, 9 * scale), gained=chosen(2 * scale, 0)
        )
        low, high = precisions_interval(pair, 0.95)
        value = 22 / 31 - 23 / 37
        assert low < value < high
        assert high - low == pytest.approx(0.35 / np.sqrt(scale), rel=0.5)
        low, high = shares_interval(3 * scale, 5 * scale, 40 * scale, 0.95)
        assert low < -0.05 < high

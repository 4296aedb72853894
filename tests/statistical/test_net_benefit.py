"""Simulations of intervals of net benefits and of their differences: they cover for any odds and overlap."""

from fractions import Fraction

import numpy as np
import pytest

from tests.designs import independent
from tests.statistical.levels import lowest, repetitions
from uqcli.estimates.design import flags

REPETITIONS = repetitions(200)
ODDS = [Fraction(1, 19), Fraction(1, 2), Fraction(7, 3), Fraction(19)]
ROWS = [30, 100, 500, 5000]

# shares of rows: true and false positives that only the first, both, or only the second rule flags
OVERLAPS = {
    "identical": ((0, 0.2, 0), (0, 0.1, 0)),
    "nothing flagged": ((0, 0, 0), (0, 0, 0)),
    "all flagged by one": ((0, 0.1, 0.2), (0, 0.2, 0.5)),
    "nothing in common": ((0.2, 0, 0.2), (0.1, 0, 0.1)),
    "nested": ((0, 0.2, 0.1), (0, 0.05, 0.1)),
    "no true positive": ((0, 0, 0), (0.1, 0.1, 0.05)),
    "no false positive": ((0.02, 0.2, 0.03), (0, 0, 0)),
    "rare positives": ((0.001, 0.003, 0.001), (0.001, 0.002, 0.002)),
    "rare false positives": ((0.05, 0.3, 0.04), (0.001, 0.002, 0.001)),
    "hardly different": ((0.001, 0.2, 0.001), (0.001, 0.1, 0.001)),
    "every row is decided differently": ((0.4, 0, 0), (0, 0, 0.6)),
}


def with_no_difference(odds, share):
    """Return an overlap of equal net benefit: the second rule gains true and false positives at the odds."""
    false_positives = share / (1 + float(odds))
    return (0, 0.1, share - false_positives), (0, 0.05, false_positives)


def drawn_counts(overlap, rows, run):
    """Draw the counts of the six sets: lost, kept and gained, positive and negative."""
    shares = np.array([*overlap[0], *overlap[1]])
    cells = np.append(shares, max(0.0, 1 - shares.sum()))
    drawn = np.random.default_rng([17, rows, run]).multinomial(rows, cells).tolist()
    return [(drawn[index], drawn[3 + index]) for index in range(3)]


def assert_covers(overlap, rows, odds, confidence):
    weights = np.array([1, -float(odds)])
    lost, kept, gained = np.array(overlap).T @ weights
    truth = {"first": lost + kept, "second": kept + gained, "difference": gained - lost}
    covered = dict.fromkeys(truth, 0)
    for run in range(REPETITIONS):
        sets = drawn_counts(overlap, rows, run)
        design = independent(*sets, (0, rows - sum(map(sum, sets))), confidence)
        estimates = {
            "first": design.net_benefit(flags(0), odds),
            "second": design.net_benefit(flags(1), odds),
            "difference": design.net_benefit_difference(flags(0), flags(1), odds),
        }
        for name, estimate in estimates.items():
            covered[name] += estimate.low - 1e-12 <= truth[name] <= estimate.high + 1e-12
    for name, count in covered.items():
        least = lowest(confidence, REPETITIONS, nominal=confidence)
        assert count / REPETITIONS >= least, (name, count / REPETITIONS)


@pytest.mark.parametrize("odds", ODDS, ids=str)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("overlap", OVERLAPS)
def test_intervals_of_net_benefits_cover(overlap, rows, odds):
    assert_covers(OVERLAPS[overlap], rows, odds, 0.95)


@pytest.mark.parametrize("odds", ODDS, ids=str)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_rules_of_equal_net_benefit_are_seldom_told_apart(share, rows, odds):
    assert_covers(with_no_difference(odds, share), rows, odds, 0.95)


@pytest.mark.parametrize("confidence", [0.8, 0.99, 0.999])
@pytest.mark.parametrize("rows", [100, 5000])
@pytest.mark.parametrize("overlap", ["rare positives", "rare false positives", "nested"])
def test_intervals_cover_at_other_levels(overlap, rows, confidence):
    assert_covers(OVERLAPS[overlap], rows, Fraction(19), confidence)

"""Tests of the net benefit: against counting row by row, and exact coverage over every sample."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from tests.designs import independent, one_rule
from tests.oracles.net_benefit import net_benefit as net_benefit_of_rows
from uqcli.estimates.design import flags
from uqcli.estimates.proportion import Chosen, clopper_pearson, net_benefit

ODDS = [Fraction(1, 19), Fraction(3, 10), Fraction(1), Fraction(3), Fraction(19)]
FLAGS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=40)


def chosen(rows):
    positives = sum(positive for *_, positive in rows)
    return Chosen(positives=positives, negatives=len(rows) - positives)


def paired(rows, confidence):
    """Return the design of (flagged by the first, flagged by the second, positive) rows."""
    sets = (
        chosen([row for row in rows if row[:2] == flagged])
        for flagged in ((True, False), (True, True), (False, True), (False, False))
    )
    return independent(*((one.positives, one.negatives) for one in sets), confidence)


def ends(estimate):
    return estimate.low, estimate.high


@given(FLAGS, st.fractions(Fraction(1, 1000), 1000, max_denominator=10**6))
def test_the_net_benefit_is_that_of_the_rows(rows, odds):
    flagged = chosen([row for row in rows if row[0]])
    expected = net_benefit_of_rows([(row[0], row[2]) for row in rows], odds)
    assert net_benefit(flagged, len(rows), odds) == float(expected)


@given(FLAGS, st.sampled_from(ODDS), st.sampled_from([0.5, 0.95, 0.99]))
def test_intervals_contain_the_value_and_mirror(rows, odds, confidence):
    first, second = (net_benefit_of_rows([(row[i], row[2]) for row in rows], odds) for i in (0, 1))
    design = paired(rows, confidence)
    change = design.net_benefit_difference(flags(0), flags(1), odds)
    low, high = ends(change)
    assert change.value == float(second - first)
    assert -max(1, odds) <= low <= second - first + 1e-12
    assert second - first - 1e-12 <= high <= max(1, odds)
    mirrored = ends(design.net_benefit_difference(flags(1), flags(0), odds))
    assert mirrored == pytest.approx((-high, -low), abs=1e-12)
    alone = design.net_benefit(flags(0), odds)
    low, high = ends(alone)
    assert alone.value == float(first)
    assert -odds - 1e-12 <= low <= first + 1e-12
    assert first - 1e-12 <= high <= 1
    from_nothing = ends(design.net_benefit_difference(lambda _: False, flags(0), odds))
    assert from_nothing[0] <= low + 1e-12  # the selected rows may differ on new data
    assert from_nothing[1] >= high - 1e-12


def log_multinomial(counts):
    return gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1)


def coverages(counts, intervals, shares, weights):
    """Return the exact coverage of each multinomial distribution, from the interval of every sample."""
    log_shares = np.log(np.maximum(shares, 1e-300))
    probability = np.exp(counts @ log_shares.T + log_multinomial(counts)[:, np.newaxis])
    truth = shares[:, : len(weights)] @ weights
    slack = 1e-12 * (1 + np.abs(weights).sum())
    covering = (intervals[:, :1] <= truth + slack) & (truth - slack <= intervals[:, 1:])
    return (probability * covering).sum(axis=0)


def shares_of(sets, grid):
    """Return the distributions over so many sets and the other rows, on a grid and at random."""
    inside = np.array([point for point in itertools.product(grid, repeat=sets) if sum(point) <= 1 + 1e-12])
    random = np.random.default_rng(0)
    drawn = [random.dirichlet([0.3] * (sets + 1), 200), random.dirichlet([0.5] * sets, 200)]
    drawn[1] = np.c_[drawn[1], np.zeros(200)]
    return np.r_[np.c_[inside, np.maximum(0, 1 - inside.sum(axis=1))], *drawn]


def samples_of(rows, sets):
    """Return every sample as counts of the sets and of the other rows."""
    inside = [point for point in itertools.product(range(rows + 1), repeat=sets) if sum(point) <= rows]
    return np.array([(*point, rows - sum(point)) for point in inside])


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("rows", [1, 3, 8, 30])
@pytest.mark.parametrize("odds", ODDS)
def test_intervals_cover_every_net_benefit(rows, odds, confidence):
    samples = samples_of(rows, 2)
    intervals = np.array(
        [ends(one_rule(int(p), int(n), rows, confidence).net_benefit(flags(0), odds)) for p, n, _ in samples]
    )
    shares = shares_of(2, [0, 0.002, 0.01, 0.03, 0.1, 0.2, 0.4, 0.5, 0.7, 0.9, 0.99, 1])
    covered = coverages(samples, intervals, shares, np.array([1, -float(odds)]))
    assert covered.min() >= confidence - 1e-9


@pytest.mark.covering("thorough", every=3)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("rows", [1, 2, 4, 8])
@pytest.mark.parametrize("odds", ODDS)
def test_intervals_cover_every_difference(rows, odds, confidence):
    samples = samples_of(rows, 4)
    intervals = np.array(
        [
            ends(
                independent(
                    (int(c), int(d)), (0, 0), (int(a), int(b)), (0, int(rest)), confidence
                ).net_benefit_difference(flags(0), flags(1), odds)
            )
            for a, b, c, d, rest in samples
        ]
    )
    shares = shares_of(4, [0, 0.02, 0.07, 0.2, 0.4, 0.6, 0.9])
    weights = np.array([1, -float(odds), -1, float(odds)])
    assert coverages(samples, intervals, shares, weights).min() >= confidence - 1e-9


def test_a_single_set_has_its_exact_interval():
    """Without false positives that count, the net benefit is the share of true positives."""
    for confidence in (0.5, 0.95):
        expected = pytest.approx(clopper_pearson(7, 30, confidence))
        found = one_rule(7, 5, 30, confidence).net_benefit(flags(0), Fraction(1, 10**12))
        assert ends(found) == expected


def test_intervals_scale_to_counts_of_any_size():
    for scale in (1, 10**6, 10**12):
        found = one_rule(30 * scale, 10 * scale, 1000 * scale, 0.95).net_benefit(flags(0), Fraction(7, 3))
        assert found.low < found.value < found.high
        assert found.high - found.low == pytest.approx(0.037 / np.sqrt(scale), rel=0.1)


def test_a_higher_confidence_never_narrows_an_interval():
    levels = (0.5, 0.8, 0.9, 0.95, 0.951, 0.99, 0.999)
    intervals = [ends(one_rule(3, 2, 50, level).net_benefit(flags(0), Fraction(19))) for level in levels]
    for narrow, wide in itertools.pairwise(intervals):
        assert wide[0] <= narrow[0] < narrow[1] <= wide[1]

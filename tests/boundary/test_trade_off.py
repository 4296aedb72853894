"""Tests that the trade-off contains the best boundary of each number of alerts."""

import itertools

import numpy as np

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells, distinct_cells, pool
from uqcli.boundary.operating_points import trade_off


def rows_of(seed, size=14):
    random = np.random.default_rng(seed)
    return random.random(size).round(1), random.integers(0, 2, size), random.random(size) < 0.5


def cells_of(score, level, positive):
    parts = [pool(score[level == bin_number], positive[level == bin_number]) for bin_number in range(2)]
    return Cells(uncertainty_edges=np.array([0.5]), rows=tuple(distinct_cells(part) for part in parts))


def max_true_positives(score, level, positive, budget):
    """Return the maximum number of true positives over all pairs of thresholds within the budget."""
    candidates = [*np.unique(score).tolist(), 2.0]
    masks = (score >= np.where(level == 0, *pair) for pair in itertools.product(candidates, repeat=2))
    return max(int(positive[mask].sum()) for mask in masks if mask.sum() <= budget)


def test_each_number_of_alerts_has_the_most_true_positives():
    for seed in range(20):
        rows = rows_of(seed)
        if not rows[2].any():
            continue
        score, _, positive = rows
        one_row = Cells(uncertainty_edges=np.empty(0), rows=(distinct_cells(pool(score, positive)),))
        boundaries = trade_off(cells_of(*rows), one_row)
        for budget in range(1, len(score) + 1):
            best = max(
                (
                    boundary.fit.true_positives
                    for boundary in boundaries[Algorithm.VW_DPMT]
                    if boundary.fit.selected <= budget
                ),
                default=0,
            )
            assert best == max_true_positives(*rows, budget)
        for algorithm in (Algorithm.SMOOTH, Algorithm.ST):
            for boundary in boundaries[algorithm]:
                maximum = max_true_positives(*rows, boundary.fit.selected)
                assert boundary.fit.true_positives <= maximum


def test_true_positives_and_alerts_rise_from_boundary_to_boundary():
    rows = rows_of(3, 300)
    for boundaries in trade_off(cells_of(*rows), None).values():
        fits = [(boundary.fit.true_positives, boundary.fit.selected) for boundary in boundaries]
        assert all(p < q and n < m for (p, n), (q, m) in itertools.pairwise(fits))
        assert len(fits) > 5
    assert Algorithm.ST not in trade_off(cells_of(*rows), None)

"""The trade-off holds the best boundary of each number of alerts."""

import itertools

import numpy as np

from uqcli.choices import Algorithm
from uqcli.counts import Cells, distinct_cells, pool
from uqcli.methods.boundary.trade_off import trade_off


def rows_of(seed, size=14):
    random = np.random.default_rng(seed)
    return random.random(size).round(1), random.integers(0, 2, size), random.random(size) < 0.5


def cells_of(score, level, positive):
    parts = [pool(score[level == each], positive[level == each]) for each in range(2)]
    return Cells(uncertainty_edges=np.array([0.5]), rows=tuple(distinct_cells(part) for part in parts))


def most_positives(score, level, positive, budget):
    """By every pair of thresholds."""
    places = [*np.unique(score).tolist(), 2.0]
    chosen = (score >= np.where(level == 0, *pair) for pair in itertools.product(places, repeat=2))
    return max(int(positive[each].sum()) for each in chosen if each.sum() <= budget)


def test_each_number_of_alerts_finds_the_most():
    for seed in range(20):
        rows = rows_of(seed)
        if not rows[2].any():
            continue
        score, _, positive = rows
        alone = Cells(uncertainty_edges=np.empty(0), rows=(distinct_cells(pool(score, positive)),))
        found = trade_off(cells_of(*rows), alone)
        for budget in range(1, len(score) + 1):
            best = max(
                (e.fit.true_positives for e in found[Algorithm.VW_DPMT] if e.fit.selected <= budget),
                default=0,
            )
            assert best == most_positives(*rows, budget)
        for others in (Algorithm.SMOOTH, Algorithm.ST):
            for each in found[others]:
                least = most_positives(*rows, each.fit.selected)
                assert each.fit.true_positives <= least


def test_boundaries_differ_and_grow():
    rows = rows_of(3, 300)
    for found in trade_off(cells_of(*rows), None).values():
        fits = [(each.fit.true_positives, each.fit.selected) for each in found]
        assert all(p < q and n < m for (p, n), (q, m) in itertools.pairwise(fits))
        assert len(fits) > 5
    assert Algorithm.ST not in trade_off(cells_of(*rows), None)

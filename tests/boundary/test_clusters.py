"""Tests of folds, samples and permutations of whole clusters in the cells of a grid."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.value_range import value_range
from uqcli.base.counts import CellRow, Cells
from uqcli.base.defaults import FOLDS
from uqcli.boundary.clusters import ClusteredGrid, RowsByCluster

ROWS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 9), st.integers(0, 9), st.booleans(), st.integers(1, 2)),
    min_size=30,
    max_size=90,
)
LOWER = np.array([-np.inf, 3.0, 6.0])
EDGES = np.array([2.0, 5.0])


def rows_of(rows):
    """Build sorted rows of clusters."""
    key, score, uncertainty, positive, weight = map(np.array, zip(*rows, strict=True))
    return RowsByCluster.from_rows(key, score.astype(float), uncertainty.astype(float), positive, weight)


def cells():
    """Build a grid of three by three cells without rows."""
    none = np.zeros(3, dtype=np.int64)
    return Cells(
        uncertainty_edges=EDGES,
        rows=tuple(CellRow(lower=LOWER, count=none, positives=none) for _ in range(3)),
    )


@given(ROWS, st.integers(0, 9))
def test_counts_are_of_whole_clusters_whatever_the_order(rows, seed):
    clustered = rows_of(rows)
    folds = dict(zip(clustered.key.tolist(), clustered.folds(seed).tolist(), strict=True))
    expected = np.zeros((2, FOLDS, 9), dtype=np.int64)
    for key, score, uncertainty, positive, weight in rows:
        cell = 3 * ((uncertainty >= 2) + (uncertainty >= 5)) + (score >= 3) + (score >= 6)
        expected[:, folds[key], cell] += weight * np.array([1, positive])
    count, positives = clustered.counts(cells(), seed)
    assert (count == expected[0]).all()
    assert (positives == expected[1]).all()
    again = rows_of(rows[::-1]).counts(cells(), seed)
    assert (again[0] == count).all()
    assert (again[1] == positives).all()


@given(ROWS, st.integers(0, 9))
def test_permutations_exchange_the_uncertainties_of_whole_clusters(rows, seed):
    clustered = rows_of(rows)
    source = clustered.exchanged(np.random.default_rng(seed))
    permuted = replace(clustered, uncertainty=clustered.uncertainty[source])
    grid = ClusteredGrid.from_clusters(cells(), clustered, seed)
    counted = grid.permutations(1, np.random.default_rng(seed))
    for table, expected in zip(counted, permuted.counts(cells(), seed), strict=True):
        assert (table[0] == expected).all()

    def vectors(of):
        return [of.uncertainty[of.cluster == index].tolist() for index in range(len(of.key))]

    before, after = vectors(clustered), vectors(permuted)
    for vector in after:
        assert any(
            vector == other if len(vector) == len(other) else set(vector) <= set(other) for other in before
        )
    sizes = {len(vector) for vector in before}
    if len(sizes) == 1:
        assert sorted(before) == sorted(after)


@given(ROWS, st.integers(0, 9))
def test_samples_draw_whole_clusters(rows, seed):
    grid = ClusteredGrid.from_clusters(cells(), rows_of(rows), seed)
    totals = {}
    for key, *_, positive, weight in rows:
        one = totals.setdefault(key, np.zeros(2, dtype=np.int64))
        one += weight * np.array([positive, not positive])
    drawn = [grid.resampled(np.random.default_rng(run)) for run in range(300)]
    positives = np.array([hits.sum() for hits, _ in drawn])
    of_clusters = np.array([total[0] for total in totals.values()])
    spread = len(totals) * of_clusters.var()
    assert abs(positives.mean() - of_clusters.sum()) <= 5 * np.sqrt(spread / 300) + 1e-9
    assert 0.6 * spread <= positives.var() <= 1.6 * spread + 1e-9


@given(ROWS, st.integers(0, 9), st.lists(st.booleans(), min_size=9, max_size=9))
def test_the_value_that_other_cells_add_has_the_range_of_clusters(rows, seed, by_score):
    value = np.arange(len(rows)) ** 2 % 101 - 50
    key, score, uncertainty, positive, weight = map(np.array, zip(*rows, strict=True))
    clustered = RowsByCluster.from_rows(
        key, score.astype(float), uncertainty.astype(float), positive, weight, amounts=value[None]
    )
    assert clustered.amounts is not None
    grid = ClusteredGrid.from_clusters(cells(), clustered, seed, clustered.amounts[0])
    flagged = np.random.default_rng(seed).random((FOLDS, 9)) < 0.7
    folds = dict(zip(clustered.key.tolist(), clustered.folds(seed).tolist(), strict=True))
    added = {}
    for (cluster, at, doubt, _, times), worth in zip(rows, value.tolist(), strict=True):
        cell = 3 * ((doubt >= 2) + (doubt >= 5)) + (at >= 3) + (at >= 6)
        change = int(flagged[folds[cluster], cell]) - by_score[cell]
        if change:
            added[cluster] = added.get(cluster, 0) + times * change * worth
    whole = {}
    for (cluster, *_, times), worth in zip(rows, value.tolist(), strict=True):
        whole[cluster] = whole.get(cluster, 0) + times * worth
    limits = grid.limits_of_value(flagged, np.array(by_score))
    present = {row[0] for row in rows if row[-1]}
    if len(present) < 20 or not any(
        worth > 0 and row[-1] for row, worth in zip(rows, value.tolist(), strict=True)
    ):
        assert limits is None
        return
    largest = max(map(abs, (*added.values(), *whole.values())))
    expected = value_range(list(added.values()), largest, largest, 0.95)
    assert (limits is None) == (expected is None)
    assert limits is None or limits == pytest.approx(expected, rel=1e-7, abs=1e-7)

"""Clusters of dependent rows: folds, samples and permutations of them, and what a rule flags in each.

How a rule's counts vary between the clusters, or days, of its calibration rows predicts how far new rows may
be from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.base.choices import ReviewKind
from uqcli.base.counts import Bools, Cells, Floats, Ints, bin_of, run_starts
from uqcli.base.defaults import FOLDS
from uqcli.base.draws import Purpose, dealt
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.boundary.expected import Expected, moved
from uqcli.boundary.options import Target
from uqcli.boundary.permutation import VALUE_LEVEL, CrossValidatedGrid, FoldAmounts
from uqcli.boundary.rule_words import EXPECTED_RANGE
from uqcli.boundary.search.constraint_kinds import PROMISED, promised_rates
from uqcli.boundary.search.thresholds import FittedBoundary, as_numbers, decide
from uqcli.engines.protocol import CountTable, Places
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.dependence import unit_sums
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.resampling import resample
from uqcli.estimates.survey import FEW_CLUSTERS, proportion_interval
from uqcli.estimates.value import Net
from uqcli.kernels.exchange import exchanged_rows
from uqcli.kernels.units import UnitTable, dense_ranks
from uqcli.rules.saved import SavedDependence, promise_name

_BLOCK_CLUSTERS: Final = 20
"""Minimum clusters in a block of similar mean scores within which clusters exchange uncertainties."""


NO_VALUES: Final = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsByCluster:
    """Single rows, sorted by the key of their cluster, then by score and uncertainty.

    ``key`` has the ascending keys of the clusters, int64 of shape (C,), and ``cluster`` the index of each
    row's cluster, shape (n,). Amounts, int64 of shape (amounts, n), are in ten-thousandths.
    """

    key: Ints
    cluster: Ints
    score: Floats
    uncertainty: Floats
    positive: Bools
    amounts: Ints

    @classmethod
    def from_rows(
        cls,
        key: Ints,
        score: Floats,
        uncertainty: Floats,
        positive: Bools,
        weight: Ints,
        *,
        amounts: Sequence[Ints] = (),
    ) -> RowsByCluster:
        """Sort rows, each as often as its weight; arrays of shape (n,)."""
        order = np.lexsort((positive, uncertainty, score, key))
        order = np.repeat(order, weight[order])
        keys, cluster = dense_ranks(key[order])
        return cls(
            key=keys,
            cluster=cluster,
            score=score[order],
            uncertainty=uncertainty[order],
            positive=positive[order],
            amounts=np.array([amount[order] for amount in amounts]),
        )

    def folds(self, seed: int, purpose: Purpose = Purpose.THIN) -> Ints:
        """Deal the clusters to folds in turn, in the order of a hash; int64, shape (C,)."""
        return dealt(self.key, FOLDS, seed, purpose)

    def counts(self, cells: Cells, seed: int, purpose: Purpose = Purpose.THIN) -> tuple[Ints, Ints]:
        """Count the rows and positive rows of each fold and cell; int64, shape (FOLDS, cells) each."""
        index = self.folds(seed, purpose)[self.cluster] * _length(cells) + self.cell(cells)
        return _counts(index, self.positive, FOLDS * _length(cells), None)

    def cell(self, cells: Cells) -> Ints:
        """Return the cell of each row, by uncertainty bin; the bins have the same score edges."""
        edges = cells.rows[0].lower[1:]
        return self.uncertainty_bin(cells) * (len(edges) + 1) + bin_of(self.score, edges)

    def uncertainty_bin(self, cells: Cells) -> Ints:
        """Return the uncertainty bin of each row."""
        return bin_of(self.uncertainty, cells.uncertainty_edges)

    @cached_property
    def _starts(self) -> Ints:
        return run_starts(self.cluster)

    @cached_property
    def _sizes(self) -> Ints:
        return np.diff(self._starts, append=len(self.cluster))

    @cached_property
    def _blocks(self) -> tuple[Ints, Ints]:
        """Clusters of each block, in the order of their mean scores, ties by key; the rest is the last block.

        int64, shapes (blocks - 1, _BLOCK_CLUSTERS) and (c,).
        """
        means = np.add.reduceat(self.score, self._starts) / self._sizes
        order = np.argsort(means, kind="stable")
        rest = (max(1, len(order) // _BLOCK_CLUSTERS) - 1) * _BLOCK_CLUSTERS
        return order[:rest].reshape(-1, _BLOCK_CLUSTERS), order[rest:]

    def exchanged(self, random: np.random.Generator) -> Ints:
        """Exchange the uncertainties of clusters within blocks, in the order of the scores.

        A cluster takes those of another place by place if their sizes are equal. If not, it draws as many
        from the other with replacement, and keeps their order. Return the row whose uncertainty each row
        takes, int64 of shape (n,).
        """
        donor = np.empty(len(self.key), dtype=np.int64)
        full, rest = self._blocks
        donor[full] = random.permuted(full, axis=1)
        donor[rest] = random.permutation(rest)
        steps = random.standard_exponential(len(self.cluster) + len(self.key))
        return exchanged_rows(steps, self._sizes, self._starts, donor)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedClusters:
    """Clusters of the rows of a table, by counts of these rows; they are in the order of their keys."""

    table: CountTable
    column: str

    @cached_property
    def key(self) -> Ints:
        """Ascending keys of the clusters; int64, shape (C,)."""
        return self.table.clusters(self.column)

    def counts(self, cells: Cells, seed: int, purpose: Purpose = Purpose.THIN) -> tuple[Ints, Ints]:
        """Count the rows and positive rows of each fold and cell (see ``RowsByCluster.counts``)."""
        edges, bins = cells.rows[0].lower[1:], len(cells.rows)
        places = Places(
            uncertainty_edges=cells.uncertainty_edges,
            score_edges=np.tile(edges, (bins, 1)),
            column=np.arange(bins * (len(edges) + 1)).reshape(bins, -1),
        )
        counts = np.zeros((FOLDS, _length(cells), 2), dtype=np.int64)
        counted = self.table.counted(self.column, dealt(self.key, FOLDS, seed, purpose), places)
        counts[: len(counted)] = counted
        return counts.sum(axis=2), counts[:, :, 1]

    def flagged(self, boundary: FittedBoundary) -> Confusion[Ints]:
        """Count the rows of each cluster that a boundary flags (see ``counts_by_cluster``)."""

        def taken(thresholds: Sequence[float | None]) -> Ints:
            edges = [[threshold] for threshold in as_numbers(thresholds)]
            return self.by_place(
                Places(
                    uncertainty_edges=np.asarray(boundary.uncertainty_edges, dtype=np.float64),
                    score_edges=np.array(edges, dtype=np.float64),
                    column=np.tile([0, 1], (len(edges), 1)),
                )
            )

        counts, zones = taken(boundary.thresholds), None
        rows, positives = counts.sum(axis=(1, 2)), counts[:, :, 1].sum(axis=1)
        selected, true_positives = counts[:, 1].sum(axis=1), counts[:, 1, 1].astype(np.int64)
        if boundary.review_thresholds:
            handled = taken(boundary.review_thresholds)[:, 1]
            zones = handled.sum(axis=1) - selected, handled[:, 1].astype(np.int64)
        return Confusion(
            rows=rows, positives=positives, selected=selected, true_positives=true_positives, zones=zones
        )

    def by_cell(self, places: Places) -> Ints:
        """Count the rows of each cluster by column; integers, shape (C, columns)."""
        counts = self.by_place(places)
        cells: Ints = counts[:, :, 0] + counts[:, :, 1]  # which takes half the memory of a sum of 64 bits
        return cells

    def by_place(self, places: Places) -> Ints:
        """Count the rows of each cluster by column and label; integers, shape (C, columns, 2)."""
        return self.table.counted(self.column, np.arange(len(self.key)), places)


def clusters_of(table: CountTable, column: str | None) -> CountedClusters | None:
    """Return the clusters of a table by their column; None if rows are independent."""
    return None if column is None else CountedClusters(table=table, column=column)


@dataclass(frozen=True, kw_only=True)
class ClusteredGrid(CrossValidatedGrid):
    """Cross-validated grid whose folds, samples and permutations are of whole clusters.

    ``values`` has the value of flagging each row, int64 of shape (n,); without amounts it is empty.
    """

    rows: RowsByCluster
    seed: int
    values: Ints

    @classmethod
    def from_clusters(
        cls, cells: Cells, rows: RowsByCluster, seed: int, values: Ints = NO_VALUES
    ) -> ClusteredGrid:
        """Split the clusters of a grid into folds; if the rows have amounts, ``values`` are needed."""
        count, positives = rows.counts(cells, seed)
        grid = cls(cells=cells, count=count, positives=positives, rows=rows, seed=seed, values=values)
        if not len(rows.amounts):
            return grid
        index, length = grid._cell_in_fold, _length(cells)
        amounts = FoldAmounts.from_rows(index, length, rows.positive, rows.amounts, values)
        return replace(grid, amounts=amounts)

    def limits_of_value(self, flagged: Bools, by_score: Bools) -> tuple[float, float] | None:
        """Compute the range over clusters, of which each adds one amount (see CrossValidatedGrid).

        None with fewer than 20 clusters.
        """
        if len(self.rows.key) < FEW_CLUSTERS or not self.values.max(initial=0) > 0:
            return None
        change = (flagged.astype(np.int64) - by_score).ravel()[self._cell_in_fold]
        starts, values = run_starts(self.rows.cluster), self.values.astype(object)
        net = Net.of(np.add.reduceat(change * values, starts), np.add.reduceat(values, starts))
        return net.of_a_difference.limits(VALUE_LEVEL)

    def permutations(self, draws: int, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Exchange the uncertainties of clusters (see CrossValidatedGrid)."""
        uncertainty_bin = self.rows.uncertainty_bin(self.cells)
        rest = self._cell_in_fold - uncertainty_bin * self.length
        tables = [
            _counts(
                rest + (uncertainty_bin * self.length)[self.rows.exchanged(random)],
                self.rows.positive,
                self.count.size,
                None,
            )
            for _ in range(draws)
        ]
        counts, positives = zip(*tables, strict=True)
        return np.stack(counts), np.stack(positives)

    @cached_property
    def _cell_in_fold(self) -> Ints:
        fold = self.rows.folds(self.seed)[self.rows.cluster]
        return fold * _length(self.cells) + self.rows.cell(self.cells)

    def resampled(self, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Draw as many clusters (see CrossValidatedGrid)."""
        times = resample(np.ones(len(self.rows.key), dtype=np.int64), random)
        count, positives = _counts(
            self._cell_in_fold, self.rows.positive, self.count.size, times[self.rows.cluster]
        )
        return positives.ravel(), (count - positives).ravel()


def _length(cells: Cells) -> int:
    return sum(len(row.count) for row in cells.rows)


def _counts(index: Ints, positive: Bools, size: int, times: Ints | None) -> tuple[Ints, Ints]:
    """Count rows and positive rows by fold and cell; exact, far below 2**53."""
    both = np.bincount(2 * index + positive, weights=times, minlength=2 * size).astype(np.int64)
    negatives, positives = both.reshape(FOLDS, -1, 2).transpose(2, 0, 1)
    return negatives + positives, positives


def no_counts(clusters: int) -> Confusion[Ints]:
    """Return counts of 0 in each of some clusters; int64, shape (clusters,)."""
    rows, positives, selected, true_positives = np.zeros((4, clusters), dtype=np.int64)
    return Confusion(rows=rows, positives=positives, selected=selected, true_positives=true_positives)


def add_at(total: Confusion[Ints], place: Ints, counts: Confusion[Ints]) -> None:
    """Add counts of some clusters at their places among all, of which none is repeated."""
    for name in ("rows", "positives", "selected", "true_positives"):
        getattr(total, name)[place] += getattr(counts, name)


def counts_by_cluster(boundary: FittedBoundary, rows: Rows, cluster: Ints) -> Confusion[Ints]:
    """Count the rows and positives of each cluster that a boundary flags, and flags or reviews.

    ``cluster`` is the index of each row's cluster, int64 of shape (n,).
    """
    thresholds = [boundary.thresholds, boundary.review_thresholds or boundary.thresholds]
    flagged, handled = (
        decide(rows.score, rows.uncertainty, boundary.uncertainty_edges, of_bins) for of_bins in thresholds
    )
    table = UnitTable()
    table.add(cluster, 4 * handled + 2 * flagged + rows.labels, rows.weight)
    counts = table.of(np.arange(int(cluster.max(initial=-1)) + 1), 8).reshape(-1, 2, 2, 2)
    selected, kept = counts[:, :, 1].sum(axis=1), counts[:, 1].sum(axis=1)
    return Confusion(
        rows=counts.sum(axis=(1, 2, 3)),
        positives=counts[:, :, :, 1].sum(axis=(1, 2)),
        selected=selected.sum(axis=1),
        true_positives=selected[:, 1],
        zones=(kept.sum(axis=1) - selected.sum(axis=1), kept[:, 1]) if boundary.review_thresholds else None,
    )


def expected_over_clusters(expected: Expected, counts: Confusion[Ints], units: str) -> Expected:
    """Replace the ranges of independent rows by those of clusters.

    They are the intervals of the rates on the calibration rows, around what is expected. What has no range
    for independent rows has none for clusters.
    """
    hits = counts.true_positives

    def over_clusters(estimate: Estimate, trials: Ints) -> Estimate:
        if estimate.value is None or estimate.low is None:
            return estimate
        rate = proportion_interval(hits, trials, EXPECTED_RANGE, units)
        return moved(rate, estimate.value, int(trials.sum()))

    return Expected(
        precision=over_clusters(expected.precision, counts.selected),
        recall=over_clusters(expected.recall, counts.positives),
    )


def saved_dependence(
    target: Target,
    cluster: str,
    counts: Confusion[Ints],
    promising: Mapping[str, Confusion[Ints]] = MappingProxyType({}),
) -> SavedDependence:
    """Sum up how rows of a cluster depend on each other, for each rate that ``watch`` would test.

    Rules that promise no rate are watched by their precision. The counts are those of each cluster; if a
    bound is promised in each of several groups, ``promising`` has those of each group.
    """
    review = target.limit
    rates = [str(rate) for bound in promised_rates(target.constraint) for rate in bound.rates]
    rates = rates or ["precision"]
    where: list[tuple[str | None, Confusion[Ints]]] = [*promising.items()] or [(None, counts)]
    promises = {
        promise_name(rate, group): unit_sums(*own.trials(PROMISED[rate].kept))
        for group, own in where
        for rate in rates
    }
    if review and review.kind is ReviewKind.MISS:
        promises["miss"] = unit_sums(*counts.trials(review.rate.complement))
    return SavedDependence(column=cluster, promises=promises)

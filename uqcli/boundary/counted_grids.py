"""Labelled rows that are counted once in each grid, as exactly as the boundaries that are searched need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial

import numpy as np

from uqcli.base.choices import Algorithm, Binning
from uqcli.base.counts import (
    Bools,
    Cells,
    Floats,
    RangeCounts,
    ValueCounts,
    distinct_cells,
    mask_for_all_rows,
)
from uqcli.base.defaults import SCORE_BINS
from uqcli.base.draws import Purpose
from uqcli.base.records import dataclass
from uqcli.base.single_precision import near_thresholds
from uqcli.bin.grid import GridSpec, UncertaintyAxis, cells_from, grid_parts, joined_bins, uncertainty_axis
from uqcli.boundary.clusters import CountedClusters, RowsByCluster
from uqcli.boundary.expected import BootstrapSamples
from uqcli.boundary.options import BinOptions, Target
from uqcli.boundary.reference import ranges_for_reference
from uqcli.boundary.search.algorithms import ranges_for_threshold
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.cross_validation import BINS, BinsTried, fewest_of, tried_bins
from uqcli.boundary.search.goals import top_runs
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.engines.protocol import CountTable


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedGrid:
    """Counts of scores by uncertainty bin, exact enough for a grid and for a single threshold.

    ``parts`` has those of each bin, then of all rows.
    """

    spec: GridSpec
    axis: UncertaintyAxis
    parts: tuple[RangeCounts, ...]
    _cells_by_shape: dict[tuple[int, int | None], Cells] = field(default_factory=dict)

    def cells(self, bins: int, score_bins: int | None) -> Cells:
        """Return the cells of the grid; a shared grid is merged to ``bins`` uncertainty bins."""
        shape = bins, score_bins
        if shape not in self._cells_by_shape:
            self._cells_by_shape[shape] = self._cells(bins, score_bins)
        return self._cells_by_shape[shape]

    def _cells(self, bins: int, score_bins: int | None) -> Cells:
        edges, scores = self.axis.edges, [part.counts for part in self.parts[:-1]]
        if bins == 1 < len(scores):
            edges, scores = edges[:0], [self.parts[-1].counts]
        else:
            edges, scores = joined_bins(edges, scores, bins)
        return cells_from(edges, scores, replace(self.spec, score_bins=score_bins))

    def has_bins(self, edges: Floats) -> bool:
        """Whether merging adjacent uncertainty bins gives bins with these edges."""
        bins = len(edges) + 1
        if bins not in bins_after_merging(self.spec):
            return False
        bins_per_run = self.spec.uncertainty_bins // bins
        return np.array_equal(self.axis.edges[bins_per_run - 1 :: bins_per_run], edges)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of some rows already, for all bounds that are searched on them."""

    grids: dict[GridSpec, CountedGrid] = field(default_factory=dict)
    tried: dict[tuple[GridSpec, str], tuple[BinsTried, ...]] = field(default_factory=dict)
    lowest_edges: dict[GridSpec, list[list[float]]] = field(default_factory=dict)
    samples: dict[int, BootstrapSamples] = field(default_factory=dict)
    clusters: dict[tuple[str, ...], RowsByCluster] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CountedRows:
    """Rows of a table, counted once in each grid.

    The constraint of the target is the one on these rows. If only smoothed boundaries on shared grids are
    searched under it (``smoothed_only``), counts must be exact near their thresholds only. ``clusters`` are
    those of dependent rows; None if rows are independent. The seed is that of the folds in which the number
    of uncertainty bins is chosen.
    """

    target: Target
    table: CountTable
    options: BinOptions
    seed: int
    smoothed_only: bool = False
    clusters: CountedClusters | None = None
    _known: Known = field(default_factory=Known)

    @property
    def constraint(self) -> Constraint:
        """Constraint on these rows."""
        return self.target.constraint

    @property
    def _bounds(self) -> tuple[Constraint, ...]:
        """Constraints near whose thresholds counts are exact."""
        return (self.constraint, *(bound for bound in self.target.bounds if bound != self.constraint))

    def _tried_on(self, counted_grid: CountedGrid, constraint: Constraint) -> tuple[BinsTried, ...]:
        """Compute the gain of each number of uncertainty bins, on a grid that may still be refined."""
        key = counted_grid.spec, repr(constraint)
        if key not in self._known.tried:
            cells = counted_grid.cells(
                counted_grid.spec.uncertainty_bins, self.options.cells_per_bin or SCORE_BINS
            )
            folds = None
            if self.clusters is not None:  # other folds than those in which the choice is tested
                folds = self.clusters.counts(cells, self.seed, Purpose.SPLIT)
            self._known.tried[key] = tried_bins(cells, constraint, self.seed, folds)
        return self._known.tried[key]

    def _shared(self, bins: int) -> GridSpec:
        """Return the default grid with a number of uncertainty bins."""
        return GridSpec(binning=Binning.SHARED, uncertainty_bins=bins, score_bins=self.options.cells_per_bin)

    def _counted_grids(self) -> list[CountedGrid]:
        """Return the grids that were counted before, or else the default one with one uncertainty bin."""
        return list(self._known.grids.values()) or [self._count(self._shared(1))]

    def _count(self, spec: GridSpec) -> CountedGrid:
        """Count the rows once per grid; scores are also exact enough for a single threshold."""
        if spec not in self._known.grids:
            axis = uncertainty_axis(self.table, spec)
            lean = self.smoothed_only and spec.binning is Binning.SHARED
            thresholds = partial(self._at_thresholds, spec=spec, axis=axis) if lean else None
            parts = grid_parts(self.table, axis.edges, spec, partial(self._query, spec=spec), thresholds)
            self._known.grids[spec] = CountedGrid(spec=spec, axis=axis, parts=parts)
        return self._known.grids[spec]

    def _at_thresholds(
        self, counts: Sequence[RangeCounts], spec: GridSpec, axis: UncertaintyAxis
    ) -> list[Bools]:
        """Return the ranges with the lowest positive row above the thresholds of smoothed boundaries."""
        *parts, total = counts
        if spec not in self._known.lowest_edges:  # called again after these are opened
            self._known.lowest_edges[spec] = self._lowest_flagged(
                CountedGrid(spec=spec, axis=axis, parts=tuple(counts))
            )
        mask = np.zeros(len(total.value), dtype=np.bool_)
        for lowest_by_bin in self._known.lowest_edges[spec]:
            bins_per_run = len(parts) // len(lowest_by_bin)
            for bin_index, lowest in enumerate(lowest_by_bin):
                firsts = [
                    _first_positive(part, lowest)
                    for part in parts[bin_index * bins_per_run : (bin_index + 1) * bins_per_run]
                ]
                first = min(firsts, default=np.inf)
                if np.isfinite(first):
                    mask |= total.around(near_thresholds(np.array([first])))
        return mask_for_all_rows(counts, mask & ~total.exact)

    def _lowest_flagged(self, counted_grid: CountedGrid) -> list[list[float]]:
        """Return the lower edges of the lowest cells taken in each uncertainty bin, infinite if none is.

        For each bound there is one list for a single threshold, and one for each possible number of bins.
        """
        all_cells = counted_grid.cells(counted_grid.spec.uncertainty_bins, counted_grid.spec.score_bins)
        bin_counts = {1, len(all_cells.rows)}
        if self.options.is_auto(Algorithm.SMOOTH):
            bin_counts = {1, 2, *(fewest_of(self._tried_on(counted_grid, bound)) for bound in self._bounds)}
        thresholds = []
        for cells in map(all_cells.joined, sorted(bin_counts)):
            nested = nested_boundaries(cells)
            for bound in self._bounds:
                tops = nested.best_for(bound.goal(cells), cells)
                rows_with_tops = zip(cells.rows, tops or [0] * len(cells.rows), strict=True)
                thresholds.append(
                    [float(row.lower[len(row.lower) - top]) if top else np.inf for row, top in rows_with_tops]
                )
        return thresholds

    def _query(self, counts: Sequence[RangeCounts], spec: GridSpec) -> list[Bools]:
        """Mark the ranges for a single threshold, and for the reference of any rule on the grid."""
        total = counts[-1]
        *parts, mask = ranges_for_reference(counts, bins_after_merging(spec))
        cells = single_row(total.counts)
        runs = top_runs(cells.rows[0])  # the same for all bounds
        for bound in self._bounds:
            mask = mask | ranges_for_threshold(total, runs, bound.goal(cells))
        return [*parts, mask]


def bins_after_merging(spec: GridSpec) -> tuple[int, ...]:
    """Return the numbers of uncertainty bins of rules on a grid: bins of a shared grid may be merged."""
    bins = spec.uncertainty_bins
    merged = [fewer for fewer in BINS if fewer < bins and bins % fewer == 0]
    return (*merged, bins) if spec.binning is Binning.SHARED else (1, bins)


def _first_positive(counts: RangeCounts, lowest: float) -> float:
    """Return the start of the first range with a positive row at or above a score; infinite without one."""
    start = int(np.searchsorted(counts.value, lowest))
    is_positive = counts.positives[start:] > 0
    return float(counts.value[start + int(np.argmax(is_positive))]) if is_positive.any() else np.inf


def single_row(counts: ValueCounts) -> Cells:
    """Return one cell per distinct score, in a single uncertainty bin."""
    return Cells(uncertainty_edges=np.empty(0), rows=(distinct_cells(counts),))

"""The score x uncertainty grid [UB sec. 4-5], and its counts from a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from uqcli.base.choices import Binning
from uqcli.base.counts import (
    Bools,
    CellRow,
    Cells,
    Floats,
    Ints,
    RangeCounts,
    ValueCounts,
    bin_of,
    binned_cells,
    cumulative,
    distinct_cells,
    distinct_numbers,
    indices_by_bin,
    joined_sums,
    mask_for_all_rows,
    merge,
    narrow_bins,
)
from uqcli.base.defaults import (
    LOWEST,
    MAX_CELLS,
    MAX_UNCERTAINTY_BINS,
    SHARED_UNCERTAINTY_BINS,
    UNCERTAINTY_BINS,
)
from uqcli.base.errors import UsageError
from uqcli.base.exact_numbers import check_size
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.single_precision import all_lowered, near_edges, near_thresholds
from uqcli.engines.protocol import CountTable, Partition, RangeQuery
from uqcli.estimates.binning import BINNING_RULES, BinningRule, BinSizes, outer_ranks, ranges_for_shared_edges


@dataclass(frozen=True, kw_only=True)
class GridSpec:
    """The shape of a grid: K uncertainty bins, and L score bins in each; None for a cell per score.

    With one uncertainty bin the uncertainty is ignored. ``n_min`` and ``n_max`` bound the rows per bin of
    pava-bc; 0 for the default.
    """

    binning: Binning
    uncertainty_bins: int
    score_bins: int | None
    n_min: int = 0
    n_max: int = 0

    @property
    def sizes(self) -> BinSizes:
        """Number and sizes of the score bins."""
        return BinSizes(bins=self.score_bins or 1, n_min=self.n_min, n_max=self.n_max)

    def check(self) -> None:
        """Refuse a grid beyond the size limits."""
        cells = check_size("uncertainty bins", self.uncertainty_bins, MAX_UNCERTAINTY_BINS)
        if self.score_bins is not None:
            cells *= check_size("score bins", self.score_bins)
        if cells > MAX_CELLS:
            raise UsageError(
                f"{self.uncertainty_bins} uncertainty bins x {self.score_bins} score bins",
                expected=f"at most {MAX_CELLS} cells",
            )


def usual_uncertainty_bins(binning: Binning) -> int:
    """Return the default number of uncertainty bins."""
    if binning is Binning.SHARED:
        return SHARED_UNCERTAINTY_BINS
    return UNCERTAINTY_BINS if binning.cuts_uncertainty else 1


def uncertainty_rule(binning: Binning) -> BinningRule:
    """Return the binning rule that applies to the uncertainty."""
    return BINNING_RULES[Binning.EQUI_WEIGHT if binning is Binning.SHARED else binning]


def cells_from(uncertainty_edges: Floats, parts: Sequence[ValueCounts], spec: GridSpec) -> Cells:
    """Build cells from the scores of each uncertainty bin, or ranges of which ``ranges_for_grid`` marks none.

    They have the single bin rule (#{edges <= value}), so that applying the edges to the same rows reproduces
    the counts. An empty uncertainty bin gets the score edges of all rows pooled.
    """
    if spec.score_bins is None:
        return Cells(uncertainty_edges=uncertainty_edges, rows=tuple(distinct_cells(part) for part in parts))
    rule = BINNING_RULES[spec.binning]
    needs_pooled = rule.global_score_range or any(part.rows == 0 for part in parts)
    pooled_edges = rule.edges(merge(parts), spec.sizes) if needs_pooled else np.empty(0)
    cells = []
    for part in parts:
        use_pooled = rule.global_score_range or part.rows == 0
        edges = pooled_edges if use_pooled else rule.edges(part, spec.sizes)
        cells.append(binned_cells(part, edges))
    return Cells(uncertainty_edges=uncertainty_edges, rows=tuple(cells))


def cells_of_each(parts: Sequence[ValueCounts], spec: GridSpec) -> list[Cells]:
    """Build the cells of each of several parts, with a single uncertainty bin, as ``cells_from`` does."""
    is_shared = spec.binning is Binning.SHARED and spec.score_bins is not None
    together = [part for part in parts if is_shared and part.positives.any()]
    rows = iter(_shared_rows(together, spec.sizes.bins // 2) if together else ())
    none = np.empty(0)
    return [
        Cells(uncertainty_edges=none, rows=(next(rows),))
        if is_shared and part.positives.any()
        else cells_from(none, [part], spec)
        for part in parts
    ]


def _shared_rows(parts: Sequence[ValueCounts], ranks: int) -> Iterator[CellRow]:
    """Count each part in the cells between its own ``shared_edges``: every edge is one of the values."""
    value = np.concatenate([part.value for part in parts])
    ends = np.cumsum([0, *(len(part.value) for part in parts)])
    rows, hits = (
        cumulative(np.concatenate([getattr(part, name) for part in parts])) for name in ("count", "positives")
    )
    step = np.arange(1, ranks)
    at_ranks = [
        np.searchsorted(
            before[1:], before[ends[:-1], None] + step * np.diff(before[ends])[:, None] // ranks, side="right"
        )
        for before in (rows, hits)
    ]
    edges = np.sort(np.concatenate(at_ranks, axis=1), axis=1)
    starts = np.concatenate([ends[:-1, None], edges, ends[1:, None]], axis=1)
    moved = all_lowered(value, ends[:-1])
    lower = np.concatenate([np.full((len(parts), 1), LOWEST), moved[edges]], axis=1)
    count, positives = (np.diff(before[starts]) for before in (rows, hits))
    has_positives = positives > 0
    with_positives = np.flatnonzero(np.diff(hits))
    lowest = with_positives[
        np.minimum(np.searchsorted(with_positives, starts[:, :-1]), len(with_positives) - 1)
    ]
    lowest_positive = np.where(has_positives, np.maximum(moved[lowest], lower), 0.0)
    below = np.where(has_positives, rows[lowest] - rows[starts[:, :-1]], 0)
    amounts = tuple(map(cumulative, joined_sums(part.sums for part in parts)))
    for index, part in enumerate(parts):
        yield CellRow(
            lower=lower[index],
            count=count[index],
            positives=positives[index],
            lowest_positive=lowest_positive[index],
            below_positive=below[index],
            scores=part.value,
            sums=tuple(np.diff(amount[..., starts[index]], axis=-1) for amount in amounts),
            sums_below=tuple(
                np.where(has_positives[index], amount[lowest[index]] - amount[starts[index, :-1]], 0)
                for amount, _ in amounts
            ),
        )


def joined_bins(edges: Floats, parts: Sequence[ValueCounts], bins: int) -> tuple[Floats, list[ValueCounts]]:
    """Merge runs of adjacent uncertainty bins into ``bins`` bins, which divides their number U.

    There are U-1 edges, and the scores of each bin, in common ranges.
    """
    bins_per_run = len(parts) // bins
    runs = [parts[first : first + bins_per_run] for first in range(0, len(parts), bins_per_run)]
    return edges[bins_per_run - 1 :: bins_per_run], [
        merge(rows) if bins_per_run > 1 else rows[0] for rows in runs
    ]


def cells_under(parts: Sequence[ValueCounts], old: Cells) -> Cells:
    """Count the scores of each uncertainty bin in the cells of an existing table."""
    cells = tuple(binned_cells(part, row.lower[1:]) for part, row in zip(parts, old.rows, strict=True))
    return Cells(uncertainty_edges=old.uncertainty_edges, rows=cells)


def cell_of(rows: Rows, cells: Cells) -> Ints:
    """Return the index of each row's cell among the cells of all uncertainty bins; int64, shape (n,)."""
    first = np.cumsum([0, *(len(row.lower) for row in cells.rows)])
    uncertainty_bin, score_bin = bins_of(rows, cells)
    index: Ints = first[uncertainty_bin] + score_bin
    return index


def bins_of(rows: Rows, cells: Cells) -> tuple[Ints, Ints]:
    """Return the uncertainty bin of each row, and its score bin there; int64, shape (n,) each."""
    uncertainty_bin, score_bin = np.zeros((2, len(rows)), dtype=np.int64)
    if rows.uncertainty is not None:
        uncertainty_bin = bin_of(rows.uncertainty, cells.uncertainty_edges)
    for bin_index, row in enumerate(cells.rows):
        inside = uncertainty_bin == bin_index
        score_bin[inside] = bin_of(rows.score[inside], row.lower[1:])
    return uncertainty_bin, score_bin


def ranges_for_grid(
    counts: Sequence[RangeCounts], spec: GridSpec, *, counts_only: bool = False
) -> list[Bools]:
    """Mark the ranges to open until ``cells_from`` is exact.

    Counts are those of each uncertainty bin, then of all rows. The grid has a number of score bins, and a
    binning that depends on ranks. ``counts_only`` is for a shared grid, if the positions of positives within
    cells are irrelevant.
    """
    if spec.binning is Binning.SHARED:
        return _ranges_for_shared(counts, spec, counts_only=counts_only)
    *parts, total = counts
    rule = BINNING_RULES[spec.binning]
    assert rule.ranks is not None and spec.score_bins is not None  # noqa: PT018 - see above
    in_total = total.containing(rule.ranks(total.rows, spec.sizes.bins))
    # the error message about a score range quotes its exact ends
    if rule.global_score_range and not total.exact[in_total].all():
        return mask_for_all_rows(counts, in_total & ~total.exact)
    masks = []
    for part in parts:
        if part.rows == 0:
            masks.append(np.zeros(0, dtype=np.bool_))
            continue
        edges = rule.edges((total if rule.global_score_range else part).counts, spec.sizes)
        at_ranks = part.containing(rule.ranks(part.rows, spec.sizes.bins))
        masks.append(at_ranks | ranges_for_edges(part, edges))
    if not any(part.rows == 0 for part in parts):  # an empty bin gets the edges of all rows
        in_total[:] = False
    return [
        mask & ~counts_of_bin.exact for mask, counts_of_bin in zip([*masks, in_total], counts, strict=True)
    ]


def _ranges_for_shared(counts: Sequence[RangeCounts], spec: GridSpec, *, counts_only: bool) -> list[Bools]:
    """Mark the same ranges in every bin, so that merged bins are equally exact."""
    assert spec.score_bins is not None  # otherwise every score is pooled
    *parts, total = counts
    edges = BINNING_RULES[Binning.SHARED].edges(total.counts, spec.sizes)
    mask = ranges_for_shared_edges(total, spec.score_bins) | total.around(near_edges(edges))
    for part in () if counts_only else parts:
        inside = part.value[_ranges_of_edges(part, edges)]
        mask[np.searchsorted(total.value, inside, side="right") - 1] = True
    return mask_for_all_rows(counts, mask & ~total.exact)


def ranges_for_edges(counts: RangeCounts, edges: Floats) -> Bools:
    """Mark the ranges to open until the cells between sorted score edges are exact.

    These are the ranges that may contain an edge, and the first one with a positive row in each cell.
    """
    return _ranges_of_edges(counts, edges) & ~counts.exact


def _ranges_of_edges(counts: RangeCounts, edges: Floats) -> Bools:
    """Return the ranges that cells between score edges depend on, including exact ones."""
    mask = counts.around(near_edges(edges))
    with_positives = np.flatnonzero(counts.positives)
    # the rows of an opened range above the edge may be negative
    cell_starts = np.concatenate([[0], np.flatnonzero(mask), np.searchsorted(counts.value, edges)])
    first = distinct_numbers(np.searchsorted(with_positives, cell_starts))
    lowest = with_positives[first[first < len(with_positives)]]
    return mask | counts.around(near_thresholds(counts.value[lowest]))


def uncertainty_edges_of(rows: Rows, spec: GridSpec) -> Floats:
    """Compute the uncertainty edges of rows in memory; float64, shape (K-1,)."""
    if spec.uncertainty_bins == 1:
        return np.empty(0)
    counts = rows.counts(rows.numbers["uncertainty"])
    return uncertainty_rule(spec.binning).edges(counts, BinSizes(bins=spec.uncertainty_bins))


def pool_by(rows: Rows, edges: Floats) -> tuple[ValueCounts, ...]:
    """Return the tie-pooled scores of each uncertainty bin."""
    if len(edges) == 0 or rows.uncertainty is None:
        return (rows.counts(rows.score),)
    bin_index = narrow_bins(rows.uncertainty, edges)
    return tuple(rows.counts(rows.score, inside) for inside in indices_by_bin(bin_index, len(edges) + 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class UncertaintyAxis:
    """Uncertainty bins of a grid: K-1 edges, and the smallest and largest uncertainty.

    The ends are None for a single bin, for which the uncertainty is not counted.
    """

    edges: Floats
    ends: tuple[float, float] | None


def uncertainty_axis(table: CountTable, spec: GridSpec) -> UncertaintyAxis:
    """Return the uncertainty bins of a grid."""
    if spec.uncertainty_bins == 1:
        return UncertaintyAxis(edges=np.empty(0), ends=None)
    (counts,) = table.edges("uncertainty", partial(_axis_ranks, spec=spec))
    return _axis(counts, spec)


def turned_axis(table: CountTable, spec: GridSpec) -> UncertaintyAxis:
    """Return the uncertainty bins of a grid of the same rows, whose uncertainties have the other sign."""
    (counts,) = table.edges("uncertainty", lambda rows: rows - 1 - _axis_ranks(rows, spec))
    backwards = slice(None, None, -1)
    turned = ValueCounts(
        value=0.0 - counts.value[backwards],
        count=counts.count[backwards],
        positives=counts.positives[backwards],
    )
    return _axis(turned, spec)


def _axis_ranks(rows: int, spec: GridSpec) -> Ints:
    """Return the ranks of the uncertainty edges, and of both ends."""
    ranks = uncertainty_rule(spec.binning).ranks
    assert ranks is not None  # binnings of the uncertainty have ranks
    return np.concatenate([ranks(rows, spec.uncertainty_bins), outer_ranks(rows, spec.uncertainty_bins)])


def _axis(counts: ValueCounts, spec: GridSpec) -> UncertaintyAxis:
    """Return the uncertainty bins from the counts of the uncertainty."""
    edges = uncertainty_rule(spec.binning).edges(counts, BinSizes(bins=spec.uncertainty_bins))
    return UncertaintyAxis(edges=edges, ends=ends_of(counts))


def uncertainty_ends(table: CountTable) -> tuple[float, float]:
    """Return the smallest and the largest uncertainty."""
    (counts,) = table.edges("uncertainty", lambda rows: outer_ranks(rows, 1))
    return ends_of(counts)


def ends_of(counts: ValueCounts) -> tuple[float, float]:
    """Return the smallest and the largest value of counts that are exact there."""
    return float(counts.value[0]), float(counts.value[-1])


def grid_parts(
    table: CountTable,
    edges: Floats,
    spec: GridSpec,
    additional_query: RangeQuery | None = None,
    thresholds: RangeQuery | None = None,
) -> tuple[RangeCounts, ...]:
    """Return the scores of each uncertainty bin, then of all rows, as exact as the grid requires.

    An additional query may open further ranges. ``thresholds`` selects the ranges with the thresholds of a
    shared grid, after its cells are exact; without it, the positions of positives are exact in all cells.
    """
    by = Partition(edges=edges)
    if spec.score_bins is None or BINNING_RULES[spec.binning].ranks is None:
        return RangeCounts.from_parts(table.pooled(by))

    def query(counts: Sequence[RangeCounts]) -> list[Bools]:
        masks = ranges_for_grid(counts, spec, counts_only=thresholds is not None)
        if thresholds is not None and not any(mask.any() for mask in masks):
            masks = list(thresholds(counts))
        if additional_query is None:
            return masks
        return [mask | additional for mask, additional in zip(masks, additional_query(counts), strict=True)]

    return table.range_counts(by, query)

"""Count rows in the cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, RangeCounts, ValueCounts
from uqcli.base.records import dataclass
from uqcli.bin.grid import GridSpec, ranges_for_grid, uncertainty_rule
from uqcli.engines.protocol import Partition, RangeQuery, Table
from uqcli.estimates.binning import BINNING_RULES, BinSizes, outer_ranks


@dataclass(frozen=True, kw_only=True, eq=False)
class UncertaintyAxis:
    """Uncertainty bins of a grid.

    Attributes
    ----------
    edges : float64, shape (K-1,)
    ends
        Smallest and largest uncertainty; None for a single bin, for which the uncertainty is not counted.
    """

    edges: Floats
    ends: tuple[float, float] | None


def uncertainty_axis(table: Table, spec: GridSpec) -> UncertaintyAxis:
    """Return the uncertainty bins of a grid."""
    if spec.uncertainty_bins == 1:
        return UncertaintyAxis(edges=np.empty(0), ends=None)
    (counts,) = table.edges("uncertainty", partial(_axis_ranks, spec=spec))
    return _axis(counts, spec)


def turned_axis(table: Table, spec: GridSpec) -> UncertaintyAxis:
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


def uncertainty_ends(table: Table) -> tuple[float, float]:
    """Return the smallest and the largest uncertainty."""
    (counts,) = table.edges("uncertainty", lambda rows: outer_ranks(rows, 1))
    return ends_of(counts)


def ends_of(counts: ValueCounts) -> tuple[float, float]:
    """Return the smallest and the largest value of counts that are exact there."""
    return float(counts.value[0]), float(counts.value[-1])


def grid_parts(
    table: Table,
    edges: Floats,
    spec: GridSpec,
    additional_query: RangeQuery | None = None,
    thresholds: RangeQuery | None = None,
) -> tuple[RangeCounts, ...]:
    """Return the scores of each uncertainty bin, then of all rows, as exact as the grid requires.

    Parameters
    ----------
    additional_query
        Query for additional ranges to open.
    thresholds
        Query for the ranges with the thresholds of a shared grid, after its cells are exact. Without it, the
        positions of positives are exact in all cells.
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

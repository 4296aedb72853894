"""Count rows in the cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.counts import Bools, Floats, RangeCounts
from uqcli.engines.protocol import Partition, RangeQuery, Table
from uqcli.methods.bin.grid import GridSpec, ranges_for_grid, uncertainty_rule
from uqcli.methods.bin.registry import BinSizes, rule_of


def uncertainty_edges(table: Table, spec: GridSpec) -> Floats:
    """Return the uncertainty edges; float64, shape (K-1,)."""
    rule, bins = uncertainty_rule(spec.binning), spec.uncertainty_bins
    if bins == 1:
        return np.empty(0)
    assert rule.ranks is not None  # binnings of the uncertainty have ranks
    ranks = rule.ranks
    (counts,) = table.edges("uncertainty", lambda rows: ranks(rows, bins))
    return rule.edges(counts, BinSizes(bins=bins))


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
    if spec.score_bins is None or rule_of(spec.binning).ranks is None:
        return RangeCounts.from_parts(table.pooled(by))

    def query(counts: Sequence[RangeCounts]) -> list[Bools]:
        masks = ranges_for_grid(counts, spec, counts_only=thresholds is not None)
        if thresholds is not None and not any(mask.any() for mask in masks):
            masks = list(thresholds(counts))
        if additional_query is None:
            return masks
        return [mask | additional for mask, additional in zip(masks, additional_query(counts), strict=True)]

    return table.range_counts(by, query)

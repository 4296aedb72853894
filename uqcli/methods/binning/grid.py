"""The score x uncertainty grid [UB sec. 4-5]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from uqcli.choices import Binning
from uqcli.counts import (
    FEW_EDGES,
    Bools,
    Cells,
    Floats,
    Ints,
    ValueCounts,
    bin_of,
    binned_cells,
    distinct_cells,
    merge,
    pool,
)
from uqcli.methods.binning.block_sizes import BlockSizes
from uqcli.methods.binning.registry import BINNINGS, BinSizes


@dataclass(frozen=True, kw_only=True)
class GridSpec:
    """The shape of a grid.

    Attributes
    ----------
    binning
        How both axes are cut.
    uncertainty_bins
        K, at least 1; with 1 the uncertainty is not looked at.
    score_bins
        L for each uncertainty bin, or None for one cell at each distinct score.
    blocks
        Rows in a bin of pava-bc.
    """

    binning: Binning
    uncertainty_bins: int
    score_bins: int | None
    blocks: BlockSizes = field(default_factory=BlockSizes)


@dataclass(frozen=True, kw_only=True)
class HoldOut:
    """Labelled rows, checked: finite values, no negative zeros.

    Attributes
    ----------
    score : float64, shape (n,)
    uncertainty : float64, shape (n,), or None where a single uncertainty bin is asked for
    positive : bool, shape (n,)
    weight : int64, shape (n,), or None for 1 each
    """

    score: Floats
    uncertainty: Floats | None
    positive: Bools
    weight: Ints | None = None


def build_cells(rows: HoldOut, spec: GridSpec) -> Cells:
    """Count rows into a grid.

    Parameters
    ----------
    rows
        At least one row of positive weight.
    spec
        The shape; uncertainty must be there if ``spec.uncertainty_bins > 1``.

    Returns
    -------
    Cells
        Under the one bin rule (#{edges <= value}), so applying the edges to the same rows gives the
        same counts. An uncertainty bin that stays empty takes the score edges of all rows pooled.
    """
    uncertainty_edges, parts = split_by_uncertainty(rows, spec)
    return cells_from(uncertainty_edges, parts, spec)


def cells_from(uncertainty_edges: Floats, parts: tuple[ValueCounts, ...], spec: GridSpec) -> Cells:
    """Cells from the tie-pooled scores of each uncertainty bin (see build_cells)."""
    if spec.score_bins is None:
        return Cells(uncertainty_edges=uncertainty_edges, rows=tuple(distinct_cells(part) for part in parts))
    rule = BINNINGS[spec.binning]
    needs_pooled = rule.global_score_range or any(part.rows == 0 for part in parts)
    sizes = BinSizes(bins=spec.score_bins, blocks=spec.blocks)
    pooled_edges = rule.edges(merge(parts), sizes) if needs_pooled else None
    cells = []
    for part in parts:
        use_pooled = pooled_edges is not None and (rule.global_score_range or part.rows == 0)
        edges = pooled_edges if use_pooled and pooled_edges is not None else rule.edges(part, sizes)
        cells.append(binned_cells(part, edges))
    return Cells(uncertainty_edges=uncertainty_edges, rows=tuple(cells))


def recount(rows: HoldOut, old: Cells) -> Cells:
    """Count rows under the edges of an old table."""
    parts = _pool_by(rows, old.uncertainty_edges)
    cells = tuple(binned_cells(part, row.lower[1:]) for part, row in zip(parts, old.rows, strict=True))
    return Cells(uncertainty_edges=old.uncertainty_edges, rows=cells)


def split_by_uncertainty(rows: HoldOut, spec: GridSpec) -> tuple[Floats, tuple[ValueCounts, ...]]:
    """Uncertainty edges, and the tie-pooled scores of each uncertainty bin."""
    if spec.uncertainty_bins == 1 or rows.uncertainty is None:
        return np.empty(0), _pool_by(rows, np.empty(0))
    unlabelled = np.zeros(len(rows.positive), dtype=np.bool_)  # edges do not look at labels
    pooled = pool(rows.uncertainty, unlabelled, rows.weight)
    edges = BINNINGS[spec.binning].edges(pooled, BinSizes(bins=spec.uncertainty_bins))
    return edges, _pool_by(rows, edges)


def _pool_by(rows: HoldOut, edges: Floats) -> tuple[ValueCounts, ...]:
    """Tie-pooled scores of each uncertainty bin."""
    if len(edges) == 0 or rows.uncertainty is None:
        return (pool(rows.score, rows.positive, rows.weight),)
    parts = []
    for inside in _members(rows.uncertainty, edges):
        weight = None if rows.weight is None else rows.weight[inside]
        parts.append(pool(rows.score[inside], rows.positive[inside], weight))
    return tuple(parts)


def _members(uncertainty: Floats, edges: Floats) -> Iterator[Bools | Ints]:
    """The rows of each uncertainty bin: masks where there are few bins, positions where many."""
    if len(edges) <= FEW_EDGES:
        for low, high in zip([-np.inf, *edges], [*edges, np.inf], strict=True):
            yield (uncertainty >= low) & (uncertainty < high)
        return
    bins = bin_of(uncertainty, edges)
    order = np.argsort(bins, kind="stable")
    bounds = np.searchsorted(bins[order], np.arange(len(edges) + 2))
    for start, end in pairwise(bounds.tolist()):
        yield order[start:end]

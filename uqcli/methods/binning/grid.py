"""The score x uncertainty grid [UB sec. 4-5]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uqcli.choices import Binning
from uqcli.counts import (
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
from uqcli.methods.binning.registry import BINNINGS


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
    """

    binning: Binning
    uncertainty_bins: int
    score_bins: int | None


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
    uncertainty_edges, parts = _split_by_uncertainty(rows, spec)
    if spec.score_bins is None:
        return Cells(uncertainty_edges=uncertainty_edges, rows=tuple(distinct_cells(part) for part in parts))
    rule = BINNINGS[spec.binning]
    needs_pooled = rule.global_score_range or any(part.rows == 0 for part in parts)
    pooled_edges = rule.edges(merge(parts), spec.score_bins) if needs_pooled else None
    cells = []
    for part in parts:
        use_pooled = pooled_edges is not None and (rule.global_score_range or part.rows == 0)
        edges = pooled_edges if use_pooled and pooled_edges is not None else rule.edges(part, spec.score_bins)
        cells.append(binned_cells(part, edges))
    return Cells(uncertainty_edges=uncertainty_edges, rows=tuple(cells))


def _split_by_uncertainty(rows: HoldOut, spec: GridSpec) -> tuple[Floats, tuple[ValueCounts, ...]]:
    """Uncertainty edges, and the tie-pooled scores of each uncertainty bin."""
    if spec.uncertainty_bins == 1 or rows.uncertainty is None:
        return np.empty(0), (pool(rows.score, rows.positive, rows.weight),)
    unlabelled = np.zeros(len(rows.positive), dtype=np.bool_)  # edges do not look at labels
    pooled = pool(rows.uncertainty, unlabelled, rows.weight)
    edges = BINNINGS[spec.binning].edges(pooled, spec.uncertainty_bins)
    bins = bin_of(rows.uncertainty, edges)
    parts = []
    for number in range(spec.uncertainty_bins):
        inside = bins == number
        weight = None if rows.weight is None else rows.weight[inside]
        parts.append(pool(rows.score[inside], rows.positive[inside], weight))
    return edges, tuple(parts)

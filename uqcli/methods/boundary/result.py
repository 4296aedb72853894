"""A boundary found on a hold-out set: thresholds and what they select there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uqcli.counts import CellRow, Cells, Floats
from uqcli.defaults import LOWEST


@dataclass(frozen=True, kw_only=True)
class FitCounts:
    """What a boundary selects on the rows it was found on, by weight."""

    selected: int
    true_positives: int
    rows: int
    positives: int

    @property
    def precision(self) -> float | None:
        """Share of selected rows that are positive; None if nothing is selected."""
        return self.true_positives / self.selected if self.selected else None

    @property
    def recall(self) -> float | None:
        """Share of positive rows that are selected; None without positives."""
        return self.true_positives / self.positives if self.positives else None


@dataclass(frozen=True, kw_only=True)
class FittedBoundary:
    """A row is positive iff its score reaches the threshold of its uncertainty bin.

    Attributes
    ----------
    uncertainty_edges : float64, shape (K-1,)
    thresholds : K numbers; None = never positive, the lowest finite double = always
    fit : FitCounts
    """

    uncertainty_edges: Floats
    thresholds: tuple[float | None, ...]
    fit: FitCounts


def _lowest_taken(row: CellRow, first: int, *, raised: bool) -> tuple[float | None, int, int]:
    """Threshold of a row whose cells are taken from ``first`` on, the cell it is in, and rows of it spared.

    Of a saved grid it is the lower end of the lowest cell that holds rows; a row taken whole has none. Where
    rows are at hand it is raised to the lowest score of a positive row: nothing speaks for scores below.
    """
    lowest, below = (row.lowest_positive, row.below_positive) if raised else (None, None)
    filled = np.flatnonzero((row.count if lowest is None else row.positives)[first:])
    if len(filled) == 0:
        return None, len(row.count), 0
    first += int(filled[0])
    if lowest is not None and below is not None:
        return float(lowest[first]), first, int(below[first])
    return (LOWEST if first == 0 else float(row.lower[first])), first, 0


def boundary_at(cells: Cells, tops: Sequence[int], *, raised: bool = True) -> FittedBoundary:
    """Turn a number of top cells in each row into thresholds and counts.

    Thresholds are the highest that select the same rows or, ``raised`` where rows are at hand, the same
    positive rows.
    """
    thresholds: list[float | None] = []
    selected = true_positives = 0
    for row, top in zip(cells.rows, tops, strict=True):
        threshold, first, spared = _lowest_taken(row, len(row.count) - top, raised=raised)
        thresholds.append(threshold)
        selected += int(row.count[first:].sum()) - spared
        true_positives += int(row.positives[first:].sum())
    fit = FitCounts(
        selected=selected, true_positives=true_positives, rows=cells.total, positives=cells.positives
    )
    return FittedBoundary(uncertainty_edges=cells.uncertainty_edges, thresholds=tuple(thresholds), fit=fit)

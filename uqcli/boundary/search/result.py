"""A boundary found on a calibration set, with its thresholds and counts, and its decisions on new rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Bools, CellRow, Cells, Floats, Ints, bin_of
from uqcli.base.defaults import LOWEST
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.estimates.confusion import Confusion, Sums


@dataclass(frozen=True, kw_only=True)
class FittedBoundary:
    """Boundary: a row is flagged iff its score reaches the threshold of its uncertainty bin.

    The K bins have K-1 edges. A threshold of None never flags, and the lowest finite double always flags.
    With a review, ``review_thresholds`` has the lowest reviewed score of each bin, None for no review there.
    """

    uncertainty_edges: Floats
    thresholds: tuple[float | None, ...]
    fit: Confusion[int]
    review_thresholds: tuple[float | None, ...] | None = None


def _lowest_flagged(row: CellRow, first: int, *, raised: bool) -> tuple[float | None, int, int]:
    """Find the threshold of a row of cells flagged from ``first`` on, its cell, and the rows below it there.

    For a saved grid it is the lower edge of the lowest non-empty cell, or the lowest double for the first
    cell. If the rows are available it is raised to the lowest score of a positive row, since lower scores add
    no true positive.
    """
    lowest, below = (row.lowest_positive, row.below_positive) if raised else (None, None)
    filled = np.flatnonzero((row.count if lowest is None else row.positives)[first:])
    if len(filled) == 0:
        return None, len(row.count), 0
    first += int(filled[0])
    if lowest is not None and below is not None:
        return float(lowest[first]), first, int(below[first])
    return (LOWEST if first == 0 else float(row.lower[first])), first, 0


def as_sums(sums: Ints) -> Sums:
    """Convert sums of shape (2, amounts)."""
    of_all, of_positives = sums.tolist()
    return tuple(of_all), tuple(of_positives)


def thresholds_at(cells: Cells, tops: Sequence[int]) -> tuple[float | None, ...]:
    """Return the lower edges of the cells taken, not raised, which uses no labels."""
    thresholds: list[float | None] = []
    for row, top in zip(cells.rows, tops, strict=True):
        first = len(row.count) - top
        thresholds.append(None if top == 0 else LOWEST if first == 0 else float(row.lower[first]))
    return tuple(thresholds)


def boundary_at(cells: Cells, tops: Sequence[int], *, raised: bool = True) -> FittedBoundary:
    """Convert the number of top cells in each row to thresholds and counts.

    Thresholds are the highest that select the same rows or, with ``raised`` and available rows, the same
    positive rows.
    """
    thresholds: list[float | None] = []
    selected = true_positives = 0
    sums_of_bins: list[Ints] = []
    for row, top in zip(cells.rows, tops, strict=True):
        threshold, first, n_below = _lowest_flagged(row, len(row.count) - top, raised=raised)
        thresholds.append(threshold)
        selected += int(row.count[first:].sum()) - n_below
        true_positives += int(row.positives[first:].sum())
        if row.sums is not None:
            sums_of_bins.append(row.sums[..., first:].sum(axis=-1))
            if n_below and row.sums_below is not None:
                sums_of_bins[-1][0] -= row.sums_below[:, first]
    all_sums = cells.flat_sums
    fit = Confusion(
        selected=selected,
        true_positives=true_positives,
        rows=cells.total,
        positives=cells.positives,
        sums_selected=as_sums(np.sum(sums_of_bins, axis=0)) if sums_of_bins else None,
        sums=None if all_sums is None else as_sums(all_sums.sum(axis=-1)),
    )
    return FittedBoundary(uncertainty_edges=cells.uncertainty_edges, thresholds=tuple(thresholds), fit=fit)


def decide(
    score: Floats,
    uncertainty: Floats | None,
    uncertainty_edges: Sequence[float] | Floats,
    thresholds: Sequence[float | None],
) -> Bools:
    """Decide which rows are flagged: those whose score reaches the threshold of their uncertainty bin.

    Scores and uncertainties are float64, shape (n,). The uncertainty is used only if there are several
    thresholds; a DataError says that it is missing.

    Examples
    --------
    >>> decide(np.array([0.2, 0.9]), None, [], [0.5]).tolist()
    [False, True]
    """
    bin_thresholds = np.array([np.inf if threshold is None else threshold for threshold in thresholds])
    if len(bin_thresholds) == 1:
        flagged: Bools = score >= bin_thresholds[0]
        return flagged
    if uncertainty is None:
        raise DataError("no uncertainty given", expected=f"values for {len(bin_thresholds)} uncertainty bins")
    edges = np.asarray(uncertainty_edges, dtype=np.float64)
    decisions: Bools = score >= bin_thresholds[bin_of(uncertainty, edges)]
    return decisions

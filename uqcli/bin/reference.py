"""Counts of calibration rows by uncertainty bin and score, with which new rows are compared.

Each uncertainty bin has ten score bins of about equal weight. Only the ranges with their edges are opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, RangeCounts, mask_for_all_rows
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import parallel_map
from uqcli.estimates.binning import equal_ranks, outer_ranks

SCORE_BINS = 10
"""Score bins of each uncertainty bin."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Calibration rows by uncertainty bin and score bin, by weight.

    Attributes
    ----------
    score_edges : float64, shape (bins, SCORE_BINS - 1)
        Those of an empty uncertainty bin are the edges of all rows.
    count : int64, shape (bins, SCORE_BINS)
    lowest, highest
        Ends of each number's range, by role.
    """

    score_edges: Floats
    count: Ints
    lowest: Mapping[str, float]
    highest: Mapping[str, float]


def ranges_for_reference(counts: Sequence[RangeCounts], bin_counts: Sequence[int]) -> list[Bools]:
    """Mark the ranges to open until ``reference_of`` is exact.

    Parameters
    ----------
    counts
        Counts of each uncertainty bin, then of all rows.
    bin_counts
        Possible numbers of bins after runs of adjacent bins are merged.
    """
    total = counts[-1]
    mask = total.containing(outer_ranks(total.rows, SCORE_BINS))
    cumulative = _cumulative(counts)
    for bins in {1, *bin_counts}:
        for rows in _merged(cumulative, bins):
            mask[_positions(rows)] = True
    return mask_for_all_rows(counts, mask & ~total.exact)


def reference_of(
    counts: Sequence[RangeCounts], bins: int, uncertainty: tuple[float, float] | None = None
) -> Reference:
    """Count the rows of ``bins`` merged uncertainty bins in score bins of equal weight.

    Parameters
    ----------
    counts
        Counts of which ``ranges_for_reference`` marks none.
    uncertainty
        Smallest and largest uncertainty; None if the rule does not use it.
    """
    total, cumulative = counts[-1], _cumulative(counts)
    of_all = _positions(cumulative.sum(axis=0))
    score_edges, count = [], []
    for rows in _merged(cumulative, bins):
        positions = _positions(rows) if rows[-1] else of_all
        below = np.concatenate([[0], rows])[positions]  # edges begin their bins
        score_edges.append(total.value[positions])
        count.append(np.diff(below, prepend=0, append=rows[-1]))
    lowest, highest = {"score": float(total.value[0])}, {"score": float(total.value[-1])}
    if uncertainty is not None:
        lowest["uncertainty"], highest["uncertainty"] = uncertainty
    return Reference(score_edges=np.stack(score_edges), count=np.stack(count), lowest=lowest, highest=highest)


def _cumulative(counts: Sequence[RangeCounts]) -> Ints:
    """Return the rows of each part in and below each range of all rows; int64, shape (parts, ranges)."""
    *parts, total = counts
    if len(parts) == 1:
        return np.cumsum(total.count)[np.newaxis]
    return np.stack(list(parallel_map(lambda part: _rows_below(part)[_stops(part, total)], parts)))


def _rows_below(part: RangeCounts) -> Ints:
    return np.concatenate([[0], np.cumsum(part.count)])


def _stops(part: RangeCounts, total: RangeCounts) -> Ints:
    """Return the number of a part's ranges in and below each range of all rows, whose ranges are coarser."""
    return np.append(np.searchsorted(part.value, total.value[1:]), len(part.value))


def _merged(cumulative: Ints, bins: int) -> Ints:
    """Add the counts of adjacent parts; shape (bins, ranges)."""
    merged: Ints = cumulative.reshape(bins, -1, cumulative.shape[1]).sum(axis=1)
    return merged


def _positions(cumulative: Ints) -> Ints:
    """Return the ranges with the rows at which score bins begin; empty without rows."""
    rows = int(cumulative[-1])
    return np.searchsorted(cumulative, equal_ranks(rows, SCORE_BINS) if rows else [], side="right")

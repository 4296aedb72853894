"""Score edges shared by all uncertainty bins, half of them at ranks of positive rows.

Adjacent uncertainty bins can then be merged cell by cell. With few positives, edges at ranks of all rows
alone would leave most cells without a positive.
"""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, RangeCounts, ValueCounts
from uqcli.estimates.binning.edges import equal_ranks
from uqcli.estimates.binning.registry import BinningRule


def shared_edges(counts: ValueCounts, bins: int) -> Floats:
    """Return values of ranks ``r*N//h`` among all rows and ``r*P//h`` among positive ones, ``h = bins//2``.

    Duplicate edges are kept and make empty bins.

    Returns
    -------
    float64, ascending, shape (2h-2,), or (h-1,) without positive rows

    Examples
    --------
    >>> from uqcli.base.counts import pool
    >>> rows = pool(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, False, True, True]))
    >>> shared_edges(rows, 4).tolist()
    [3.0, 4.0]
    """
    return np.sort(
        np.concatenate(
            [counts.value[_indices_at_ranks(rank_counts, bins)] for rank_counts in _all_and_positive(counts)]
        )
    )


def ranges_for_shared_edges(counts: RangeCounts, bins: int) -> Bools:
    """Return the mask of the ranges that contain these ranks; bool, shape (m,)."""
    mask = np.zeros(len(counts.value), dtype=np.bool_)
    for rank_counts in _all_and_positive(counts):
        mask[_indices_at_ranks(rank_counts, bins)] = True
    return mask


def _all_and_positive(counts: ValueCounts | RangeCounts) -> tuple[Ints, Ints]:
    return counts.count, counts.positives


def _indices_at_ranks(rank_counts: Ints, bins: int) -> Ints:
    cumulative = np.cumsum(rank_counts)
    total = int(cumulative[-1]) if len(cumulative) else 0
    ranks = equal_ranks(total, bins // 2) if total else np.empty(0, dtype=np.int64)
    return np.searchsorted(cumulative, ranks, side="right")


RULE = BinningRule(
    edges=lambda counts, sizes: shared_edges(counts, sizes.bins), ranks=equal_ranks, global_score_range=True
)

"""Calibration counts on few scores, small enough for a rule file."""

from __future__ import annotations

from typing import Final

import numpy as np

from uqcli.base.counts import Ints, ValueCounts
from uqcli.kernels.sums import indices_of_ranks, sums_from

MAX_SCORES: Final = 500
"""Distinct scores up to which counts are kept as they are."""


def on_few_scores(counts: ValueCounts, most: int = MAX_SCORES) -> ValueCounts:
    """Merge adjacent scores into bins of equal weight, up to ties, if there are more than ``most`` scores.

    The score of a bin is that of its middle row, the lower one of two. It is a score of the data, so no sum
    of floats is needed. The lowest and the highest score are bins of their own: the range stays exact.

    Parameters
    ----------
    counts
        Without amounts.
    most
        Largest number of bins, at least 3.

    Examples
    --------
    >>> from uqcli.base.counts import pool
    >>> few = on_few_scores(pool(np.arange(8.0), np.arange(8) > 3), most=4)
    >>> few.value.tolist(), few.count.tolist(), few.positives.tolist()
    ([0.0, 2.0, 5.0, 7.0], [1, 3, 3, 1], [0, 0, 3, 1])
    """
    if len(counts.value) <= most:
        return counts
    starts = starts_of_bins(counts, most)
    count = sums_from(counts.count, starts)
    middle = np.cumsum(count) - count + (count - 1) // 2
    return ValueCounts(
        value=counts.value[indices_of_ranks(counts.count, middle)],
        count=count,
        positives=sums_from(counts.positives, starts),
    )


def starts_of_bins(counts: ValueCounts, most: int = MAX_SCORES) -> Ints:
    """Return the position of the first score of each bin of ``on_few_scores``; int64, ascending."""
    if len(counts.value) <= most:
        return np.arange(len(counts.value))
    rows = counts.rows
    ranks = np.array([r * rows // (most - 2) for r in range(1, most - 2)], dtype=np.int64)
    begins = indices_of_ranks(counts.count, ranks)
    return np.unique(np.concatenate([[0, 1], begins, [len(counts.value) - 1]])).astype(np.int64)

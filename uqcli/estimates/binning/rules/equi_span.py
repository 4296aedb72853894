"""Bins of equal width between the smallest and the largest value [UB sec. 5]."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.errors import DataError
from uqcli.estimates.binning.edges import outer_ranks
from uqcli.estimates.binning.registry import BinningRule


def equi_span_edges(counts: ValueCounts, bins: int) -> Floats:
    """Return the edges ``min + (max-min)*(r/bins)``; float64, shape (bins-1,).

    Raises
    ------
    DataError
        The range exceeds the largest double.
    """
    low, high = float(counts.value[0]), float(counts.value[-1])
    span = high - low
    if not np.isfinite(span):
        raise DataError(
            f"the range from {low} to {high} is too wide for a number", remedy="rescale the column"
        )
    return low + span * (np.arange(1, bins, dtype=np.float64) / bins)


RULE = BinningRule(
    edges=lambda counts, sizes: equi_span_edges(counts, sizes.bins),
    ranks=outer_ranks,
    global_score_range=True,
)

"""Bin edges by equal weight and by equal span [UB sec. 4-5]."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Floats, ValueCounts
from uqcli.errors import DataError


def equi_weight_edges(counts: ValueCounts, bins: int) -> Floats:
    """Edges that put equally many rows in every bin, as far as ties allow.

    Edge r is the value of rank ``r*N//bins`` (0-based) of the N sorted rows; without ties bin sizes
    differ by at most one. Duplicate edges stay: their bins are empty.

    Returns
    -------
    float64, shape (bins-1,)

    Examples
    --------
    >>> from uqcli.counts import pool
    >>> rows = pool(np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(4, dtype=bool))
    >>> equi_weight_edges(rows, 2).tolist()
    [3.0]
    """
    total = counts.rows
    ranks = np.array([r * total // bins for r in range(1, bins)], dtype=np.int64)
    at = np.searchsorted(np.cumsum(counts.count), ranks, side="right")
    return counts.value[at]


def equi_span_edges(counts: ValueCounts, bins: int) -> Floats:
    """Edges ``min + (max-min)*(r/bins)``.

    Returns
    -------
    float64, shape (bins-1,)

    Raises
    ------
    DataError
        The range is wider than a double can hold.
    """
    low, high = float(counts.value[0]), float(counts.value[-1])
    span = high - low
    if not np.isfinite(span):
        raise DataError(
            f"values from {low} to {high} span more than a number can hold",
            remedy="rescale the column or use --binning equi-weight",
        )
    return low + span * (np.arange(1, bins, dtype=np.float64) / bins)

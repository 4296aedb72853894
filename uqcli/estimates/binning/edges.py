"""Edges and ranks shared by several binnings [UB sec. 4-5, TCE sec. 3]."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Floats, Ints


def equal_ranks(rows: int, bins: int) -> Ints:
    """Return the ranks ``r*rows//bins`` at which bins of equal weight begin; int64, shape (bins-1,)."""
    return np.array([r * rows // bins for r in range(1, bins)], dtype=np.int64)


def outer_ranks(rows: int, bins: int) -> Ints:
    """Return the ranks of the smallest and the largest value."""
    del bins
    return np.array([0, rows - 1], dtype=np.int64)


def even_edges(bins: int) -> Floats:
    """Return the edges ``r/bins`` between 0 and 1; float64, shape (bins-1,)."""
    return np.arange(1, bins, dtype=np.float64) / bins


def edges_between(value: Floats, starts: Ints) -> Floats:
    """Find the midpoints between blocks of values; the upper value if the midpoint rounds down to the lower.

    Parameters
    ----------
    value : float64, shape (m,)
        Ascending.
    starts : int64, shape (blocks,)
        Position of the first value of each block.

    Returns
    -------
    float64, shape (blocks-1,)
    """
    lower, upper = value[starts[1:] - 1], value[starts[1:]]
    middle = lower / 2 + upper / 2
    exact = (lower + upper) / 2
    middle = np.where(np.isfinite(exact), exact, middle)
    edges: Floats = np.where(middle <= lower, upper, middle)
    return edges

"""Bins of equal weight [UB sec. 4]."""

from __future__ import annotations

from uqcli.base.counts import Floats, ValueCounts
from uqcli.estimates.binning.edges import equal_ranks
from uqcli.estimates.binning.registry import BinningRule
from uqcli.kernels.sums import indices_of_ranks


def equi_weight_edges(counts: ValueCounts, bins: int) -> Floats:
    """Return the edges of bins with equal numbers of rows, up to ties; float64, shape (bins-1,).

    Edge r is the value of rank ``r*N//bins`` (0-based) of the N sorted rows; without ties bin sizes differ by
    at most one. Duplicate edges are kept and make empty bins.

    Examples
    --------
    >>> import numpy as np
    >>> from uqcli.base.counts import pool
    >>> rows = pool(np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(4, dtype=bool))
    >>> equi_weight_edges(rows, 2).tolist()
    [3.0]
    """
    return counts.value[indices_of_ranks(counts.count, equal_ranks(counts.rows, bins))]


RULE = BinningRule(edges=lambda counts, sizes: equi_weight_edges(counts, sizes.bins), ranks=equal_ranks)

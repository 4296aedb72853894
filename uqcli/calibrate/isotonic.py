"""Isotonic regression on the score (IST), and within uncertainty bins (MIST) [UB sec. 5]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.base.counts import Floats, Ints, ValueCounts, merge
from uqcli.calibrate.maps.by_uncertainty import UncertaintyMap
from uqcli.calibrate.maps.isotonic import IsotonicMap
from uqcli.kernels.pava import isotonic_sums


def fit_isotonic(counts: ValueCounts, *, certain: bool = True) -> IsotonicMap:
    """Fit least-squares isotonic regression: constant on blocks, linear between them, constant outside.

    Equal to scikit-learn's IsotonicRegression with ``out_of_bounds="clip"``.

    Parameters
    ----------
    counts
        Corrected scores, at least one.
    certain
        Whether rates may be 0 and 1. If not, such a block has the rate (k+1)/(n+2), or its neighbour's if
        that is closer.
    """
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    last = np.append(first[1:], len(counts.value)) - 1
    rate = positives / count
    if not certain:
        rate = _uncertain(rate, count)
    block_ends = np.stack([counts.value[first], counts.value[last]], axis=1)
    is_end = np.stack([np.ones(len(first), dtype=np.bool_), first < last], axis=1)
    return IsotonicMap(x=block_ends[is_end].tolist(), y=np.repeat(rate, is_end.sum(axis=1)).tolist())


def _uncertain(rate: Floats, count: Ints) -> Floats:
    """Replace rates of 0 and 1, which only the first and the last block can have."""
    softened = rate.copy()
    below, above = np.concatenate([[0.0], rate])[-2], np.concatenate([rate, [1.0]])[1]
    if rate[0] == 0:
        softened[0] = min(1 / (count[0] + 2), above)
    if rate[-1] == 1:
        softened[-1] = max((count[-1] + 1) / (count[-1] + 2), below)
    return softened


def fit_by_uncertainty(parts: Sequence[ValueCounts], uncertainty_edges: Floats) -> UncertaintyMap:
    """Fit isotonic regression per uncertainty bin; an empty bin uses the fit of all rows.

    Parameters
    ----------
    parts
        Corrected scores of each bin; at least one bin is not empty.
    uncertainty_edges : float64, shape (bins-1,)
    """
    pooled = merge(parts)
    return UncertaintyMap(
        uncertainty_edges=uncertainty_edges.tolist(),
        maps=[fit_isotonic(part if part.rows else pooled) for part in parts],
        count=[part.rows for part in parts],
    )

"""Bin edges by equal weight, equal span, and isotonic blocks [UB sec. 4-5, TCE sec. 3]."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Floats, Ints, ValueCounts
from uqcli.errors import DataError, UsageError
from uqcli.kernels.pava import bounded_blocks, isotonic_blocks, isotonic_sums
from uqcli.parts import places_of


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
    return counts.value[places_of(counts.count, equal_ranks(counts.rows, bins))]


def equal_ranks(rows: int, bins: int) -> Ints:
    """Ranks ``r*rows//bins`` at which bins of equal weight begin; int64 of shape (bins-1,)."""
    return np.array([r * rows // bins for r in range(1, bins)], dtype=np.int64)


def outer_ranks(rows: int, bins: int) -> Ints:
    """Ranks of the least and the largest value."""
    del bins
    return np.array([0, rows - 1], dtype=np.int64)


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


def equispaced_edges(counts: ValueCounts, bins: int) -> Floats:
    """Edges ``r/bins`` between 0 and 1, whatever the data.

    Returns
    -------
    float64, shape (bins-1,)

    Raises
    ------
    DataError
        A score is not a probability.
    """
    low, high = float(counts.value[0]), float(counts.value[-1])
    if low < 0 or high > 1:
        raise DataError(
            f"scores from {low:g} to {high:g}",
            expected="probabilities between 0 and 1",
            remedy="use another --binning",
        )
    return even_edges(bins)


def even_edges(bins: int) -> Floats:
    """Edges ``r/bins`` between 0 and 1; float64 of shape (bins-1,)."""
    return np.arange(1, bins, dtype=np.float64) / bins


def pava_edges(counts: ValueCounts) -> Floats:
    """Edges between the blocks of the isotonic fit of the labels on the score.

    Returns
    -------
    float64, shape (blocks-1,)
    """
    return _edges_between(counts.value, isotonic_blocks(counts.positives, counts.count))


def isotonic_counts(counts: ValueCounts) -> ValueCounts:
    """Blocks of the isotonic fit of the labels on the score, each at its first score."""
    if len(counts.value) == 0:
        return counts
    first, count, positives = isotonic_sums(counts.positives, counts.count)
    return ValueCounts(value=counts.value[first], count=count, positives=positives)


def pava_bc_edges(counts: ValueCounts, n_min: int, n_max: int) -> Floats:
    """Edges between the blocks of PAVA-BC [TCE Alg. 2, restated for ties].

    Parameters
    ----------
    n_min, n_max
        Rows a block should have at least and at most.

    Returns
    -------
    float64, shape (blocks-1,)

    Raises
    ------
    UsageError
        The bounds contradict each other or the number of rows.
    """
    if not 1 <= n_min <= counts.rows:
        raise UsageError(f"n_min is {n_min} for {counts.rows} rows", expected="1 to the number of rows")
    if n_max < n_min:
        raise UsageError(f"n_max {n_max} is below n_min {n_min}", expected="at least n_min")
    return _edges_between(counts.value, bounded_blocks(counts.positives, counts.count, n_min, n_max))


def _edges_between(value: Floats, starts: Ints) -> Floats:
    """Midpoints between blocks; the upper value where the midpoint rounds down to the lower."""
    lower, upper = value[starts[1:] - 1], value[starts[1:]]
    middle = lower / 2 + upper / 2
    exact = (lower + upper) / 2
    middle = np.where(np.isfinite(exact), exact, middle)
    edges: Floats = np.where(middle <= lower, upper, middle)
    return edges

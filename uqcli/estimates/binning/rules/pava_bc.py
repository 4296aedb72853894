"""Isotonic blocks of bounded size: PAVA-BC [TCE Alg. 2, restated for ties]."""

from __future__ import annotations

from uqcli.base.counts import Floats, ValueCounts
from uqcli.base.errors import UsageError
from uqcli.estimates.binning.edges import edges_between
from uqcli.estimates.binning.registry import BinningRule
from uqcli.kernels.pava import bounded_blocks


def pava_bc_edges(counts: ValueCounts, n_min: int, n_max: int) -> Floats:
    """Return the edges between the blocks of PAVA-BC; float64, shape (blocks-1,).

    Parameters
    ----------
    n_min, n_max
        Minimum and maximum number of rows per block.

    Raises
    ------
    UsageError
        The bounds contradict each other or the number of rows.
    """
    if not 1 <= n_min <= counts.rows:
        raise UsageError(f"n_min is {n_min} for {counts.rows} rows", expected="from 1 to the number of rows")
    if n_max < n_min:
        raise UsageError(f"n_max {n_max} is below n_min {n_min}", expected="at least n_min")
    return edges_between(counts.value, bounded_blocks(counts.positives, counts.count, n_min, n_max))


RULE = BinningRule(
    edges=lambda counts, sizes: pava_bc_edges(counts, *sizes.blocks.bounds(counts)), ranks=None
)

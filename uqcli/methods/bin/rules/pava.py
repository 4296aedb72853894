"""Isotonic blocks as bins [TCE sec. 3]."""

from __future__ import annotations

from uqcli.counts import Floats, ValueCounts
from uqcli.kernels.pava import isotonic_blocks
from uqcli.methods.bin.edges import edges_between
from uqcli.methods.bin.registry import BinningRule


def pava_edges(counts: ValueCounts) -> Floats:
    """Return the edges between the blocks of the isotonic fit of labels to scores.

    Returns
    -------
    float64, shape (blocks-1,)
    """
    return edges_between(counts.value, isotonic_blocks(counts.positives, counts.count))


RULE = BinningRule(edges=lambda counts, _: pava_edges(counts), ranks=None)

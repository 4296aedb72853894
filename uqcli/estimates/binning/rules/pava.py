"""Isotonic blocks as bins [TCE sec. 3]."""

from __future__ import annotations

from uqcli.base.counts import Floats, ValueCounts
from uqcli.estimates.binning.edges import edges_between
from uqcli.estimates.binning.registry import BinningRule
from uqcli.kernels.pava import isotonic_blocks


def pava_edges(counts: ValueCounts) -> Floats:
    """Return the edges between the blocks of the isotonic fit of labels to scores; shape (blocks-1,)."""
    return edges_between(counts.value, isotonic_blocks(counts.positives, counts.count))


RULE = BinningRule(edges=lambda counts, _: pava_edges(counts), ranks=None)

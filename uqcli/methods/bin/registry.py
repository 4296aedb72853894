"""Binnings by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from uqcli.choices import Binning
from uqcli.counts import Floats, Ints, ValueCounts
from uqcli.methods.bin.block_sizes import BlockSizes
from uqcli.methods.bin.edges import (
    equal_ranks,
    equi_span_edges,
    equi_weight_edges,
    equispaced_edges,
    outer_ranks,
    pava_bc_edges,
    pava_edges,
)


@dataclass(frozen=True, kw_only=True)
class BinSizes:
    """How many bins there should be, or how large.

    Attributes
    ----------
    bins
        Number of bins; pava and pava-bc do not look at it.
    blocks
        Rows in a bin of pava-bc.
    """

    bins: int
    blocks: BlockSizes = field(default_factory=BlockSizes)


@dataclass(frozen=True, kw_only=True)
class BinningRule:
    """How one binning cuts a line.

    Attributes
    ----------
    edges
        Edges from tie-pooled counts and sizes.
    ranks
        From the number of rows and of bins to the 0-based ranks of the values that the edges depend on; None
        where they depend on all.
    two_dimensional
        Whether it also cuts the uncertainty; if not there is one uncertainty bin.
    global_score_range
        Whether score edges are the same in every uncertainty bin.
    """

    edges: Callable[[ValueCounts, BinSizes], Floats]
    ranks: Callable[[int, int], Ints] | None
    two_dimensional: bool = False
    global_score_range: bool = False


BINNINGS: Final[Mapping[Binning, BinningRule]] = MappingProxyType(
    {
        Binning.EQUI_WEIGHT: BinningRule(
            edges=lambda counts, sizes: equi_weight_edges(counts, sizes.bins),
            ranks=equal_ranks,
            two_dimensional=True,
        ),
        Binning.EQUI_SPAN: BinningRule(
            edges=lambda counts, sizes: equi_span_edges(counts, sizes.bins),
            ranks=outer_ranks,
            two_dimensional=True,
            global_score_range=True,
        ),
        Binning.QUANTILE: BinningRule(
            edges=lambda counts, sizes: equi_weight_edges(counts, sizes.bins), ranks=equal_ranks
        ),
        Binning.PAVA: BinningRule(edges=lambda counts, _: pava_edges(counts), ranks=None),
        Binning.PAVA_BC: BinningRule(
            edges=lambda counts, sizes: pava_bc_edges(counts, *sizes.blocks.bounds(counts)), ranks=None
        ),
        Binning.EQUISPACED: BinningRule(
            edges=lambda counts, sizes: equispaced_edges(counts, sizes.bins),
            ranks=outer_ranks,
            global_score_range=True,
        ),
    }
)

"""Binnings by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from uqcli.choices import Binning
from uqcli.counts import Floats, Ints, ValueCounts
from uqcli.methods.binning.edges import (
    equi_span_edges,
    equi_weight_edges,
    equispaced_edges,
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
    n_min, n_max
        Rows in a bin of pava-bc; None means N//20 and N//5, at least 1.
    """

    bins: int
    n_min: int | None = None
    n_max: int | None = None

    def bounds(self, rows: int) -> tuple[int, int]:
        """n_min and n_max for a number of rows."""
        return (
            max(rows // 20, 1) if self.n_min is None else self.n_min,
            max(rows // 5, 1) if self.n_max is None else self.n_max,
        )


def size_notes(count: Ints, n_min: int, n_max: int) -> list[str]:
    """What to know about the sizes of pava-bc bins; count has shape (B,)."""
    notes = []
    if n_max < 2 * n_min:
        notes.append(f"n_max {n_max} is below twice n_min {n_min}: blocks cannot always be split.")
    large = [str(number + 1) for number, size in enumerate(count.tolist()) if size > n_max]
    if large:
        notes.append(f"Bins with more than {n_max} rows, by ties or forced merges: {', '.join(large)}.")
    return notes


@dataclass(frozen=True, kw_only=True)
class BinningRule:
    """How one binning cuts a line.

    Attributes
    ----------
    edges
        Edges from tie-pooled counts and sizes.
    two_dimensional
        Whether it also cuts the uncertainty; if not there is one uncertainty bin.
    global_score_range
        Whether score edges are the same in every uncertainty bin.
    """

    edges: Callable[[ValueCounts, BinSizes], Floats]
    two_dimensional: bool = False
    global_score_range: bool = False


BINNINGS: Final[Mapping[Binning, BinningRule]] = MappingProxyType(
    {
        Binning.EQUI_WEIGHT: BinningRule(
            edges=lambda counts, sizes: equi_weight_edges(counts, sizes.bins), two_dimensional=True
        ),
        Binning.EQUI_SPAN: BinningRule(
            edges=lambda counts, sizes: equi_span_edges(counts, sizes.bins),
            two_dimensional=True,
            global_score_range=True,
        ),
        Binning.QUANTILE: BinningRule(edges=lambda counts, sizes: equi_weight_edges(counts, sizes.bins)),
        Binning.PAVA: BinningRule(edges=lambda counts, _: pava_edges(counts)),
        Binning.PAVA_BC: BinningRule(
            edges=lambda counts, sizes: pava_bc_edges(counts, *sizes.bounds(counts.rows))
        ),
        Binning.EQUISPACED: BinningRule(edges=lambda counts, sizes: equispaced_edges(counts, sizes.bins)),
    }
)

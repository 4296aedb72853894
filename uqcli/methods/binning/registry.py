"""Binnings by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from uqcli.choices import Binning
from uqcli.counts import Floats, ValueCounts
from uqcli.methods.binning.edges import equi_span_edges, equi_weight_edges


@dataclass(frozen=True, kw_only=True)
class BinningRule:
    """How one binning cuts a line.

    Attributes
    ----------
    edges
        Edges from tie-pooled counts and a number of bins.
    global_score_range
        Whether score edges are the same in every uncertainty bin.
    """

    edges: Callable[[ValueCounts, int], Floats]
    global_score_range: bool


BINNINGS: Final[Mapping[Binning, BinningRule]] = MappingProxyType(
    {
        Binning.EQUI_WEIGHT: BinningRule(edges=equi_weight_edges, global_score_range=False),
        Binning.EQUI_SPAN: BinningRule(edges=equi_span_edges, global_score_range=True),
    }
)

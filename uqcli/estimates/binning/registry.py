"""Interface of a binning, and lookup by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from importlib import import_module

from uqcli.base.choices import Binning
from uqcli.base.counts import Floats, Ints, ValueCounts
from uqcli.base.records import dataclass
from uqcli.estimates.binning.block_sizes import BlockSizes


@dataclass(frozen=True, kw_only=True)
class BinSizes:
    """Number of bins, and bounds on their sizes.

    Attributes
    ----------
    bins
        Number of bins; ignored by pava and pava-bc.
    blocks
        Bounds on the rows per bin of pava-bc.
    """

    bins: int
    blocks: BlockSizes = field(default_factory=BlockSizes)


@dataclass(frozen=True, kw_only=True)
class BinningRule:
    """Rule by which a binning cuts an axis.

    Attributes
    ----------
    edges
        Function from tie-pooled counts and sizes to edges.
    ranks
        Function from the numbers of rows and bins to the 0-based ranks of the values that determine the
        edges. None if all values do.
    global_score_range
        Whether score edges are the same in every uncertainty bin.
    """

    edges: Callable[[ValueCounts, BinSizes], Floats]
    ranks: Callable[[int, int], Ints] | None
    global_score_range: bool = False


def rule_of(binning: Binning) -> BinningRule:
    """Load the rule of a binning: ``RULE`` in the module of its name.

    Examples
    --------
    >>> rule_of(Binning.EQUISPACED).global_score_range
    True
    """
    rule: BinningRule = import_module(f"uqcli.estimates.binning.rules.{binning.name.lower()}").RULE
    return rule

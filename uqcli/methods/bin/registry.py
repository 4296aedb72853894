"""What a binning is made of, and finding one by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

from uqcli.choices import Binning
from uqcli.counts import Floats, Ints, ValueCounts
from uqcli.methods.bin.block_sizes import BlockSizes


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
    global_score_range
        Whether score edges are the same in every uncertainty bin.
    """

    edges: Callable[[ValueCounts, BinSizes], Floats]
    ranks: Callable[[int, int], Ints] | None
    global_score_range: bool = False


def rule_of(binning: Binning) -> BinningRule:
    """The rule of a binning: ``RULE`` in the module of its name, loaded when it is first asked for.

    Examples
    --------
    >>> rule_of(Binning.EQUISPACED).global_score_range
    True
    """
    rule: BinningRule = import_module(f"uqcli.methods.bin.rules.{binning.name.lower()}").RULE
    return rule

"""Bins of a score or an uncertainty: sizes, edges, and the rules that make them [UB sec. 4-5, TCE sec. 3].

Default sizes of pava-bc: with the paper's N//20 and N//5, every bin keeps at least a twentieth of the rows,
and its test gains power with N. In large files the test detects the slope of the rate within a bin, and
rejects true probabilities. A bin of n rows is n/N wide and resolves sqrt(rate (1 - rate) / n), so n must grow
more slowly than N^(2/3).

Shared edges are the same in all uncertainty bins, so that adjacent bins can be merged cell by cell. Half of
them are at ranks of positive rows: with few positives, edges at ranks of all rows alone would leave most
cells without a positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isqrt
from types import MappingProxyType
from typing import Final

import numpy as np

from uqcli.base import defaults
from uqcli.base.blockwise import total
from uqcli.base.choices import Binning, BinSizing
from uqcli.base.counts import Bools, Floats, Ints, RangeCounts, ValueCounts
from uqcli.base.errors import DataError, UsageError
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.single_precision import lowered, lowered_fixed
from uqcli.base.wording import rows_of
from uqcli.kernels.pava import bounded_blocks, isotonic_blocks
from uqcli.kernels.sums import indices_of_ranks


@dataclass(frozen=True, kw_only=True)
class BinSizes:
    """Number of bins, which pava and pava-bc ignore, and bounds on the rows per bin of pava-bc.

    A bound of 0 is the default, which never contradicts the other bound. ``auto`` bounds grow with the
    square root of the rows, and are larger if positives are rare; ``paper`` bounds are N//20 and N//5.
    """

    bins: int = 1
    n_min: int = 0
    n_max: int = 0
    sizing: BinSizing = defaults.BIN_SIZES

    def bounds(self, counts: ValueCounts) -> tuple[int, int]:
        """Return the bounds n_min and n_max for these rows."""
        return self.bounds_for(counts.rows, total(counts.positives))

    def bounds_for(self, rows: int, positives: int) -> tuple[int, int]:
        """Return the bounds n_min and n_max for a number of rows and positives.

        Examples
        --------
        >>> BinSizes().bounds_for(1_000_000, 500_000), BinSizes().bounds_for(1_000, 500)
        ((2000, 8000), (50, 200))
        """
        n_min = self.n_min or max(1, self._default_min(rows, positives))
        if self.n_max:
            return self.n_min or max(1, min(n_min, self.n_max)), self.n_max
        n_max = rows // 5 if self.sizing is BinSizing.PAPER else min(rows // 5, 4 * n_min)
        return n_min, max(self.n_min or 1, n_max)

    def _default_min(self, rows: int, positives: int) -> int:
        twentieth, spread = rows // 20, positives * (rows - positives)
        if self.sizing is BinSizing.PAPER or spread == 0:
            return twentieth
        return min(twentieth, isqrt(rows**3 // spread))


@dataclass(frozen=True, kw_only=True)
class BinningRule:
    """Rule by which a binning cuts an axis: a function from tie-pooled counts and sizes to edges.

    ``ranks`` is a function from the numbers of rows and bins to the 0-based ranks of the values that
    determine the edges; None if all values do. ``global_score_range`` is whether score edges are the same in
    every uncertainty bin, and ``is_fixed`` whether they are at even distances, whatever the values.
    """

    cut: Callable[[ValueCounts, BinSizes], Floats]
    ranks: Callable[[int, int], Ints] | None
    global_score_range: bool = False
    is_fixed: bool = False

    def edges(self, counts: ValueCounts, sizes: BinSizes) -> Floats:
        """Return the edges, which cut 32-bit numbers and their texts alike."""
        move = lowered_fixed if self.is_fixed else lowered
        return move(self.cut(counts, sizes), counts.value)


def equal_ranks(rows: int, bins: int) -> Ints:
    """Return the ranks ``r*rows//bins`` at which bins of equal weight begin; int64, shape (bins-1,)."""
    return np.array([r * rows // bins for r in range(1, bins)], dtype=np.int64)


def outer_ranks(rows: int, bins: int) -> Ints:
    """Return the ranks of the smallest and the largest value."""
    del bins
    return np.array([0, rows - 1], dtype=np.int64)


def even_edges(bins: int) -> Floats:
    """Return the edges ``r/bins`` between 0 and 1; float64, shape (bins-1,)."""
    return np.arange(1, bins, dtype=np.float64) / bins


def edges_between(value: Floats, starts: Ints) -> Floats:
    """Find the midpoints between blocks of values; the upper value if the midpoint rounds down to the lower.

    Values ascend, and ``starts`` are the positions of the first value of each block.
    """
    lower, upper = value[starts[1:] - 1], value[starts[1:]]
    middle = lower / 2 + upper / 2
    exact = (lower + upper) / 2
    middle = np.where(np.isfinite(exact), exact, middle)
    edges: Floats = np.where(middle <= lower, upper, middle)
    return edges


def equi_weight_edges(counts: ValueCounts, bins: int) -> Floats:
    """Return the edges of bins with equal numbers of rows, up to ties; float64, shape (bins-1,).

    Edge r is the value of rank ``r*N//bins`` (0-based) of the N sorted rows; without ties bin sizes differ by
    at most one. Duplicate edges are kept and make empty bins.

    Examples
    --------
    >>> import numpy as np
    >>> from uqcli.base.counts import pool
    >>> rows = pool(np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(4, dtype=bool))
    >>> equi_weight_edges(rows, 2).tolist()
    [3.0]
    """
    return counts.value[indices_of_ranks(counts.count, equal_ranks(counts.rows, bins))]


def equi_span_edges(counts: ValueCounts, bins: int) -> Floats:
    """Return the edges ``min + (max-min)*(r/bins)``; float64, shape (bins-1,).

    A range that exceeds the largest double is refused.
    """
    low, high = float(counts.value[0]), float(counts.value[-1])
    span = high - low
    if not np.isfinite(span):
        raise DataError(
            f"the range from {low} to {high} is too wide for a number", remedy="rescale the column"
        )
    return low + span * (np.arange(1, bins, dtype=np.float64) / bins)


def equispaced_edges(counts: ValueCounts, bins: int) -> Floats:
    """Return the edges ``r/bins`` between 0 and 1, whatever the data; float64, shape (bins-1,).

    Scores that are no probabilities are refused.
    """
    low, high = float(counts.value[0]), float(counts.value[-1])
    if low < 0 or high > 1:
        raise DataError(
            f"scores from {low:g} to {high:g}",
            expected="probabilities between 0 and 1",
            remedy="divide them by 100 if they are percentages, or calibrate the scores first",
        )
    return even_edges(bins)


def pava_edges(counts: ValueCounts) -> Floats:
    """Return the edges between the blocks of the isotonic fit of labels to scores; shape (blocks-1,)."""
    return edges_between(counts.value, isotonic_blocks(counts.positives, counts.count))


def pava_bc_edges(counts: ValueCounts, n_min: int, n_max: int) -> Floats:
    """Return the edges between the blocks of PAVA-BC; float64, shape (blocks-1,).

    A block has ``n_min`` to ``n_max`` rows; bounds that contradict each other, or the rows, are refused.
    """
    if not 1 <= n_min <= counts.rows:
        raise UsageError(f"n_min is {n_min} for {counts.rows} rows", expected="from 1 to the number of rows")
    if n_max < n_min:
        raise UsageError(f"n_max {n_max} is below n_min {n_min}", expected="at least n_min")
    return edges_between(counts.value, bounded_blocks(counts.positives, counts.count, n_min, n_max))


def shared_edges(counts: ValueCounts, bins: int) -> Floats:
    """Return values of ranks ``r*N//h`` among all rows and ``r*P//h`` among positive ones, ``h = bins//2``.

    They ascend, and their shape is (2h-2,), or (h-1,) without positive rows. Duplicate edges are kept and
    make empty bins.

    Examples
    --------
    >>> from uqcli.base.counts import pool
    >>> rows = pool(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, False, True, True]))
    >>> shared_edges(rows, 4).tolist()
    [3.0, 4.0]
    """
    return np.sort(
        np.concatenate(
            [counts.value[_indices_at_ranks(rank_counts, bins)] for rank_counts in _all_and_positive(counts)]
        )
    )


def ranges_for_shared_edges(counts: RangeCounts, bins: int) -> Bools:
    """Return the mask of the ranges that contain these ranks; bool, shape (m,)."""
    mask = np.zeros(len(counts.value), dtype=np.bool_)
    for rank_counts in _all_and_positive(counts):
        mask[_indices_at_ranks(rank_counts, bins)] = True
    return mask


def _all_and_positive(counts: ValueCounts | RangeCounts) -> tuple[Ints, Ints]:
    return counts.count, counts.positives


def _indices_at_ranks(rank_counts: Ints, bins: int) -> Ints:
    cumulative = np.cumsum(rank_counts)
    total = int(cumulative[-1]) if len(cumulative) else 0
    ranks = equal_ranks(total, bins // 2) if total else np.empty(0, dtype=np.int64)
    return np.searchsorted(cumulative, ranks, side="right")


def size_notes(count: Ints, sizes: BinSizes, n_min: int, n_max: int) -> list[Notice]:
    """Return the notes on the sizes of pava-bc bins; count has shape (B,), and ``sizes`` are as requested."""
    notes = list[Notice]()
    if n_max < 2 * n_min:
        derived = [name for name in ("n_max", "n_min") if not getattr(sizes, name)]
        chosen = "both were" if len(derived) == 2 else f"{''.join(derived)} was"
        why = f" ({chosen} chosen for {rows_of(int(count.sum()))})" if derived else ""
        twice = f"n_max {n_max} is below twice n_min {n_min}{why}, so some bins cannot be split."
        notes.append(Notice("unlike-sizes", twice))
    large = [str(index + 1) for index, size in enumerate(count.tolist()) if size > n_max]
    if large:
        subject = f"bin {large[0]} has" if len(large) == 1 else f"bins {', '.join(large)} have"
        larger = f"{subject} more than {n_max:,} rows, because of ties or merges."
        notes.append(Notice("unlike-sizes", larger))
    return notes


_EQUAL_WEIGHT = BinningRule(
    cut=lambda counts, sizes: equi_weight_edges(counts, sizes.bins), ranks=equal_ranks
)

BINNING_RULES = {
    Binning.EQUI_WEIGHT: _EQUAL_WEIGHT,
    Binning.QUANTILE: _EQUAL_WEIGHT,  # of the score only
    Binning.EQUI_SPAN: BinningRule(
        cut=lambda counts, sizes: equi_span_edges(counts, sizes.bins),
        ranks=outer_ranks,
        global_score_range=True,
        is_fixed=True,
    ),
    Binning.EQUISPACED: BinningRule(
        cut=lambda counts, sizes: equispaced_edges(counts, sizes.bins),
        ranks=outer_ranks,
        global_score_range=True,
        is_fixed=True,
    ),
    Binning.SHARED: BinningRule(
        cut=lambda counts, sizes: shared_edges(counts, sizes.bins), ranks=equal_ranks, global_score_range=True
    ),
    Binning.PAVA: BinningRule(cut=lambda counts, _: pava_edges(counts), ranks=None),
    Binning.PAVA_BC: BinningRule(
        cut=lambda counts, sizes: pava_bc_edges(counts, *sizes.bounds(counts)), ranks=None
    ),
}
"""Rules by their binnings."""

BINNINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Binning.EQUI_WEIGHT: "each bin has the same number of rows",
        Binning.SHARED: "score edges shared by all uncertainty bins",
        Binning.EQUI_SPAN: "bins of equal width",
        Binning.PAVA_BC: "steps of an isotonic fit, with bounded sizes",
        Binning.PAVA: "steps of an isotonic fit",
        Binning.QUANTILE: "the same number of rows in each bin",
        Binning.EQUISPACED: "equal width",
    }
)
"""Binnings in words."""

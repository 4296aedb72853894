"""Count tables, the input of all algorithms except the few that need single rows.

Equal values are pooled, so they are never separated, row order has no effect, and a weight is a count. Bins
are left-closed and right-open; the last one is closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.blockwise import total
from uqcli.base.defaults import LOWEST
from uqcli.base.records import dataclass
from uqcli.base.single_precision import all_lowered, lowered, near_edges

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
"""Matrix, such as class probabilities of shape (rows, C)."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Sums = tuple[NDArray[np.int64], ...]
"""Sums of each amount that is counted beside the rows."""

Numbers = NDArray[np.generic]
"""Array of any numeric dtype."""

NarrowInts = NDArray[np.signedinteger[Any]]

FEW_EDGES = 16
"""Number of edges up to which comparing with each is faster than binary search."""

WHOLE_NUMBER: Final = re.compile(r"(-?(?:0|[1-9]\d{0,14}))(\.0)?")
"""Text of a whole number that is written without an exponent, as an integer or a floating-point number."""

FLOATING_WHOLE: Final = r"^(?:-(0)|(-?(?:0|[1-9][0-9]*)))\.0$"
"""Text of a floating-point number that is whole; its two groups together are the text of the integer."""

LOWEST_EDGE = np.array([LOWEST])
"""Lower edge of the lowest cell of every row."""


@dataclass(frozen=True, kw_only=True)
class ValueCounts:
    """Tie-pooled counts of one column, ascending in value.

    ``value`` has the distinct values, float64 of shape (m,). ``count`` and ``positives`` are the rows and
    positive rows at each, int64, with ``count > 0``. ``sums`` are those of each amount over all rows, and
    over the positive rows; int64 of shape (2, m) each.
    """

    value: Floats
    count: Ints
    positives: Ints
    sums: Sums = ()

    @property
    def amounts(self) -> Ints:
        """The sums as one array; shape (2, amounts, m)."""
        return _stacked(self.sums, len(self.count))

    @cached_property
    def rows(self) -> int:
        """Total weight."""
        return total(self.count)

    @property
    def ends(self) -> Floats:
        """Lowest and highest value; empty without values."""
        return self.value[:: max(1, len(self.value) - 1)]


@dataclass(frozen=True, kw_only=True)
class RangeCounts:
    """Counts of adjacent ranges of one column's values, ascending; a range may be a single value.

    All have shape (m,), and ``sums`` as in ``ValueCounts``. ``value`` is the lower end of each range, whose
    rows have values from here to at most ``last``, below the next range; ``count > 0``. A range is ``exact``
    if all its rows have the value of its lower end.
    """

    value: Floats
    last: Floats
    count: Ints
    positives: Ints
    exact: Bools
    sums: Sums = ()

    @classmethod
    def from_parts(cls, parts: Sequence[ValueCounts]) -> tuple[RangeCounts, ...]:
        """Convert the counts of each part and append those of all parts; each range is a single value."""
        return tuple(
            cls(
                value=counts.value,
                last=counts.value,
                count=counts.count,
                positives=counts.positives,
                exact=np.ones(len(counts.value), dtype=np.bool_),
                sums=counts.sums,
            )
            for counts in (*parts, merge(parts))
        )

    @property
    def counts(self) -> ValueCounts:
        """Value counts with every row at the lower end of its range."""
        return ValueCounts(value=self.value, count=self.count, positives=self.positives, sums=self.sums)

    @property
    def rows(self) -> int:
        """Total weight."""
        return int(self.count.sum())

    def around(self, values: Floats) -> Bools:
        """Return the mask of the ranges that may contain any of some values; bool, shape (m,)."""
        mask = np.zeros(len(self.value), dtype=np.bool_)
        stop = np.searchsorted(self.value, values, side="right")
        index, values = stop[stop > 0] - 1, values[stop > 0]
        mask[index[~(self.last[index] < values)]] = True  # the end of the last range may be NaN
        return mask

    def containing(self, ranks: Ints) -> Bools:
        """Return the mask of the ranges that contain the rows of some 0-based ranks; bool, shape (m,)."""
        mask = np.zeros(len(self.value), dtype=np.bool_)
        mask[np.searchsorted(np.cumsum(self.count), ranks, side="right")] = True
        return mask


def mask_for_all_rows(counts: Sequence[RangeCounts], mask: Bools) -> list[Bools]:
    """Return masks for counts of parts, then of all rows: ``mask`` for all rows, no range of the parts."""
    return [*(np.zeros(len(part.value), dtype=np.bool_) for part in counts[:-1]), mask]


def containing_ranks(counts: Sequence[RangeCounts], ranks: Callable[[int], Ints]) -> list[Bools]:
    """Return masks for counts of parts, then of all rows: the ranges of given ranks in each part only.

    They are exact near these values, so that edges there can be moved.
    """
    *parts, total = counts
    none = np.zeros(len(total.value), dtype=np.bool_)
    masks = [part.containing(ranks(part.rows)) if part.rows else none[:0] for part in parts]
    return [
        *(mask | part.around(near_edges(part.value[mask])) for mask, part in zip(masks, parts, strict=True)),
        none,
    ]


@dataclass(frozen=True, kw_only=True)
class CellRow:
    """The score cells of one uncertainty bin, ascending in score.

    ``lower`` is the lower score edge of each cell; the first cell also takes all lower scores, and a repeated
    edge makes an empty cell. ``lowest_positive`` is the threshold at the lowest score of a positive row in
    each cell, undefined in a cell without one, and ``below_positive`` counts the cell's rows with a lower
    score. ``scores`` are the bin's scores, exact near these thresholds. All three are None if the rows are
    not available. All but the scores have shape (cells,). ``sums`` are as in ``ValueCounts``, and
    ``sums_below``, of shape (cells,) each, those over the rows of ``below_positive``.
    """

    lower: Floats
    count: Ints
    positives: Ints
    lowest_positive: Floats | None = None
    below_positive: Ints | None = None
    scores: Floats | None = None
    sums: Sums = ()
    sums_below: Sums = ()

    @property
    def amounts(self) -> Ints:
        """The sums as one array; shape (2, amounts, cells)."""
        return _stacked(self.sums, len(self.count))

    def select(self, cells: Ints) -> CellRow:
        """Select cells by ascending indices."""
        return CellRow(
            lower=self.lower[cells],
            count=self.count[cells],
            positives=self.positives[cells],
            lowest_positive=None if self.lowest_positive is None else self.lowest_positive[cells],
            below_positive=None if self.below_positive is None else self.below_positive[cells],
            scores=self.scores,
            sums=selected_sums(self.sums, cells),
            sums_below=selected_sums(self.sums_below, cells),
        )


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Score x uncertainty table: one ``CellRow`` for each of K uncertainty bins, of any numbers of cells.

    A row with uncertainty v is in bin ``#{edges <= v}`` of the K-1 edges.
    """

    uncertainty_edges: Floats
    rows: tuple[CellRow, ...]

    @property
    def size(self) -> int:
        """Number of cells."""
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells in each uncertainty bin."""
        return tuple(len(row.count) for row in self.rows)

    @property
    def flat(self) -> tuple[Ints, Ints]:
        """Rows and positive rows of all cells, by bin, then ascending in score; int64, shape (cells,)."""
        count = np.concatenate([row.count for row in self.rows])
        return count, np.concatenate([row.positives for row in self.rows])

    @property
    def flat_sums(self) -> Ints:
        """Sums of amounts, in the order of ``flat``; int64, shape (2, amounts, cells)."""
        return np.concatenate([row.amounts for row in self.rows], axis=-1)

    def with_counts(self, count: Ints, positives: Ints) -> Cells:
        """Return a copy with other counts, in the order of ``flat``; mean amounts of cells stay the same."""
        row_ends = np.cumsum([len(row.count) for row in self.rows])[:-1]
        parts = zip(self.rows, np.split(count, row_ends), np.split(positives, row_ends), strict=True)
        rows = tuple(
            CellRow(lower=row.lower, count=n, positives=p, sums=_separate(_sums_of(row, n, p)))
            for row, n, p in parts
        )
        return Cells(uncertainty_edges=self.uncertainty_edges, rows=rows)

    def joined(self, bins: int) -> Cells:
        """Merge runs of adjacent uncertainty bins into ``bins`` bins.

        Requires the same score edges in all bins; drops the positions of positives within cells.
        """
        bins_per_run = len(self.rows) // bins
        if bins_per_run == 1:
            return self
        starts, lower = np.arange(0, len(self.rows), bins_per_run), self.rows[0].lower
        count, positives = (
            np.add.reduceat([getattr(row, name) for row in self.rows], starts)
            for name in ("count", "positives")
        )
        sums = np.add.reduceat([row.amounts for row in self.rows], starts)
        return Cells(
            uncertainty_edges=self.uncertainty_edges[bins_per_run - 1 :: bins_per_run],
            rows=tuple(
                CellRow(lower=lower, count=n, positives=p, sums=_separate(s))
                for n, p, s in zip(count, positives, sums, strict=True)
            ),
        )

    def filled(self) -> Cells:
        """Return the cells with rows; empty ones change no count and no threshold at a positive row."""
        rows = tuple(row.select(np.flatnonzero(row.count)) for row in self.rows)
        return Cells(uncertainty_edges=self.uncertainty_edges, rows=rows)

    @cached_property
    def total(self) -> int:
        """Total weight of all cells."""
        return sum(int(row.count.sum()) for row in self.rows)

    @cached_property
    def positives(self) -> int:
        """Weight of the positive rows of all cells."""
        return sum(int(row.positives.sum()) for row in self.rows)


def no_amounts(size: int) -> Ints:
    """Return the sums of no amounts, shape (2, 0, m)."""
    return np.zeros((2, 0, size), dtype=np.int64)


def _stacked(sums: Sums, size: int) -> Ints:
    return np.stack(sums, axis=1) if sums else no_amounts(size)


def _separate(sums: Ints) -> Sums:
    """Return the sums of each amount, given shape (2, amounts, m)."""
    return tuple(sums.swapaxes(0, 1))


def selected_sums(sums: Sums, rows: Ints | Bools | slice) -> Sums:
    """Select values, or cells, of the sums of each amount."""
    return tuple(amount[..., rows] for amount in sums)


def added_sums(sums: Sums, order: Ints, starts: Ints) -> Sums:
    """Add up the sums of each amount over runs of values in an order, which begin at some positions."""
    return tuple(np.add.reduceat(amount[..., order], starts, axis=-1) for amount in sums)


def _sums_of(row: CellRow, count: Ints, positives: Ints) -> Ints:
    """Estimate the sums of amounts for other counts of the same cells, from the cells' mean amounts."""
    sums = row.amounts.astype(np.float64)
    of_positives = sums[1] * (positives / np.maximum(row.positives, 1))
    negatives, old_negatives = count - positives, row.count - row.positives
    of_negatives = (sums[0] - sums[1]) * (negatives / np.maximum(old_negatives, 1))
    scaled: Ints = np.rint(np.stack([of_positives + of_negatives, of_positives])).astype(np.int64)
    return scaled


@dataclass(frozen=True, kw_only=True)
class Feature:
    """Feature column that partitions the rows, of sorted levels; None for a numeric column.

    Values are float64, of shape (n,): numbers, NaN if missing; or the index of each row's level,
    ``len(levels)`` for other texts and -1 if missing.
    """

    levels: tuple[str, ...] | None
    value: Floats

    def select(self, rows: Ints | Bools | slice) -> Feature:
        """Select rows."""
        return Feature(levels=self.levels, value=self.value[rows])


def texts_by_level(levels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the texts that name each level.

    A whole number names the same level as an integer and as a floating-point number, ``2`` and ``2.0``,
    unless both are levels: one missing value in a column of integers makes pandas write all of them as
    floating-point numbers.
    """
    known = set(levels)
    texts: dict[str, tuple[str, ...]] = {}
    for level in levels:
        match = WHOLE_NUMBER.fullmatch(level)
        other = None if match is None else match[1] if match[2] else f"{level}.0"
        texts[level] = (level,) if other is None or other in known else (level, other)
    return texts


def codes_of_texts(levels: Sequence[str]) -> dict[str, int]:
    """Return the index of the level that each text names (see ``texts_by_level``)."""
    return {text: code for code, texts in enumerate(texts_by_level(levels).values()) for text in texts}


def pool(value: Floats, positive: Bools, weight: Ints | None = None) -> ValueCounts:
    """Pool rows with equal values, which are finite without negative zeros; shape (n,).

    The weight is the multiplicity of each row; rows of weight 0 are ignored.

    Examples
    --------
    >>> counts = pool(np.array([0.7, 0.2, 0.7]), np.array([True, False, False]))
    >>> counts.value.tolist(), counts.count.tolist(), counts.positives.tolist()
    ([0.2, 0.7], [1, 2], [0, 1])
    """
    if weight is not None:
        return _pool_by_weight(value, positive, weight)
    ordered = np.sort(value)
    if (ordered[1:] > ordered[:-1]).all():  # no ties: pooling would only copy large arrays
        distinct, count = ordered, np.ones(len(ordered), dtype=np.int64)
    else:
        starts = run_starts(ordered)
        distinct, count = ordered[starts], np.diff(starts, append=len(ordered))
    index = np.searchsorted(distinct, np.sort(value[positive]))
    positives = np.bincount(index, minlength=len(distinct)).astype(np.int64, copy=False)
    return ValueCounts(value=distinct, count=count, positives=positives)


def _pool_by_weight(value: Floats, positive: Bools, weight: Ints) -> ValueCounts:
    if len(value) == 0:
        none = np.zeros(0, dtype=np.int64)
        return ValueCounts(value=value, count=none, positives=none)
    order = np.argsort(value, kind="stable")
    ordered, weight = value[order], weight[order]
    starts = run_starts(ordered)
    count = np.add.reduceat(weight, starts)
    positives = np.add.reduceat(np.where(positive[order], weight, 0), starts)
    present = count > 0
    return ValueCounts(value=ordered[starts][present], count=count[present], positives=positives[present])


def distinct_numbers(values: Ints) -> Ints:
    """Return the distinct whole numbers, ascending; ``np.unique`` hashes them, which takes far longer.

    Examples
    --------
    >>> distinct_numbers(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    return ordered[run_starts(ordered)]


def run_starts(ordered: Numbers) -> Ints:
    """Find the positions at which a sorted array changes its value."""
    is_start = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_start[1:])
    return np.flatnonzero(is_start)


def row_starts(columns: Iterable[Numbers], rows: int) -> Ints:
    """Find the positions at which any column of sorted rows changes its value."""
    is_start = np.zeros(rows, dtype=np.bool_)
    is_start[:1] = True
    for column in columns:
        is_start[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(is_start)


def distinct_rows(keys: Sequence[Numbers]) -> tuple[Ints, Ints]:
    """Return the stable order of rows by the first key, then by the others, and where in it any key changes.

    The order is ``np.lexsort(keys[::-1])``, but further keys are looked at only where the first has ties.

    Examples
    --------
    >>> order, starts = distinct_rows([np.array([2, 1, 2]), np.array([5, 0, 5])])
    >>> order.tolist(), starts.tolist()
    ([1, 0, 2], [0, 1])
    """
    first, *others = keys
    first = np.ascontiguousarray(first)  # a column of a matrix is fetched slowly
    order = np.argsort(first, kind="stable")
    ordered = first[order]
    ties = ordered[1:] == ordered[:-1]
    is_start = np.ones(len(order), dtype=np.bool_)
    is_start[1:] = ~ties
    if others and ties.any():
        tied = ~is_start
        tied[:-1] |= ties
        places = np.flatnonzero(tied)
        rows, run = order[places], np.cumsum(is_start)[places]
        order[places] = rows[np.lexsort([*(key[rows] for key in reversed(others)), run])]
        after = np.flatnonzero(ties) + 1
        rows, previous = order[after], order[after - 1]
        for key in others:
            is_start[after] |= key[rows] != key[previous]
    return order, np.flatnonzero(is_start)


def bin_of(value: Floats, edges: Floats) -> Ints:
    """Return the bin of each value: the number of edges at or below it.

    Examples
    --------
    >>> bin_of(np.array([0.1, 0.5, 0.9]), np.array([0.5])).tolist()
    [0, 1, 1]
    """
    return narrow_bins(value, edges).astype(np.int64)


def narrow_bins(value: Numbers, edges: Numbers) -> NarrowInts:
    """Return bins as ``bin_of`` does, for any dtype, in a small integer type if edges are few."""
    if len(edges) > FEW_EDGES:
        return np.searchsorted(edges, value, side="right")
    bins = np.zeros(len(value), dtype=np.int8)
    for edge in edges:
        bins += value >= edge
    return bins


def indices_by_bin(bin_index: NarrowInts, bins: int) -> Iterator[Ints]:
    """Return the ascending row indices of each bin, by comparison for few bins and by sorting for many."""
    if bins <= FEW_EDGES + 1:
        for bin_number in range(bins):
            yield np.flatnonzero(bin_index == bin_number)
        return
    narrow = bin_index.astype(np.min_scalar_type(bins), copy=False)  # numpy sorts 16-bit integers by radix
    order = np.argsort(narrow, kind="stable")
    cuts = np.searchsorted(narrow[order], np.arange(bins + 1, dtype=narrow.dtype))
    for start, stop in pairwise(cuts.tolist()):
        yield order[start:stop]


def distinct_cells(counts: ValueCounts) -> CellRow:
    """Return one cell per distinct score, which begins at the lowest number alike."""
    none_below = np.zeros(len(counts.value), dtype=np.int64)
    lower = all_lowered(counts.value)
    return CellRow(
        lower=lower,
        count=counts.count,
        positives=counts.positives,
        lowest_positive=lower,
        below_positive=none_below,
        scores=counts.value,
        sums=counts.sums,
        sums_below=tuple(np.zeros_like(amount[0]) for amount in counts.sums),
    )


def binned_cells(counts: ValueCounts, edges: Floats) -> CellRow:
    """Return the cells between L-1 ascending score edges, of which duplicates give empty cells."""
    starts = np.searchsorted(bin_of(counts.value, edges), np.arange(len(edges) + 2))
    positives = np.diff(cumulative(counts.positives)[starts])
    nonempty = np.flatnonzero(positives)
    with_positives = np.flatnonzero(counts.positives)
    lowest = with_positives[np.searchsorted(with_positives, starts[nonempty])]
    lowest_positive, below_positive = np.zeros(len(positives)), np.zeros(len(positives), dtype=np.int64)
    begins = np.concatenate([LOWEST_EDGE, edges])
    lowest_positive[nonempty] = np.maximum(lowered(counts.value[lowest], counts.value), begins[nonempty])
    before = cumulative(counts.count)
    below_positive[nonempty] = before[lowest] - before[starts[nonempty]]
    accumulated = tuple(map(cumulative, counts.sums))
    sums_below = np.zeros((len(accumulated), len(positives)), dtype=np.int64)
    for below, (amount, _) in zip(sums_below, accumulated, strict=True):
        below[nonempty] = amount[lowest] - amount[starts[nonempty]]
    return CellRow(
        lower=begins,
        count=np.diff(before[starts]),
        positives=positives,
        lowest_positive=lowest_positive,
        below_positive=below_positive,
        scores=counts.value,
        sums=tuple(np.diff(amount[..., starts], axis=-1) for amount in accumulated),
        sums_below=tuple(sums_below),
    )


def cumulative(amount: Ints) -> Ints:
    """Compute the cumulative sums along the last axis, beginning with 0."""
    start = np.zeros((*amount.shape[:-1], 1), dtype=np.int64)
    return np.concatenate([start, np.cumsum(amount, axis=-1)], axis=-1)


def merge(parts: Sequence[ValueCounts]) -> ValueCounts:
    """Merge count tables, pooling equal values."""
    value = np.concatenate([part.value for part in parts])
    order = np.argsort(value, kind="stable")
    starts = run_starts(value[order])
    count = np.concatenate([part.count for part in parts])[order]
    positives = np.concatenate([part.positives for part in parts])[order]
    sums = joined_sums([part.sums for part in parts])
    if len(order) == 0:
        return ValueCounts(value=value, count=count, positives=positives, sums=sums)
    return ValueCounts(
        value=value[order][starts],
        count=np.add.reduceat(count, starts),
        positives=np.add.reduceat(positives, starts),
        sums=added_sums(sums, order, starts),
    )


def joined_sums(parts: Iterable[Sums]) -> Sums:
    """Concatenate the sums of each amount; parts of no rows may have none."""
    return tuple(np.concatenate(amount, axis=-1) for amount in zip(*filter(None, parts), strict=True))


class PooledScores:
    """Rows by score, merged whenever the new parts outgrow the merged one: each row is sorted a few times."""

    def __init__(self) -> None:
        self.parts: list[ValueCounts] = []
        self.unmerged = 0

    def add(self, score: Floats, weight: Ints | None = None) -> None:
        """Add rows; float64 and int64, shape (n,)."""
        part = pool(score, np.zeros(len(score), dtype=np.bool_), weight)
        self.parts.append(part)
        self.unmerged += len(part.value)
        if self.unmerged > len(self.parts[0].value):
            self.counts()

    def counts(self) -> ValueCounts:
        """Return the rows so far, of which there is at least a part."""
        self.parts, self.unmerged = [merge(self.parts)], 0
        return self.parts[0]

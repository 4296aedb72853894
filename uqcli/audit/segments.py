"""Segments of rows: every value of some columns, and every pair of values of two columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Feature, Floats, Ints, bin_of
from uqcli.base.draws import hashes
from uqcli.base.records import dataclass
from uqcli.kernels.sums import indices_of_ranks

MIN_ROWS: Final = 50
"""Weight below which a segment is not tested."""

MAX_NUMBERS: Final = 10
"""Distinct numbers of a column that are values; more are cut at their quartiles."""

MISSING: Final = -1


@dataclass(frozen=True, kw_only=True)
class Values:
    """Values of a column, and that of each row.

    Attributes
    ----------
    levels
        Texts of a text column; None for numbers.
    numbers : float64, shape (m,)
        Distinct numbers, or the quartiles at which they are cut.
    is_cut
        Whether ``numbers`` are quartiles.
    index : int64, shape (n,)
        Index of each row's value: a level, a number, or the number of quartiles at or below it; MISSING for
        none.
    """

    levels: tuple[str, ...] | None
    numbers: Floats
    is_cut: bool
    index: Ints


@dataclass(frozen=True, kw_only=True)
class Division:
    """Disjoint segments by the values of one column or of two.

    Attributes
    ----------
    columns
        Indices of the columns.
    values : int64, shape (S, columns)
        Index of each segment's value in each column.
    segment : int64, shape (n,)
        Index of each row's segment; -1 for none.
    rows : int64, shape (S,)
        Weight of each segment.
    """

    columns: tuple[int, ...]
    values: Ints
    segment: Ints
    rows: Ints


def values_of(feature: Feature, weight: Ints) -> Values:
    """Return the values of a column; more than ``MAX_NUMBERS`` numbers are cut at their quartiles.

    Parameters
    ----------
    weight : int64, shape (n,)
        Positive.
    """
    value = feature.value
    none = np.empty(0)
    if feature.levels is not None:
        return Values(levels=feature.levels, numbers=none, is_cut=False, index=value.astype(np.int64))
    missing = np.isnan(value)
    numbers, inverse = np.unique(value[~missing] + 0.0, return_inverse=True)
    index = np.full(len(value), MISSING, dtype=np.int64)
    if len(numbers) <= MAX_NUMBERS:
        index[~missing] = inverse
        return Values(levels=None, numbers=numbers, is_cut=False, index=index)
    count = np.zeros(len(numbers), dtype=np.int64)
    np.add.at(count, inverse, weight[~missing])
    ranks = int(count.sum()) * np.array([1, 2, 3]) // 4
    quartiles = np.unique(numbers[indices_of_ranks(count, ranks)])
    quartiles = quartiles[quartiles > numbers[0]]
    index[~missing] = bin_of(value[~missing], quartiles)
    return Values(levels=None, numbers=quartiles, is_cut=True, index=index)


def divisions(columns: Sequence[Values], weight: Ints) -> Iterator[Division]:
    """Divide the rows by each column, then by each pair, into segments of at least ``MIN_ROWS``.

    A segment with the same rows as an earlier one is left out.

    Parameters
    ----------
    weight : int64, shape (n,)
        Positive.
    """
    seen: set[tuple[int, int]] = set()
    identity = hashes([np.arange(len(weight))])
    large = []
    for column, values in enumerate(columns):
        division = _division((column,), values.index[:, None], weight)
        large.append(np.where(division.segment >= 0, values.index, MISSING - 1))
        yield _unseen(division, identity, seen)
    for first, second in combinations(range(len(columns)), 2):
        pair = np.stack([large[first], large[second]], axis=1)
        yield _unseen(_division((first, second), pair, weight), identity, seen)


def _division(columns: tuple[int, ...], index: Ints, weight: Ints) -> Division:
    """Divide the rows by the indices of their values; rows with an index below MISSING have no segment."""
    shifted = index - MISSING
    present = (shifted >= 0).all(axis=1)
    widths = shifted.max(axis=0, initial=0) + 1
    code = np.zeros(len(index), dtype=np.int64)
    for column, width in zip(shifted.T, widths.tolist(), strict=True):
        code = code * width + column
    codes, position = _distinct(code[present], int(np.prod(widths, dtype=np.float64)))
    rows = np.zeros(len(codes), dtype=np.int64)
    np.add.at(rows, position, weight[present])
    segment = np.full(len(index), -1, dtype=np.int64)
    segment[present] = _renumbered(rows >= MIN_ROWS)[position]
    kept = codes[rows >= MIN_ROWS]
    values = np.stack(np.unravel_index(kept, tuple(widths.tolist())), axis=1).astype(np.int64) + MISSING
    return Division(columns=columns, values=values, segment=segment, rows=rows[rows >= MIN_ROWS])


def _distinct(code: Ints, stop: int) -> tuple[Ints, Ints]:
    """Return sorted codes that include all of the rows, and the position of each row's code in them.

    Few possible codes are all listed, since sorting the rows takes longer.
    """
    if stop <= max(1 << 16, 2 * len(code)):
        return np.arange(stop), code
    codes, position = np.unique(code, return_inverse=True)
    return codes, position


def _unseen(division: Division, identity: NDArray[np.uint64], seen: set[tuple[int, int]]) -> Division:
    """Keep the segments whose rows are not those of an earlier segment."""
    inside = division.segment >= 0
    digest = np.zeros(len(division.rows), dtype=np.uint64)
    np.add.at(digest, division.segment[inside], identity[inside])
    fresh = np.ones(len(division.rows), dtype=np.bool_)
    for index, key in enumerate(zip(division.rows.tolist(), digest.tolist(), strict=True)):
        fresh[index] = key not in seen
        seen.add(key)
    if fresh.all():
        return division
    segment = np.where(inside, _renumbered(fresh)[division.segment], -1)
    return Division(
        columns=division.columns, values=division.values[fresh], segment=segment, rows=division.rows[fresh]
    )


def _renumbered(kept: NDArray[np.bool_]) -> Ints:
    """Return the new index of each segment; -1 for those that are not kept."""
    return np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int64)

"""Divide keys and columns between ranges, labels and groups, and count keys by value and by range.

A key is an integer of any width.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uqcli.base.counts import Bools, Ints, NarrowInts, run_starts
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.kernels.compile import kernel_beside

Keys = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


def _pool_arrays(ordered: Keys, positive: Keys, key: Keys, count: Ints, positives: Ints) -> int:
    starts = run_starts(ordered)
    distinct = ordered[starts]
    size = len(distinct)
    count[:size] = np.diff(starts, append=len(ordered))
    positives[:size] = np.diff(np.searchsorted(positive, distinct), append=len(positive))
    key[:size] = distinct
    return size


@kernel_beside(_pool_arrays)
def pool(ordered: Keys, positive: Keys, key: Keys, count: Ints, positives: Ints) -> int:
    """Fill in the distinct keys, ascending, and how often each occurs; return their number.

    The sorted keys are those of all rows, and of the positive ones among them. Outputs are as long as the
    former; ``key`` may be the same array.
    """
    if len(ordered) == 0:
        return 0
    size = 0
    previous = ordered[0]
    for row in range(len(ordered)):
        current = ordered[row]
        size += current != previous  # a branch would take longer
        previous = current
        key[size] = current
        count[size] = row + 1
    size += 1
    positive_row = 0
    for index in range(size):
        begin = positive_row
        while positive_row < len(positive) and positive[positive_row] == key[index]:
            positive_row += 1
        positives[index] = positive_row - begin
    for index in range(size - 1, 0, -1):
        count[index] -= count[index - 1]
    return size


def _merge_arrays(
    keys: Keys,
    counts: Ints,
    positives: Ints,
    other_keys: Keys,
    other_counts: Ints,
    other_positives: Ints,
    key: Keys,
    count: Ints,
    positive_count: Ints,
) -> int:
    unsorted = np.concatenate([keys, other_keys])
    order = np.argsort(unsorted, kind="stable")
    ordered = unsorted[order]
    starts = run_starts(ordered)
    size = len(starts)
    if size:
        key[:size] = ordered[starts]
        for filled, pair in ((count, (counts, other_counts)), (positive_count, (positives, other_positives))):
            filled[:size] = np.add.reduceat(np.concatenate(pair)[order], starts)
    return size


@kernel_beside(_merge_arrays)
def merge(
    keys: Keys,
    counts: Ints,
    positives: Ints,
    other_keys: Keys,
    other_counts: Ints,
    other_positives: Ints,
    key: Keys,
    count: Ints,
    positive_count: Ints,
) -> int:
    """Add counts of two sets of distinct ascending keys; fill in the result and return its length.

    The last three arrays are outputs, as long as both inputs together.
    """
    size = 0
    row = 0
    other_row = 0
    while row < len(keys) or other_row < len(other_keys):
        takes = other_row == len(other_keys) or (row < len(keys) and keys[row] <= other_keys[other_row])
        takes_other = row == len(keys) or (other_row < len(other_keys) and other_keys[other_row] <= keys[row])
        total = 0
        positive_total = 0
        if takes_other:
            key[size] = other_keys[other_row]
            total += other_counts[other_row]
            positive_total += other_positives[other_row]
            other_row += 1
        if takes:
            key[size] = keys[row]
            total += counts[row]
            positive_total += positives[row]
            row += 1
        count[size] = total
        positive_count[size] = positive_total
        size += 1
    return size


def ranges_of(keys: Keys, low: int, shift: int, ranges: NarrowInts) -> tuple[NarrowInts, Ints]:
    """Return the range of each key, and the number of keys in each range.

    A key less ``low``, without its last ``shift`` bits, is its index in ``ranges``, which has the range of
    each index, ascending.

    Examples
    --------
    >>> ranges_of(np.array([7, 1, 3]), 1, 1, np.array([0, 1, 1, 1]))[0].tolist()
    [1, 0, 1]
    """
    index = np.empty(len(keys), dtype=ranges.dtype)
    size = np.zeros(int(ranges[-1]) + 1, dtype=np.int64)
    find_ranges.run(len(keys) // ROWS_PER_STEP, keys, low, shift, ranges, index, size)
    return index, size


def _find_arrays(keys: Keys, low: int, shift: int, ranges: NarrowInts, index: NarrowInts, size: Ints) -> None:
    above = keys.astype(np.uint64) - np.uint64(low % 2**64)
    index[:] = ranges[above >> np.uint64(shift)]
    size[:] = np.bincount(index, minlength=len(size))


@kernel_beside(_find_arrays)
def find_ranges(keys: Keys, low: int, shift: int, ranges: NarrowInts, index: NarrowInts, size: Ints) -> None:
    """Fill in the range of each key, and add to the number of keys in each range."""
    for row in range(len(keys)):
        found = ranges[np.uint64(int(keys[row]) - low) >> np.uint64(shift)]
        index[row] = found
        size[found] += 1


Column = np.ndarray[Any, np.dtype[Any]]
Flags = np.ndarray[Any, np.dtype[np.int8]]


def by_side(column: Column, positive: Bools, negatives: int) -> Column:
    """Return the values of the negative rows, then those of the positive rows, each in order.

    Examples
    --------
    >>> by_side(np.array([1, 2, 3]), np.array([True, False, True]), 1).tolist()
    [2, 1, 3]
    """
    divided = np.empty_like(column)
    divide.run(len(column) // ROWS_PER_STEP, column, positive.view(np.int8), negatives, divided)
    return divided


def _divide_arrays(column: Column, positive: Flags, negatives: int, divided: Column) -> None:
    divided[:negatives] = column[positive == 0]
    divided[negatives:] = column[positive == 1]


@kernel_beside(_divide_arrays)
def divide(column: Column, positive: Flags, negatives: int, divided: Column) -> None:
    """Fill in the values of negative rows, where ``positive`` is 0, then those of positive rows."""
    negative_row = 0
    positive_row = negatives
    for row in range(len(column)):
        flag = positive[row]
        # a branch would take longer
        divided[negative_row + (positive_row - negative_row) * flag] = column[row]
        positive_row += flag
        negative_row += 1 - flag


def by_group(column: Column, group: NarrowInts, sizes: Ints) -> Column:
    """Return the values of the rows of group 0, then those of group 1 and so on, each in order.

    Sizes are the numbers of rows of the groups.

    Examples
    --------
    >>> by_group(np.array([1, 2, 3]), np.array([1, 0, 1]), np.array([1, 2])).tolist()
    [2, 1, 3]
    """
    grouped = np.empty_like(column)
    scatter.run(len(column) // ROWS_PER_STEP, column, group, np.cumsum(sizes) - sizes, grouped)
    return grouped


def _scatter_arrays(column: Column, group: NarrowInts, _next_row: Ints, grouped: Column) -> None:
    grouped[:] = column[np.argsort(group, kind="stable")]


@kernel_beside(_scatter_arrays)
def scatter(column: Column, group: NarrowInts, next_row: Ints, grouped: Column) -> None:
    """Fill in the values by group; ``next_row`` has the first row of each group, and is changed."""
    for row in range(len(column)):
        index = group[row]
        grouped[next_row[index]] = column[row]
        next_row[index] += 1


def _part_arrays(keys: Keys, low: int, shift: int, first: Ints, fine: Ints, index: Ints) -> None:
    unsigned = unsigned_of(keys)
    offset = np.maximum(keys, keys.dtype.type(low)).view(unsigned)
    offset -= np.array(low, dtype=keys.dtype).view(unsigned)
    range_index = np.minimum(offset >> unsigned(shift), unsigned(len(first) - 1)).astype(np.int64)
    offset &= unsigned((1 << shift) - 1)
    offset >>= fine.astype(unsigned).take(range_index, mode="clip")
    np.add(first.take(range_index, mode="clip"), offset.astype(np.int64), out=index)


@kernel_beside(_part_arrays)
def assign_parts(keys: Keys, low: int, shift: int, first: Ints, fine: Ints, index: Ints) -> None:
    """Fill in the part of each key (see ``Ranges``); the last range has all beyond it.

    The first range, which begins at ``low``, has all below it too. ``shift``, at most 63, is the logarithm of
    the width of ranges; ``first`` and ``fine`` are their first parts, and logarithms of their parts' widths.
    """
    mask = np.uint64((1 << shift) - 1)
    last = np.uint64(len(first) - 1)
    for row in range(len(keys)):
        offset = np.uint64(max(keys[row], low) - low)
        range_index = min(offset >> np.uint64(shift), last)
        index[row] = first[range_index] + (np.int64(offset & mask) >> fine[range_index])


def _counted_arrays(
    keys: Keys, cuts: Ints, low: int, shift: int, first: Ints, fine: Ints, size: int, count: Ints
) -> None:
    index = np.empty(len(keys), dtype=np.int64)
    _part_arrays(keys, low, shift, first, fine, index)
    for group in range(len(cuts) - 1):
        _count_arrays(index[cuts[group] : cuts[group + 1]], count[group * size : (group + 1) * size])


@kernel_beside(_counted_arrays)
def count_parts(
    keys: Keys, cuts: Ints, low: int, shift: int, first: Ints, fine: Ints, size: int, count: Ints
) -> None:
    """Add the number of keys in each part to the counts of each group (see ``assign_parts``).

    Cuts are the start of each group, and the number of keys; ``size`` is the number of parts, and counts have
    shape (groups * size,).
    """
    mask = np.uint64((1 << shift) - 1)
    last = np.uint64(len(first) - 1)
    for group in range(len(cuts) - 1):
        for row in range(cuts[group], cuts[group + 1]):
            offset = np.uint64(max(keys[row], low) - low)
            range_index = min(offset >> np.uint64(shift), last)
            part = first[range_index] + (np.int64(offset & mask) >> fine[range_index])
            count[group * size + part] += 1


def unsigned_of(keys: Keys) -> type[np.unsignedinteger[Any]]:
    """Return the unsigned integers as wide as keys."""
    return np.uint32 if keys.dtype == np.int32 else np.uint64


def _split_arrays(keys: Keys, first: Ints, parts: Ints, start: Keys, shift: Ints, index: Ints) -> None:
    unsigned = unsigned_of(keys)
    inside = np.flatnonzero(parts[index] > 1)
    old_index = index[inside]
    index[:] = first[index]
    offset = keys[inside].view(unsigned) - start[old_index].view(unsigned)
    index[inside] += (offset >> shift[old_index].astype(unsigned)).astype(np.int64)


@kernel_beside(_split_arrays)
def assign_splits(keys: Keys, first: Ints, parts: Ints, start: Keys, shift: Ints, index: Ints) -> None:
    """Replace the range of each key by its range after a split.

    Ranges have a new index, a number of parts, their smallest key, and the logarithm of their width.
    """
    for row in range(len(keys)):
        range_index = index[row]
        index[row] = first[range_index]
        if parts[range_index] > 1:
            index[row] += np.int64(np.uint64(keys[row] - start[range_index]) >> np.uint64(shift[range_index]))


def _count_arrays(index: NarrowInts, count: Ints) -> None:
    count += np.bincount(index, minlength=len(count))


@kernel_beside(_count_arrays)
def count_rows(index: NarrowInts, count: Ints) -> None:
    """Add the number of rows at each index to the counts; unlike ``np.bincount``, beside other threads."""
    for row in range(len(index)):
        count[index[row]] += 1

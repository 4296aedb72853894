"""Assign keys to ranges, and count the rows of each range."""

from __future__ import annotations

from typing import Any

import numpy as np

from uqcli.base.counts import Ints, NarrowInts
from uqcli.kernels.compile import kernel_beside
from uqcli.kernels.pooling import Keys


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

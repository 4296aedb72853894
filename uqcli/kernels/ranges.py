"""Assign keys to ranges, and count the rows of each range."""

from __future__ import annotations

from typing import Any

import numpy as np

from uqcli.base.counts import Ints
from uqcli.kernels.compile import kernel_beside
from uqcli.kernels.pooling import Keys

Offsets = np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]


def _part_arrays(offset: Offsets, shift: int, first: Ints, fine: Ints, index: Ints) -> None:
    unsigned = offset.dtype.type
    range_index = np.minimum(offset >> unsigned(shift), unsigned(len(first) - 1)).astype(np.int64)
    inner = offset & unsigned((1 << shift) - 1)
    inner >>= fine.astype(unsigned).take(range_index, mode="clip")
    np.add(first.take(range_index, mode="clip"), inner.astype(np.int64), out=index)


@kernel_beside(_part_arrays)
def assign_parts(offset: Offsets, shift: int, first: Ints, fine: Ints, index: Ints) -> None:
    """Fill in the part of each key (see ``Ranges``); the last range has all beyond it.

    Parameters
    ----------
    offset
        Distance of each key from the first range.
    shift, first, fine
        Logarithm of the width of ranges, at most 63, their first parts, and logarithms of their parts'
        widths.
    index
        Output.
    """
    mask = (1 << shift) - 1
    last = len(first) - 1
    for row in range(len(offset)):
        range_index = np.int64(last)
        if (offset[row] >> shift) < last:
            range_index = np.int64(offset[row] >> shift)
        index[row] = first[range_index] + (np.int64(offset[row] & mask) >> fine[range_index])


def _split_arrays(keys: Keys, first: Ints, parts: Ints, start: Keys, shift: Ints, index: Ints) -> None:
    unsigned = np.uint32 if keys.dtype == np.int32 else np.uint64
    inside = np.flatnonzero(parts[index] > 1)
    old_index = index[inside]
    index[:] = first[index]
    offset = keys[inside].view(unsigned) - start[old_index].view(unsigned)
    index[inside] += (offset >> shift[old_index].astype(unsigned)).astype(np.int64)


@kernel_beside(_split_arrays)
def assign_splits(keys: Keys, first: Ints, parts: Ints, start: Keys, shift: Ints, index: Ints) -> None:
    """Replace the range of each key by its range after a split.

    Parameters
    ----------
    first, parts, start, shift
        New index of each range, its number of parts, its smallest key and the logarithm of their width.
    """
    for row in range(len(keys)):
        range_index = index[row]
        index[row] = first[range_index]
        if parts[range_index] > 1:
            index[row] += np.int64(np.uint64(keys[row] - start[range_index]) >> np.uint64(shift[range_index]))


def _count_arrays(index: Ints, count: Ints) -> None:
    count += np.bincount(index, minlength=len(count))


@kernel_beside(_count_arrays)
def count_rows(index: Ints, count: Ints) -> None:
    """Add the number of rows at each index to the counts."""
    for row in range(len(index)):
        count[index[row]] += 1

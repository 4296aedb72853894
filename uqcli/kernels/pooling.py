"""Count sorted keys in one pass; a key is an integer of any width."""

from __future__ import annotations

from typing import Any

import numpy as np

from uqcli.base.counts import Ints, run_starts
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
    """Fill in the distinct keys, ascending, and how often each occurs.

    Parameters
    ----------
    ordered, positive
        Sorted keys of all rows, and of the positive ones among them.
    key, count, positives
        Outputs, as long as ``ordered``; ``key`` may be the same array.

    Returns
    -------
    int
        Number of distinct keys.
    """
    size = 0
    row = 0
    positive_row = 0
    while row < len(ordered):
        current = ordered[row]
        begin = row
        while row < len(ordered) and ordered[row] == current:
            row += 1
        positive_begin = positive_row
        while positive_row < len(positive) and positive[positive_row] == current:
            positive_row += 1
        key[size] = current
        count[size] = row - begin
        positives[size] = positive_row - positive_begin
        size += 1
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


def _select_arrays(keys: Keys, first: int, last: int, selected: Keys) -> int:
    inside = keys[(keys >= first) & (keys <= last)]
    selected[: len(inside)] = inside
    return len(inside)


@kernel_beside(_select_arrays)
def select_between(keys: Keys, first: int, last: int, selected: Keys) -> int:
    """Copy the keys from ``first`` to ``last``, in order, and return their number.

    ``selected`` is longer than ``keys``, for the step ahead of the comparison.
    """
    size = 0
    for row in range(len(keys)):
        selected[size] = keys[row]  # a branch would take longer
        size += (first <= keys[row]) & (keys[row] <= last)
    return size

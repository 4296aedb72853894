"""Pool adjacent violators, on integer counts and on numbers."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Bools, Floats, Ints
from uqcli.kernels.compile import kernel
from uqcli.parts import PART, each_part, sums_from

_FEW, _MUCH_LESS = 1024, 0.9
"""Elements that need no pooling beforehand, and what a round of it must leave to be worth another."""

_ROUNDS = 64
"""After so many the rest is pooled one by one: a slope of small steps could need as many as it has steps."""


def isotonic_blocks(positives: Ints, count: Ints) -> Ints:
    """Blocks of the least-squares isotonic fit of ``positives / count`` with weights ``count``.

    Neighbouring blocks of equal mean are one block; means are compared as integer cross products, so
    the blocks are exact for totals below 3e9.

    Parameters
    ----------
    positives, count : int64, shape (m,)
        Counts in ascending order of score; ``count > 0``.

    Returns
    -------
    int64, shape (blocks,)
        Position of the first element of each block, ascending.
    """
    first, positives, count = _pooled_runs(positives, count)
    starts = np.empty(len(count), dtype=np.int64)
    blocks = fill_starts.run(
        4 * len(count), positives, count, starts, np.empty_like(starts), np.empty_like(starts)
    )
    return first[starts[:blocks]]


def isotonic_sums(positives: Ints, count: Ints) -> tuple[Ints, Ints, Ints]:
    """Position of the first element of each isotonic block, its count and its positives; see above."""
    first = isotonic_blocks(positives, count)
    return first, sums_from(count, first), sums_from(positives, first)


def _pooled_runs(positives: Ints, count: Ints) -> tuple[Ints, Ints, Ints]:
    """Pool neighbours that do not rise, as long as that leaves much less: they share a block anyway.

    Returns
    -------
    first, positives, count : int64, shape (blocks,)
        Position of the first element of each block, and its sums.
    """
    if len(count) > PART:
        pooled = each_part(lambda part: _pooled_runs(positives[part], count[part]), len(count))
        begins = np.repeat(PART * np.arange(len(pooled)), [len(first) for first, _, _ in pooled])
        first, positives, count = (np.concatenate(columns) for columns in zip(*pooled, strict=True))
        first += begins
    else:
        first = np.arange(len(count))
        positives, count = positives.astype(np.int64, copy=False), count.astype(np.int64, copy=False)
    before = np.inf
    while _FEW < len(count) <= _MUCH_LESS * before:
        before = len(count)
        rises = np.ones(len(count), dtype=np.bool_)
        np.less(positives[:-1] * count[1:], positives[1:] * count[:-1], out=rises[1:])
        kept = np.flatnonzero(rises)
        first = first[kept]
        positives, count = np.add.reduceat(positives, kept), np.add.reduceat(count, kept)
    return first, positives, count


@kernel
def fill_starts(positives: Ints, count: Ints, start: Ints, block_positives: Ints, block_count: Ints) -> int:
    """Fill the block stacks and return how many blocks there are."""
    blocks = 0
    for i in range(len(count)):
        start[blocks] = i
        block_positives[blocks] = positives[i]
        block_count[blocks] = count[i]
        blocks += 1
        while (
            blocks > 1
            and block_positives[blocks - 2] * block_count[blocks - 1]
            >= block_positives[blocks - 1] * block_count[blocks - 2]
        ):
            blocks -= 1
            block_positives[blocks - 1] += block_positives[blocks]
            block_count[blocks - 1] += block_count[blocks]
    return blocks


def bounded_blocks(positives: Ints, count: Ints, n_min: int, n_max: int) -> Ints:
    """Blocks of PAVA-BC, the isotonic fit whose blocks keep between n_min and n_max rows [TCE].

    Parameters
    ----------
    positives, count : int64, shape (m,)
        Tie-pooled counts in ascending order of score; ``count > 0``.
    n_min, n_max
        With ``1 <= n_min <= sum of count`` and ``n_min <= n_max``.

    Returns
    -------
    int64, shape (blocks,)
        Position of the first element of each block, ascending. A forced merge, the last elements or
        one large element may exceed n_max.
    """
    starts = np.empty(len(count), dtype=np.int64)
    stacks = np.empty_like(starts), np.empty_like(starts)
    blocks = fill_bounded_starts.run(4 * len(count), positives, count, n_min, n_max, starts, *stacks)
    return starts[:blocks].copy()


@kernel
def fill_bounded_starts(
    positives: Ints,
    count: Ints,
    n_min: int,
    n_max: int,
    start: Ints,
    block_positives: Ints,
    block_count: Ints,
) -> int:
    """Fill the block stacks and return how many blocks there are."""
    tail = len(count)
    tail_count = 0
    tail_positives = 0
    while tail > 0 and tail_count < n_min:  # held back: the fewest last elements with n_min rows
        tail -= 1
        tail_count += count[tail]
        tail_positives += positives[tail]
    blocks = 0
    for i in range(tail):
        start[blocks] = i
        block_positives[blocks] = positives[i]
        block_count[blocks] = count[i]
        blocks += 1
        while blocks > 1:
            both = block_count[blocks - 2] + block_count[blocks - 1]
            if block_count[blocks - 2] >= n_min:
                if both > n_max:
                    break
                rises = (
                    block_positives[blocks - 2] * block_count[blocks - 1]
                    < block_positives[blocks - 1] * block_count[blocks - 2]
                )
                if rises:
                    break
            blocks -= 1
            block_positives[blocks - 1] += block_positives[blocks]
            block_count[blocks - 1] = both
    if blocks > 0 and (block_count[blocks - 1] < n_min or block_count[blocks - 1] + tail_count <= n_max):
        return blocks
    start[blocks] = tail
    return blocks + 1


def isotonic_means(value: Floats, weight: Floats, begins: Bools) -> Floats:
    """Least-squares isotonic fits of rows of numbers that stand one after the other, each non-decreasing.

    Parameters
    ----------
    value, weight : float64, shape (m,)
        Weights above 0.
    begins : bool, shape (m,)
        Whether a number is the first of its row.

    Returns
    -------
    float64, shape (m,)
    """
    first, sums = np.arange(len(value)), value * weight
    for _ in range(_ROUNDS):  # many blocks at once, each a run of falling means
        mean = sums / weight
        kept = np.flatnonzero(np.concatenate([[True], (mean[:-1] <= mean[1:])]) | begins[first])
        if len(kept) == len(first):
            break
        first, sums, weight = first[kept], np.add.reduceat(sums, kept), np.add.reduceat(weight, kept)
    else:
        fitted = np.empty_like(sums)
        stacks = np.empty_like(sums), np.empty_like(sums), np.empty(len(sums), dtype=np.int64)
        fill_means.run(4 * len(sums), sums, weight, begins[first], fitted, *stacks)
        mean = fitted
    return np.repeat(mean, np.diff(first, append=len(value)))


@kernel
def fill_means(
    sums: Floats,
    weight: Floats,
    begins: Bools,
    fitted: Floats,
    block_sum: Floats,
    block_weight: Floats,
    start: Ints,
) -> None:
    """Fill in the mean of each element's block."""
    blocks = 0
    for i in range(len(sums)):
        start[blocks] = i
        block_sum[blocks] = sums[i]
        block_weight[blocks] = weight[i]
        blocks += 1
        while (
            blocks > 1
            and not begins[start[blocks - 1]]
            and block_sum[blocks - 2] / block_weight[blocks - 2]
            > block_sum[blocks - 1] / block_weight[blocks - 1]
        ):
            blocks -= 1
            block_sum[blocks - 1] += block_sum[blocks]
            block_weight[blocks - 1] += block_weight[blocks]
    for block in range(blocks):
        end = start[block + 1] if block + 1 < blocks else len(sums)
        for i in range(start[block], end):
            fitted[i] = block_sum[block] / block_weight[block]

"""Pool adjacent violators (PAVA) on counts and on floats; isotonic fits with one more positive row."""

from __future__ import annotations

import numpy as np

from uqcli.base.blockwise import each_slice, parts
from uqcli.base.counts import Floats, Ints
from uqcli.base.defaults import UNCOMPILED_WORK
from uqcli.kernels.compile import kernel
from uqcli.kernels.sums import sums_from

_MIN_SIZE, _MAX_RATIO = 1024, 0.9
"""Size below which pre-pooling is skipped, and the largest ratio of sizes that justifies another round."""

_MAX_SIZE = 1 << 20
"""Size of the ranges that threads pool first."""

_STEPS = 4
"""Steps of a kernel per element."""

_MIN_ROWS = 16
"""Number of rows from which all are pooled together, step by step."""


def isotonic_blocks(positives: Ints, count: Ints) -> Ints:
    """Return the blocks of the least-squares isotonic fit of ``positives / count`` with weights ``count``.

    Counts are in ascending order of score and above 0. Blocks are the positions of their first elements,
    ascending. Adjacent blocks of equal mean are merged. Means are compared as integer cross products, so the
    blocks are exact for totals below 3e9.
    """
    first: Ints | None = None
    if len(count) > _MAX_SIZE:  # the blocks of ranges are inside those of all

        def blocks_of(part: slice) -> Ints:
            inside: Ints = isotonic_blocks(positives[part], count[part]) + part.start
            return inside

        first = np.concatenate(each_slice(blocks_of, parts(len(count), _MAX_SIZE)))
        positives, count = sums_from(positives, first), sums_from(count, first)
    elif _STEPS * len(count) <= UNCOMPILED_WORK:  # machine code needs no help
        first, positives, count = _pooled_runs(positives, count)
    starts = np.empty(len(count), dtype=np.int64)
    stacks = np.empty_like(starts), np.empty_like(starts)
    blocks = fill_starts.run(_STEPS * len(count), positives, count, starts, *stacks)
    return starts[:blocks].copy() if first is None else first[starts[:blocks]]


def isotonic_sums(positives: Ints, count: Ints) -> tuple[Ints, Ints, Ints]:
    """Find the first position, count and positives of each isotonic block; see ``isotonic_blocks``."""
    first = isotonic_blocks(positives, count)
    return first, sums_from(count, first), sums_from(positives, first)


def _pooled_runs(positives: Ints, count: Ints) -> tuple[Ints, Ints, Ints]:
    """Merge adjacent elements that do not increase, which share a block, while rounds still shrink the input.

    Returns the first position of each block, and its sums.
    """
    first = np.arange(len(count))
    positives, count = positives.astype(np.int64, copy=False), count.astype(np.int64, copy=False)
    before = np.inf
    while _MIN_SIZE < len(count) <= _MAX_RATIO * before:
        before = len(count)
        rises = np.ones(len(count), dtype=np.bool_)
        np.less(positives[:-1] * count[1:], positives[1:] * count[:-1], out=rises[1:])
        starts = np.flatnonzero(rises)
        first = first[starts]
        positives, count = np.add.reduceat(positives, starts), np.add.reduceat(count, starts)
    return first, positives, count


@kernel
def fill_starts(positives: Ints, count: Ints, start: Ints, block_positives: Ints, block_count: Ints) -> int:
    """Fill the block stacks and return the number of blocks."""
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
    """Return the blocks of PAVA-BC, isotonic regression with block sizes between n_min and n_max rows [TCE].

    Counts are as in ``isotonic_blocks``, and so are the blocks, with ``1 <= n_min <= sum of count`` and
    ``n_min <= n_max``. A block may exceed n_max after a forced merge, with the last elements, or with one
    large element.
    """
    starts = np.empty(len(count), dtype=np.int64)
    stacks = np.empty_like(starts), np.empty_like(starts)
    blocks = fill_bounded_starts.run(_STEPS * len(count), positives, count, n_min, n_max, starts, *stacks)
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
    """Fill the block stacks and return the number of blocks."""
    tail = len(count)
    tail_count = 0
    tail_positives = 0
    while tail > 0 and tail_count < n_min:  # the shortest tail with n_min rows is held back
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
            merged = block_count[blocks - 2] + block_count[blocks - 1]
            if block_count[blocks - 2] >= n_min:
                if merged > n_max:
                    break
                rises = (
                    block_positives[blocks - 2] * block_count[blocks - 1]
                    < block_positives[blocks - 1] * block_count[blocks - 2]
                )
                if rises:
                    break
            blocks -= 1
            block_positives[blocks - 1] += block_positives[blocks]
            block_count[blocks - 1] = merged
    if blocks > 0 and (block_count[blocks - 1] < n_min or block_count[blocks - 1] + tail_count <= n_max):
        return blocks
    start[blocks] = tail
    return blocks + 1


def isotonic_means(value: Floats, weight: Floats) -> Floats:
    """Return the least-squares isotonic fit of each row of a matrix, non-decreasing, for weights above 0."""
    if len(value) >= _MIN_ROWS:
        return _means_of_rows(value, weight)
    fitted = np.empty_like(value)
    for fitted_row, row_values, row_weights in zip(fitted, value, weight, strict=True):
        stacks = (
            np.empty_like(row_values),
            np.empty_like(row_values),
            np.empty(len(row_values), dtype=np.int64),
        )
        fill_means.run(4 * len(row_values), row_values, row_weights, fitted_row, *stacks)
    return fitted


def _means_of_rows(value: Floats, weight: Floats) -> Floats:
    """Run ``fill_means`` vectorised: one step of all rows at a time."""
    rows, size = value.shape
    base = np.arange(rows) * (size + 1)  # sentinel below the first block of each row, never merged
    sums, total, mean = (np.zeros(rows * (size + 1)) for _ in range(3))
    start = np.zeros(rows * (size + 1), dtype=np.int64)
    mean[base] = -np.inf
    top = base.copy()
    for column in range(size):
        top += 1
        start[top], total[top] = column, weight[:, column]
        sums[top] = value[:, column] * weight[:, column]
        mean[top] = sums[top] / total[top]
        falls = np.flatnonzero(mean[top - 1] > mean[top])
        while len(falls):
            last = top[falls]
            below = last - 1
            sums[below] += sums[last]
            total[below] += total[last]
            mean[below] = sums[below] / total[below]
            top[falls] = below
            falls = falls[mean[below - 1] > mean[below]]
    blocks = np.repeat(base + 1, top - base) + _ranges_below(top - base)
    begins = start[blocks] + np.repeat(np.arange(rows) * size, top - base)
    return np.repeat(mean[blocks], np.diff(begins, append=rows * size)).reshape(rows, size)


def _ranges_below(sizes: Ints) -> Ints:
    """Concatenate the ranges 0, 1, ... below each size."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


@kernel
def fill_means(
    value: Floats, weight: Floats, fitted: Floats, block_sum: Floats, block_weight: Floats, start: Ints
) -> None:
    """Fill in the block mean of each element."""
    blocks = 0
    for i in range(len(value)):
        start[blocks] = i
        block_sum[blocks] = value[i] * weight[i]
        block_weight[blocks] = weight[i]
        blocks += 1
        while (
            blocks > 1
            and block_sum[blocks - 2] / block_weight[blocks - 2]
            > block_sum[blocks - 1] / block_weight[blocks - 1]
        ):
            blocks -= 1
            block_sum[blocks - 1] += block_sum[blocks]
            block_weight[blocks - 1] += block_weight[blocks]
    for block in range(blocks):
        stop = start[block + 1] if block + 1 < blocks else len(value)
        for i in range(start[block], stop):
            fitted[i] = block_sum[block] / block_weight[block]


def fits_with_one_more(count: Ints, positives: Ints) -> tuple[Floats, Floats]:
    """Compute the isotonic fit at each score if one more row has that score, by the label of that row.

    Counts are in ascending order of score and above 0. Fits are exact fractions, rounded once.
    """
    dy, dx = _if_positive(count, positives)
    mirrored_dy, mirrored_dx = (
        part[::-1] for part in _if_positive(count[::-1], count[::-1] - positives[::-1])
    )
    return (mirrored_dx - mirrored_dy) / mirrored_dx, dy / dx


def _if_positive(count: Ints, positives: Ints) -> tuple[Ints, Ints]:
    x, y = (np.concatenate([[0], np.cumsum(part, dtype=np.int64)]) for part in (count, positives))
    rise, run, hull = (np.empty(len(count), dtype=np.int64) for _ in range(3))
    fill_fits.run(8 * len(count), x, y, hull, rise, run)
    return rise, run


@kernel
def fill_fits(x: Ints, y: Ints, hull: Ints, rise: Ints, run: Ints) -> None:
    """Fill in the fit at each score as a fraction, ``rise / run``.

    The fit is the slope of the lower hull of the cumulative sums (x, y). A positive row at score i moves all
    points below i by (-1, -1). So it is the slope of the line that touches both the moved points below i and
    the points from i on. ``hull`` holds the vertices of the latter, the first on top.
    """
    size = len(rise)
    top = -1
    for i in range(size, 0, -1):
        while top > 0 and (y[hull[top]] - y[i]) * (x[hull[top - 1]] - x[i]) >= (y[hull[top - 1]] - y[i]) * (
            x[hull[top]] - x[i]
        ):
            top -= 1
        top += 1
        hull[top] = i
    left_x = -1
    left_y = -1
    for i in range(1, size + 1):
        while top > 0 and (y[hull[top]] - left_y) * (x[hull[top - 1]] - left_x) >= (
            y[hull[top - 1]] - left_y
        ) * (x[hull[top]] - left_x):
            top -= 1
        up = y[hull[top]] - left_y
        along = x[hull[top]] - left_x
        rise[i - 1] = up
        run[i - 1] = along
        moved_x = x[i] - 1
        moved_y = y[i] - 1
        if (moved_y - left_y) * along <= up * (moved_x - left_x):
            left_x = moved_x
            left_y = moved_y
        if hull[top] == i:
            top -= 1

"""Exact sums of counts up to positions, positions of ranks, and extremes of running sums, in threads.

numpy's cumulative sums hold Python's global lock, so threads that use them wait for each other.
"""

from __future__ import annotations

import numpy as np

from uqcli.base.blockwise import (
    COUNTS_PER_PART,
    VALUES_PER_PART,
    Counts,
    each_part,
    each_slice,
    parts,
    totals,
    values_per_task,
)
from uqcli.base.counts import Floats, Ints, ValueCounts
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.kernels.compile import kernel_beside


def sums_before(amount: Counts, stops: Ints) -> Ints:
    """Compute the exact sums of the first ``stops[i]`` counts; stops ascend, from 0 to the number of counts.

    Examples
    --------
    >>> sums_before(np.array([3, 1, 2]), np.array([0, 1, 3])).tolist()
    [0, 3, 6]
    """

    def within(part: slice) -> tuple[int, Ints]:
        # a stop at the end of a part belongs to this part, not to the next
        first, last = stops.searchsorted([part.start, part.stop], side="right")
        sums = np.empty(last - first, dtype=np.int64)
        size = part.stop - part.start
        return running_sums.run(
            size // ROWS_PER_STEP, amount[part], stops[first:last] - part.start, sums
        ), sums

    sums = np.zeros(len(stops), dtype=np.int64)
    filled, total = int(stops.searchsorted(0, side="right")), 0
    for part_total, inside in each_part(within, len(amount), COUNTS_PER_PART):
        sums[filled : filled + len(inside)] = inside + total
        filled += len(inside)
        total += part_total
    return sums


def _running_arrays(amount: Counts, stops: Ints, sums: Ints) -> int:
    running = np.concatenate([[0], np.cumsum(amount, dtype=np.int64)])
    sums[:] = running[stops]
    return int(running[-1])


@kernel_beside(_running_arrays)
def running_sums(amount: Counts, stops: Ints, sums: Ints) -> int:
    """Fill in the sums of the first ``stops[i]`` counts, ascending, and return the sum of all."""
    total = 0
    begin = 0
    for index in range(len(stops)):
        for row in range(begin, stops[index]):
            total += amount[row]
        begin = stops[index]
        sums[index] = total
    for row in range(begin, len(amount)):
        total += amount[row]
    return total


def sums_from(amount: Counts, first: Ints) -> Ints:
    """Compute the exact sums from each of some strictly ascending positions to the next, or to the end.

    Examples
    --------
    >>> sums_from(np.array([3, 1, 2]), np.array([0, 1])).tolist()
    [3, 3]
    """
    return np.diff(sums_before(amount, np.append(first, len(amount))))


def indices_of_ranks(amount: Counts, rank: Ints) -> Ints:
    """Find the positions of the rows of given ranks, where position i holds ``amount[i]`` rows.

    Ranks ascend, from 0 and below the sum of the amounts.

    Examples
    --------
    >>> indices_of_ranks(np.array([3, 1, 2]), np.array([0, 3, 5])).tolist()
    [0, 1, 2]
    """
    before = np.cumsum([0, *totals(amount)])
    cuts = np.searchsorted(rank, before)
    indices = np.empty(len(rank), dtype=np.int64)

    def within(part: slice) -> None:
        index = part.start // COUNTS_PER_PART
        inside = slice(cuts[index], cuts[index + 1])
        work = (part.stop - part.start) // ROWS_PER_STEP
        ranked.run(work, amount[part], rank[inside] - before[index], part.start, indices[inside])

    slices = parts(len(amount), COUNTS_PER_PART)
    each_slice(within, [slices[index] for index in np.flatnonzero(np.diff(cuts)).tolist()])
    return indices


def _ranked_arrays(amount: Counts, rank: Ints, first: int, index: Ints) -> None:
    index[:] = first + np.searchsorted(np.cumsum(amount, dtype=np.int64), rank, side="right")


@kernel_beside(_ranked_arrays)
def ranked(amount: Counts, rank: Ints, first: int, index: Ints) -> None:
    """Fill in the positions, from ``first`` on, of the rows of ascending ranks."""
    row = 0
    through = amount[0] + 0
    for place in range(len(rank)):
        while through <= rank[place]:
            row += 1
            through += amount[row]
        index[place] = first + row


def running_extremes(counts: ValueCounts) -> tuple[float, float]:
    """Find the highest and the lowest sum of label - value over the rows up to a value, 0 among them."""

    def extremes(values: slice) -> list[float]:
        size = values.stop - values.start
        found = np.empty(3 * len(parts(size)))
        arguments = counts.value[values], counts.count[values], counts.positives[values]
        residuals.run(size // ROWS_PER_STEP, *arguments, VALUES_PER_PART, found)
        numbers: list[float] = found.tolist()
        return numbers

    highest = lowest = offset = 0.0
    for numbers in each_part(extremes, len(counts.value), values_per_task()):
        for greatest, least, last in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
            # rounding is monotone: the maximum of a part stays its maximum after the offset is added
            highest, lowest = max(highest, offset + greatest), min(lowest, offset + least)
            offset += last
    return highest, lowest


def _residual_arrays(value: Floats, count: Counts, positives: Counts, size: int, found: Floats) -> None:
    for index, part in enumerate(parts(len(value), size)):
        running = np.cumsum(positives[part] - count[part] * value[part])
        found[3 * index : 3 * index + 3] = running.max(), running.min(), running[-1]


@kernel_beside(_residual_arrays)
def residuals(value: Floats, count: Counts, positives: Counts, size: int, found: Floats) -> None:
    """Fill in the highest, the lowest and the last running sum of ``positives - count * value``.

    They are those of each part of ``size`` values, one part after the other.
    """
    for index in range(len(found) // 3):
        first = index * size
        running = positives[first] - count[first] * value[first]
        highest = running
        lowest = running
        for row in range(first + 1, min(first + size, len(value))):
            running += positives[row] - count[row] * value[row]
            highest = max(highest, running)
            lowest = min(lowest, running)
        found[3 * index] = highest
        found[3 * index + 1] = lowest
        found[3 * index + 2] = running

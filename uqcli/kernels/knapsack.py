"""Multiple-choice knapsack by a table over the total value, and the frontier of recall over bins."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Ints
from uqcli.kernels.compile import kernel


def choose_by_table(  # noqa: PLR0912  one function, since a kernel calls none
    value: Ints, surplus: Ints, sizes: Ints, bounds: Ints, table: Ints, chosen: Ints
) -> None:
    """Fill in the best option of each class: highest total value, highest total surplus, lowest options.

    Parameters
    ----------
    value : int64, shape (options,)
        Values by class; non-decreasing in a class, and 0 for its first option.
    surplus : int64, shape (problems, options)
        Surplus in each problem; non-increasing among options of equal value in a class.
    sizes : int64, shape (classes,)
        Number of options of each class.
    bounds : int64, shape (problems, bounds, 3)
        A choice is feasible iff ``a * its value + b * its surplus + c`` is non-negative for all (a, b, c); b
        is positive, or all three are 0.
    table : int64, shape ((classes + 1) * (highest total value + 1),)
        Memory for the highest surplus of the classes from each one on, at each total value.
    chosen : int64, shape (problems, classes)
        Output.
    """
    none = -(2**63)
    width = len(table) // (len(sizes) + 1)
    for problem in range(len(surplus)):
        for cell in range(len(table)):
            table[cell] = none
        here = len(sizes) * width
        table[here] = 0
        highest = 0
        end = len(value)
        for class_index in range(len(sizes) - 1, -1, -1):
            later = here
            here -= width
            start = end - sizes[class_index]
            for i in range(start, end):
                if i > start and value[i] == value[i - 1]:
                    continue
                for total in range(highest + 1):
                    rest = table[later + total]
                    if rest != none and rest + surplus[problem, i] > table[here + total + value[i]]:
                        table[here + total + value[i]] = rest + surplus[problem, i]
            highest += value[end - 1]
            end = start
        total = highest
        while total > 0:
            feasible = table[total] != none
            for i in range(bounds.shape[1]):
                if feasible:
                    left = bounds[problem, i, 0] * total + bounds[problem, i, 1] * table[total]
                    feasible = left + bounds[problem, i, 2] >= 0
            if feasible:
                break
            total -= 1
        for class_index in range(len(sizes)):
            later = here + width
            option = end
            while (
                value[option] > total
                or table[later + total - value[option]] == none
                or table[later + total - value[option]] + surplus[problem, option] != table[here + total]
            ):
                option += 1
            chosen[problem, class_index] = option - end
            total -= value[option]
            end += sizes[class_index]
            here = later


def bin_frontier(gains: Ints) -> Ints:
    """Find how many bins each row takes in the best boundary, for every total number of bins.

    Gains, of shape (K, L+1), are those of the j highest bins of each row; column 0 is 0. Column m of the
    result, int32 of shape (K, K*L+1), has the bins taken by each row; they add up to m. Among equal gains a
    row takes as few bins as possible, later rows first.
    """
    rows, width = gains.shape
    bins = width - 1
    total = np.zeros(rows * bins + 1, dtype=np.int64)
    choices = np.zeros((rows, rows * bins + 1), dtype=np.int32)
    work = width * (rows * (rows - 1) // 2 * bins + rows)  # iterations of the inner loop
    max_plus_convolution.run(work, np.ascontiguousarray(gains), total, np.empty_like(total), choices)
    chosen = np.empty((rows, rows * bins + 1), dtype=np.int32)
    remaining = np.arange(rows * bins + 1)
    for row in range(rows - 1, -1, -1):
        chosen[row] = choices[row, remaining]
        remaining = remaining - chosen[row]
    return chosen


@kernel
def max_plus_convolution(
    gains: Ints, total: Ints, previous: Ints, choices: np.ndarray[tuple[int, int], np.dtype[np.int32]]
) -> None:
    """Fill, row by row, the best total for every number of bins and the bins that the row takes for it."""
    rows, width = gains.shape
    bins = width - 1
    reach = 0
    for row in range(rows):
        for m in range(reach + 1):
            previous[m] = total[m]
        for m in range(reach + bins + 1):
            total[m] = -(2**62)
        for j in range(width):
            gain = gains[row, j]
            for m in range(reach + 1):
                candidate = previous[m] + gain
                if candidate > total[m + j]:
                    total[m + j] = candidate
                    choices[row, m + j] = j
        reach += bins

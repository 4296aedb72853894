"""Multiple-choice knapsack by a table over the total value."""

from __future__ import annotations

from uqcli.base.counts import Ints


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

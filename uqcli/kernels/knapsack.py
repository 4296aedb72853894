"""Multiple-choice knapsack by a table over the total value."""

from __future__ import annotations

from uqcli.base.counts import Ints


def choose_by_table(value: Ints, surplus: Ints, sizes: Ints, table: Ints, chosen: Ints) -> None:
    """Fill in the best option of each class: highest total value, highest total surplus, lowest options.

    Parameters
    ----------
    value, surplus : int64, shape (options,)
        Options by class; the value is non-decreasing in a class, and the surplus non-increasing among options
        of equal value. The first option of each class has value 0.
    sizes, chosen : int64, shape (classes,)
        Number of options of each class, and the output.
    table : int64, shape ((classes + 1) * (highest total value + 1),)
        Memory for the highest surplus of the classes from each one on, at each total value.
    """
    none = -(2**63)
    width = len(table) // (len(sizes) + 1)
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
                if rest != none and rest + surplus[i] > table[here + total + value[i]]:
                    table[here + total + value[i]] = rest + surplus[i]
        highest += value[end - 1]
        end = start
    total = highest
    while total > 0 and table[total] < 0:
        total -= 1
    for class_index in range(len(sizes)):
        later = here + width
        option = 0
        while (
            value[end + option] > total
            or table[later + total - value[end + option]] == none
            or table[later + total - value[end + option]] + surplus[end + option] != table[here + total]
        ):
            option += 1
        chosen[class_index] = option
        total -= value[end + option]
        end += sizes[class_index]
        here = later

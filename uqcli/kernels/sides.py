"""Divide a column between negative and positive rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from uqcli.base.counts import Bools, Ints, NarrowInts
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.kernels.compile import kernel_beside

Column = np.ndarray[Any, np.dtype[Any]]
Flags = np.ndarray[Any, np.dtype[np.int8]]


def by_side(column: Column, positive: Bools, negatives: int) -> Column:
    """Return the values of the negative rows, then those of the positive rows, each in order.

    Parameters
    ----------
    column : shape (n,)
    positive : bool, shape (n,)
    negatives
        Number of negative rows.

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

    Parameters
    ----------
    column, group : shape (n,)
    sizes : int64, shape (groups,)
        Rows of each group.

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

"""Weighted sums over the neighbours of each position, in one order of summation on every platform."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints, Matrix
from uqcli.kernels.compile import kernel_beside

_BLOCK: Final = 8
"""Amounts that are added at once: of two sums, even and odd ones, each from the last to the first.

The rest, less than a block, is added from the first to the last.
"""


_PRODUCTS_PER_STEP: Final = 1000
"""Products that numpy adds up in the time of a loop step of Python."""


def weighted_sums(weights: Matrix, which: Ints, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the sums of amounts over all positions, weighted by their distance.

    Weights, shape (kinds, 2n - 1), are by distance, from the farthest below to the farthest above. Amounts
    have shape (tables, ..., n), as have the sums; ``which`` has the weights of each table.
    """
    size = amounts.shape[-1]
    rows = amounts.size // max(1, len(amounts) * size)  # of a table
    flat = amounts.reshape(-1, size)
    sums = np.empty_like(flat)
    scratch = np.empty((2, size))
    steps = flat.size * size // _PRODUCTS_PER_STEP
    add_neighbours.run(steps, weights, np.repeat(which, rows), flat, sums, scratch)
    return sums.reshape(amounts.shape)


def _add_neighbours(weights: Matrix, which: Ints, amounts: Matrix, sums: Matrix, scratch: Floats) -> None:
    """Do the same with array functions."""
    del scratch
    add = _einsum if _einsum_is_alike() else _matrices
    add(weights, which, amounts, sums)


@cache
def _einsum_is_alike() -> bool:
    """Whether numpy adds products in this order, as it does on processors that round each product."""
    weights, amounts = np.sqrt(np.arange(1.0, 38.0))[np.newaxis], np.sqrt(np.arange(2.0, 21.0))[np.newaxis]
    which, (found, expected) = np.zeros(1, dtype=np.int64), np.empty((2, *amounts.shape))
    _einsum(weights, which, amounts, found)
    _matrices(weights, which, amounts, expected)
    return np.array_equal(found, expected)


def _einsum(weights: Matrix, which: Ints, amounts: Matrix, sums: Matrix) -> None:
    windows = np.lib.stride_tricks.sliding_window_view(weights, amounts.shape[1], axis=1)[:, ::-1]
    for table, kind in enumerate(which.tolist()):
        np.einsum("ij,j->i", windows[kind], amounts[table], out=sums[table])


def _matrices(weights: Matrix, which: Ints, amounts: Matrix, sums: Matrix) -> None:
    """Add matrices one after another, in the order of the kernel."""
    size = amounts.shape[1]
    places = np.arange(size + size % 2).reshape(-1, 2)
    whole = size // _BLOCK * (_BLOCK // 2)
    blocks = places[:whole].reshape(-1, _BLOCK // 2, 2)[:, ::-1].reshape(-1, 2)
    order = np.concatenate([blocks, places[whole:]])[:, np.newaxis]
    padded = np.pad(weights, ((0, 0), (0, size % 2)))
    matrices = padded[:, order + np.arange(size - 1, -1, -1)[:, np.newaxis]]
    amounts = np.pad(amounts, ((0, 0), (0, size % 2)))
    for table, kind in enumerate(which.tolist()):
        np.sum(np.add.reduce(matrices[kind] * amounts[table][order], axis=0), axis=1, out=sums[table])


@kernel_beside(_add_neighbours)
def add_neighbours(weights: Matrix, which: Ints, amounts: Matrix, sums: Matrix, scratch: Matrix) -> None:
    """Fill the sums. Unsigned positions are never negative, so that the inner loops need no check for it."""
    size = amounts.shape[1]
    blocks = size // 8
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    five, six, seven, length = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(size)
    for table in range(len(amounts)):
        kind = which[table]
        for position in range(length):
            scratch[0, position] = 0.0
            scratch[1, position] = 0.0
        for block in range(blocks):
            first = 8 * block
            start = np.uint64(first)
            a0, a1 = amounts[table, first], amounts[table, first + 1]
            a2, a3 = amounts[table, first + 2], amounts[table, first + 3]
            a4, a5 = amounts[table, first + 4], amounts[table, first + 5]
            a6, a7 = amounts[table, first + 6], amounts[table, first + 7]
            for position in range(length):
                place = start + position
                even = scratch[0, position] + weights[kind, place + six] * a6
                odd = scratch[1, position] + weights[kind, place + seven] * a7
                even += weights[kind, place + four] * a4
                odd += weights[kind, place + five] * a5
                even += weights[kind, place + two] * a2
                odd += weights[kind, place + three] * a3
                scratch[0, position] = even + weights[kind, place] * a0
                scratch[1, position] = odd + weights[kind, place + one] * a1
        for other in range(8 * blocks, size):
            amount, start, side = amounts[table, other], np.uint64(other), other % 2
            for position in range(length):
                scratch[side, position] += weights[kind, start + position] * amount
        for position in range(length):
            sums[table, length - one - position] = scratch[0, position] + scratch[1, position]

"""Hash pairs of numbers, and keep the lowest hashes (see uqcli.base.draws.hashes)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.base.draws import hashes
from uqcli.kernels.compile import kernel_beside

Hashes = NDArray[np.uint64]


def low_hashes(first: Floats, second: Floats, limit: Hashes) -> Hashes:
    """Return, in order, the hashes of pairs that are at most ``limit``, an array of one hash."""
    bits, second_bits = (column.astype(np.float64, copy=False).view(np.uint64) for column in (first, second))
    low = np.empty(len(first), dtype=np.uint64)
    size = select_low.run(len(first) // ROWS_PER_STEP, bits, second_bits, limit, low)
    return low[:size].copy()


def _select_low_arrays(first: Hashes, second: Hashes, limit: Hashes, low: Hashes) -> int:
    all_hashes = hashes([first.view(np.float64), second.view(np.float64)])
    inside = all_hashes[all_hashes <= limit]
    low[: len(inside)] = inside
    return len(inside)


@kernel_beside(_select_low_arrays)
def select_low(first: Hashes, second: Hashes, limit: Hashes, low: Hashes) -> int:
    """Fill in the hashes of pairs of 64 bits that are at most ``limit[0]``, and return their number.

    ``low`` is as long as the pairs. The arithmetic is modulo 2**64.
    """
    size = 0
    for row in range(len(first)):
        mixed = first[row] + 0x9E3779B97F4A7C15
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB
        mixed = (mixed ^ (mixed >> 31) ^ second[row]) + 0x9E3779B97F4A7C15
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB
        low[row] = mixed ^ (mixed >> 31)
    for row in range(len(first)):  # apart, so that hashes are computed several at once
        low[size] = low[row]
        size += low[row] <= limit[0]
    return size

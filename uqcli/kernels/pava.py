"""Pool adjacent violators on integer counts."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Ints
from uqcli.kernels.compile import kernel


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
    starts = np.empty(len(count), dtype=np.int64)
    blocks = _pava.run(4 * len(count), positives, count, starts, np.empty_like(starts), np.empty_like(starts))
    return starts[:blocks].copy()


@kernel
def _pava(positives: Ints, count: Ints, start: Ints, block_positives: Ints, block_count: Ints) -> int:
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

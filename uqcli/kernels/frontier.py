"""Recall frontier over the number of flagged bins: max-plus convolution of the rows' top runs."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Ints
from uqcli.kernels.compile import kernel


def bin_frontier(gains: Ints) -> Ints:
    """Find how many bins each row takes in the best boundary, for every total number of bins.

    Parameters
    ----------
    gains : int64, shape (K, L+1)
        Gain of the j highest bins of each row; column 0 is 0.

    Returns
    -------
    int32, shape (K, K*L+1)
        Column m has the bins taken by each row; they add up to m. Among equal gains a row takes as few bins
        as possible, later rows first.
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

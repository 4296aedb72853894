"""Copy numbers and count those that are not finite, in one pass."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Floats
from uqcli.defaults import ROWS_PER_STEP
from uqcli.kernels.compile import kernel_beside


def copied(values: Floats) -> tuple[Floats, int]:
    """Copy numbers, with 0 for -0, and count those that are not finite.

    Parameters
    ----------
    values : float32 or float64, shape (n,)
    """
    copy = np.empty_like(values)
    return copy, copy_numbers.run(len(values) // ROWS_PER_STEP, values, copy)


def _copy_arrays(values: Floats, copy: Floats) -> int:
    with np.errstate(invalid="ignore"):  # signalling NaNs
        np.add(values, 0, out=copy)
    return len(copy) - int(np.count_nonzero(np.isfinite(copy)))


@kernel_beside(_copy_arrays)
def copy_numbers(values: Floats, copy: Floats) -> int:
    """Copy numbers, with 0 for -0, and return how many are not finite."""
    infinite = 0
    for row in range(len(values)):
        copy[row] = values[row] + 0
        infinite += copy[row] - copy[row] != 0
    return infinite

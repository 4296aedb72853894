"""Isotonic fits with one more positive row at each score in turn, from two sweeps of the cumulative sums."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.kernels.compile import kernel


def fits_with_one_more(count: Ints, positives: Ints) -> tuple[Floats, Floats]:
    """Compute the isotonic fit at each score if one more row has that score.

    Parameters
    ----------
    count, positives : int64, shape (m,)
        Counts in ascending order of score; ``count > 0``.

    Returns
    -------
    if_negative, if_positive : float64, shape (m,) each
        The fit at the score of the added row, by its label; exact fractions, rounded once.
    """
    dy, dx = _if_positive(count, positives)
    mirrored_dy, mirrored_dx = (
        part[::-1] for part in _if_positive(count[::-1], count[::-1] - positives[::-1])
    )
    return (mirrored_dx - mirrored_dy) / mirrored_dx, dy / dx


def _if_positive(count: Ints, positives: Ints) -> tuple[Ints, Ints]:
    x, y = (np.concatenate([[0], np.cumsum(part, dtype=np.int64)]) for part in (count, positives))
    rise, run, hull = (np.empty(len(count), dtype=np.int64) for _ in range(3))
    fill_fits.run(8 * len(count), x, y, hull, rise, run)
    return rise, run


@kernel
def fill_fits(x: Ints, y: Ints, hull: Ints, rise: Ints, run: Ints) -> None:
    """Fill in the fit at each score as a fraction, ``rise / run``.

    The fit is the slope of the lower hull of the cumulative sums (x, y). A positive row at score i moves all
    points below i by (-1, -1). So it is the slope of the line that touches both the moved points below i and
    the points from i on. ``hull`` holds the vertices of the latter, the first on top.
    """
    size = len(rise)
    top = -1
    for i in range(size, 0, -1):
        while top > 0 and (y[hull[top]] - y[i]) * (x[hull[top - 1]] - x[i]) >= (y[hull[top - 1]] - y[i]) * (
            x[hull[top]] - x[i]
        ):
            top -= 1
        top += 1
        hull[top] = i
    left_x = -1
    left_y = -1
    for i in range(1, size + 1):
        while top > 0 and (y[hull[top]] - left_y) * (x[hull[top - 1]] - left_x) >= (
            y[hull[top - 1]] - left_y
        ) * (x[hull[top]] - left_x):
            top -= 1
        up = y[hull[top]] - left_y
        along = x[hull[top]] - left_x
        rise[i - 1] = up
        run[i - 1] = along
        moved_x = x[i] - 1
        moved_y = y[i] - 1
        if (moved_y - left_y) * along <= up * (moved_x - left_x):
            left_x = moved_x
            left_y = moved_y
        if hull[top] == i:
            top -= 1

"""Linear interpolation that neither over- nor underflows, and never leaves the values at both ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats

_LARGEST_EXPONENT = 1023
"""Largest exponent of two that is a double, as is the smallest, its negative."""


def knots_apart(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Halve each segment that is longer than the largest double; other points stay as they are."""
    with np.errstate(over="ignore"):
        long = np.flatnonzero(np.isinf(np.diff(x)))
    if not len(long):
        return x, y
    middle = x[long] / 2 + x[long + 1] / 2, y[long] / 2 + y[long + 1] / 2
    return np.insert(x, long + 1, middle[0]), np.insert(y, long + 1, middle[1])


def scales_and_slopes(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Compute the lines between points: ``y0 + slope * ((x - x0) * scale)``, rounded at each step.

    The scale is 1 where the plain slope is finite and has all its digits. Elsewhere it is a power of two that
    brings the length of the segment near 1.

    Parameters
    ----------
    x, y : float64, shape (m,)
        Ascending, as ``knots_apart`` returns them.

    Returns
    -------
    float64, shape (m - 1,)
        Scales.
    float64, shape (m - 1,)
        Slopes; 0 where two points have the same x or the same y.
    """
    length, rise = np.diff(x), np.diff(y)
    scale, slope = np.ones(len(length)), np.zeros(len(length))
    rising = (length > 0) & (rise > 0)
    with np.errstate(over="ignore", under="ignore"):
        slope[rising] = rise[rising] / length[rising]
    odd = rising & ~((slope >= np.finfo(np.float64).tiny) & np.isfinite(slope))
    exponent = np.clip(-np.frexp(length[odd])[1], -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    scale[odd] = np.ldexp(1.0, exponent)
    slope[odd] = rise[odd] / (length[odd] * scale[odd])
    return scale, slope


def interpolate(values: Floats, x: Floats, y: Floats) -> Floats:
    """Interpolate points linearly, constant outside: as ``numpy.interp``, but monotone and within [y0, y1].

    ``numpy.interp`` gives infinity between points that are a denormal number apart, jumps between points
    farther apart than the largest double, and exceeds y1 by a rounding error just below some x1.

    Parameters
    ----------
    values : float64, shape (n,)
    x, y : float64, shape (m,)
        Ascending; of points with the same x the last one holds.

    Returns
    -------
    float64, shape (n,)
    """
    x, y = knots_apart(x, y)
    fitted: Floats = np.interp(values, x, y)
    scale, slope = scales_and_slopes(x, y)
    careful = (scale != 1) | _exceeds(x, y, slope)
    if careful.any():
        segment = np.searchsorted(x, values, side="right") - 1
        inside = (segment >= 0) & (segment < len(careful))
        rows = np.flatnonzero(inside & careful[np.clip(segment, 0, len(careful) - 1)])
        at = segment[rows]
        with np.errstate(under="ignore"):
            line = slope[at] * ((values[rows] - x[at]) * scale[at]) + y[at]
        fitted[rows] = np.minimum(line, y[at + 1])
    return fitted


def _exceeds(x: Floats, y: Floats, slope: Floats) -> NDArray[np.bool_]:
    """Whether each line is above its end just before it."""
    last = np.nextafter(x[1:], x[:-1])
    with np.errstate(over="ignore", under="ignore"):
        exceeds: NDArray[np.bool_] = slope * (last - x[:-1]) + y[:-1] > y[1:]
    return exceeds

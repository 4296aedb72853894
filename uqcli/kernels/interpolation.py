"""Linear interpolation that never leaves the values at both ends, and cubic B-splines, continued linearly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Matrix

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
    brings the length of the segment near 1. The points ascend, as ``knots_apart`` returns them; slopes are 0
    where two of them have the same x or the same y.
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
    farther apart than the largest double, and exceeds y1 by a rounding error just below some x1. Points
    ascend; of those with the same x the last one holds.
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


DEGREE = 3


def cubic_pieces(knots: Floats, levels: Matrix) -> Matrix:
    """Compute the polynomials of cubic splines, in powers of the distance from the left end of each piece.

    There are m distinct knots, ascending, at least two, and coefficients of the B-splines, shape (m + 2,
    splines). Pieces have shape (m + 1, 4, splines). The first piece is the line below the first knot; its
    distances are below 0. The others start at each knot; the last is the line from the last knot on.
    """
    padded = np.concatenate([knots[:1].repeat(DEGREE), knots, knots[-1:].repeat(DEGREE)])
    pieces = np.zeros((len(knots) + 1, DEGREE + 1, levels.shape[1]))
    coefficients, factorial = levels, 1
    for order in range(DEGREE + 1):
        degree = DEGREE - order
        inner = padded[order : len(padded) - order]
        pieces[1:-1, order] = _at_left_ends(inner, coefficients, degree, len(knots)) / factorial
        if order < 2:  # value and slope at the last knot: those of the last coefficients
            pieces[-1, order] = coefficients[-1]
        if degree:
            width = inner[degree + 1 : -1] - inner[1 : -degree - 1]
            coefficients = degree * np.diff(coefficients, axis=0) / width[:, None]
            factorial *= order + 1
    pieces[0, :2] = pieces[1, :2]
    return pieces


def _at_left_ends(knots: Floats, coefficients: Matrix, degree: int, distinct: int) -> Matrix:
    """Evaluate a spline at the left end of each piece (de Boor's recursion)."""
    values = []
    for piece in range(distinct - 1):
        interval = degree + piece
        x = knots[interval]
        points = coefficients[piece : piece + degree + 1]
        for step in range(1, degree + 1):
            low = knots[interval - degree + step : interval + 1]
            high = knots[interval + 1 : interval + 1 + degree - step + 1]
            share = ((x - low) / (high - low))[:, None]
            points = (1 - share) * points[:-1] + share * points[1:]
        values.append(points[0])
    return np.array(values)


def spline(x: Floats, knots: Floats, pieces: Matrix) -> Matrix:
    """Evaluate splines given by their pieces; the result has shape (splines, n)."""
    piece = np.searchsorted(knots, x, side="right")
    distance = x - knots[np.maximum(piece - 1, 0)]
    value = np.zeros((pieces.shape[2], len(x)))
    for power in reversed(range(DEGREE + 1)):
        value *= distance
        value += pieces[:, power].T[:, piece]
    return value

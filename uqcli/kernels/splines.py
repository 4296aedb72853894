"""Cubic B-splines on clamped knots, continued linearly outside them."""

from __future__ import annotations

import numpy as np

from uqcli.base.class_counts import Matrix
from uqcli.base.counts import Floats

DEGREE = 3


def cubic_pieces(knots: Floats, levels: Matrix) -> Matrix:
    """Compute the polynomials of cubic splines, in powers of the distance from the left end of each piece.

    Parameters
    ----------
    knots : float64, shape (m,)
        Distinct, ascending, at least two.
    levels : float64, shape (m + 2, splines)
        Coefficients of the B-splines.

    Returns
    -------
    float64, shape (m + 1, 4, splines)
        The first piece is the line below the first knot; its distances are below 0. The others start at each
        knot; the last is the line from the last knot on.
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
    """Evaluate splines given by their pieces.

    Returns
    -------
    float64, shape (splines, n)
    """
    piece = np.searchsorted(knots, x, side="right")
    distance = x - knots[np.maximum(piece - 1, 0)]
    value = np.zeros((pieces.shape[2], len(x)))
    for power in reversed(range(DEGREE + 1)):
        value *= distance
        value += pieces[:, power].T[:, piece]
    return value

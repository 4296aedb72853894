"""Sums over rows that are drawn with replacement, each a number of times: of a bootstrap sample.

Sums of floating-point numbers are sequential over rows, so that all forms of a kernel have the same bits.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.blockwise import Counts
from uqcli.base.counts import Floats, Matrix
from uqcli.kernels.compile import kernel_beside

ROWS_PER_STEP: Final = 16
"""Rows for which the array functions here take as long as Python for a step: they add up and look up."""


def _add_arrays(index: NDArray[Any], amount: Counts, sums: Counts) -> None:
    np.add.at(sums, index, amount if len(amount) == len(index) else amount[0])


@kernel_beside(_add_arrays)
def add_at(index: NDArray[Any], amount: Counts, sums: Counts) -> None:
    """Add the amount of each row, or the single one of all rows, to the sum at its index."""
    if len(amount) == len(index):
        for row in range(len(index)):
            sums[index[row]] += amount[row]
    else:
        for row in range(len(index)):
            sums[index[row]] += amount[0]


def _place_arrays(rows: Counts, above: int, places: Counts) -> None:
    below = 2 * np.cumsum(rows) - rows
    places[:] = 2 * above - below if above else below


@kernel_beside(_place_arrays)
def place(rows: Counts, above: int, places: Counts) -> None:
    """Fill in twice the rows below each of ascending values and those at it; above it, with their total."""
    below = 0
    for value in range(len(rows)):
        here = rows[value]
        places[value] = 2 * (above - below) - here if above else 2 * below + here
        below += here


def _moment_arrays(times: Counts, values: Matrix, sums: Matrix) -> None:
    weighted = times * values
    sums[:, 0] = np.add.accumulate(weighted, axis=1)[:, -1]
    sums[:, 1] = np.add.accumulate(weighted * values, axis=1)[:, -1]


@kernel_beside(_moment_arrays)
def weighted_moments(times: Counts, values: Matrix, sums: Matrix) -> None:
    """Fill in the sums, shape (k, 2), of k values and of their squares, shape (k, n), over drawn rows."""
    for index in range(0, len(values), 2):  # two at a time take little longer than one
        other = min(index + 1, len(values) - 1)
        first_sum = first_squares = other_sum = other_squares = 0.0
        for row in range(len(times)):
            value = values[index, row]
            weighted = times[row] * value
            first_sum += weighted
            first_squares += weighted * value
            value = values[other, row]
            weighted = times[row] * value
            other_sum += weighted
            other_squares += weighted * value
        sums[index, 0] = first_sum
        sums[index, 1] = first_squares
        sums[other, 0] = other_sum
        sums[other, 1] = other_squares


def _placement_arrays(
    times: Counts,
    first: NDArray[Any],
    second: NDArray[Any],
    first_place: Counts,
    second_place: Counts,
    scale: Floats,
    sums: Matrix,
) -> None:
    before = first_place[first] * scale[0] - scale[1]
    after = second_place[second] * scale[0] - scale[2]
    _moment_arrays(times, np.stack([before, after, after - before]), sums)


@kernel_beside(_placement_arrays)
def placement_moments(
    times: Counts,
    first: NDArray[Any],
    second: NDArray[Any],
    first_place: Counts,
    second_place: Counts,
    scale: Floats,
    sums: Matrix,
) -> None:
    """Fill in the sums, shape (3, 2), of two placements, of their difference, and of the squares of each.

    A row has the places of its first and its second value, times ``scale[0]``; the other two scales are
    subtracted, so that squares of numbers near each other are small.
    """
    before_sum = before_squares = after_sum = after_squares = change_sum = change_squares = 0.0
    for row in range(len(times)):
        before = first_place[first[row]] * scale[0] - scale[1]
        after = second_place[second[row]] * scale[0] - scale[2]
        change = after - before
        weighted = times[row] * before
        before_sum += weighted
        before_squares += weighted * before
        weighted = times[row] * after
        after_sum += weighted
        after_squares += weighted * after
        weighted = times[row] * change
        change_sum += weighted
        change_squares += weighted * change
    sums[0, 0] = before_sum
    sums[0, 1] = before_squares
    sums[1, 0] = after_sum
    sums[1, 1] = after_squares
    sums[2, 0] = change_sum
    sums[2, 1] = change_squares


def _line_arrays(x: Floats, probability: Floats, times: Counts, label: int, sums: Floats) -> None:
    error = label - probability
    residual, curvature = times * error, times * (probability * (1.0 - probability))
    squares = residual * error
    terms = [residual, residual * x]
    for weight in (curvature, squares):
        terms += [weight, weight * x, weight * x * x]
    for index, values in enumerate(terms):
        sums[index] = np.add.accumulate(np.append(sums[index], values))[-1]


@kernel_beside(_line_arrays)
def line_sums(x: Floats, probability: Floats, times: Counts, label: int, sums: Floats) -> None:
    """Add the sums of a logistic line's derivatives over rows of a label, shape (8,).

    They are the gradient of the log likelihood, its negative Hessian and the squares of the rows' gradients,
    these two as the sums of a weight, of it times x, and of it times x squared.
    """
    residuals = sums[0]
    residuals_x = sums[1]
    curvatures = sums[2]
    curvatures_x = sums[3]
    curvatures_xx = sums[4]
    all_squares = sums[5]
    squares_x = sums[6]
    squares_xx = sums[7]
    for row in range(len(x)):
        error = label - probability[row]
        residual = times[row] * error
        curvature = times[row] * (probability[row] * (1.0 - probability[row]))
        square = residual * error
        residuals += residual
        residuals_x += residual * x[row]
        curvatures += curvature
        curvatures_x += curvature * x[row]
        curvatures_xx += curvature * x[row] * x[row]
        all_squares += square
        squares_x += square * x[row]
        squares_xx += square * x[row] * x[row]
    sums[0] = residuals
    sums[1] = residuals_x
    sums[2] = curvatures
    sums[3] = curvatures_x
    sums[4] = curvatures_xx
    sums[5] = all_squares
    sums[6] = squares_x
    sums[7] = squares_xx

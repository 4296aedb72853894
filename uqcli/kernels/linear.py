"""Small linear systems, solved with a fixed summation order.

BLAS libraries choose an order by CPU, which changes the last digits. Here every sum is sequential, or numpy's
own, which is the same on every CPU.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from uqcli.base.counts import Floats, Matrix

_FEW = 8
"""Unknowns up to which a system is solved without numpy."""

_MAX_SWEEPS = 30
_EIGENVALUE_TOLERANCE = 1e-15
"""Ratio to the largest eigenvalue below which an eigenvalue counts as 0."""


def solved(matrix: Matrix, right: Floats) -> Floats:
    """Solve ``matrix x = right`` by elimination with partial pivoting; not finite if singular."""
    rows = np.column_stack([matrix, right])
    size = len(rows)
    if size <= _FEW:
        return _few_solved(rows.tolist())
    with np.errstate(all="ignore"):
        for step in range(size):
            pivot = step + int(np.argmax(np.abs(rows[step:, step])))
            rows[[step, pivot]] = rows[[pivot, step]]
            factor = rows[step + 1 :, step] / rows[step, step]
            rows[step + 1 :, step:] -= factor[:, None] * rows[step, step:]
        solution = np.zeros(size)
        for step in reversed(range(size)):
            solved_part = (rows[step, step + 1 : size] * solution[step + 1 :]).sum()
            solution[step] = (rows[step, size] - solved_part) / rows[step, step]
    return solution


def _few_solved(rows: list[list[float]]) -> Floats:
    """Solve a system of few unknowns, given with its right side; numpy's calls take longer than its sums."""
    size = len(rows)
    solution = [0.0] * size
    try:
        for step in range(size):
            pivot = max(range(step, size), key=lambda row: abs(rows[row][step]))
            rows[step], rows[pivot] = rows[pivot], rows[step]
            first = rows[step]
            for other in range(step + 1, size):
                factor = rows[other][step] / first[step]
                rows[other] = [x - factor * y for x, y in zip(rows[other], first, strict=True)]
        for step in reversed(range(size)):
            row = rows[step]
            solved_part = sum(row[column] * solution[column] for column in range(step + 1, size))
            solution[step] = (row[size] - solved_part) / row[step]
    except ZeroDivisionError:
        return np.full(size, np.nan)
    return np.array(solution)


def inverse(matrix: Matrix) -> Matrix:
    """Invert a symmetric positive definite matrix, by elimination."""
    size = len(matrix)
    rows = np.column_stack([matrix, np.eye(size)])
    for step in range(size):
        rows[step] /= rows[step, step]
        factor = rows[:, step].copy()
        factor[step] = 0.0
        rows -= factor[:, None] * rows[step]
    return rows[:, size:]


def least_solution(matrix: Matrix, right: Floats) -> Floats:
    """Compute the minimum-norm least-squares solution of ``matrix x = right`` for a small symmetric matrix.

    Uses an eigendecomposition by Jacobi rotations.
    """
    size = len(matrix)
    rotated, vectors = matrix.tolist(), np.eye(size).tolist()
    for _ in range(_MAX_SWEEPS):
        # a sweep rotates every pair, so the first rotation must not end it, as with any()
        if not sum(_rotate(rotated, vectors, i, j) for i in range(size) for j in range(i)):
            break
    values = np.array([rotated[i][i] for i in range(size)])
    nonzero = np.abs(values) > _EIGENVALUE_TOLERANCE * np.abs(values).max()
    solution: Floats = np.zeros(size)
    for value, vector in zip(values[nonzero], np.array(vectors)[nonzero], strict=True):
        solution += (vector * right).sum() / value * vector
    return solution


def _rotate(rotated: list[list[float]], vectors: list[list[float]], i: int, j: int) -> bool:
    """Apply a Jacobi rotation that zeroes element (i, j); return False if it is already negligible.

    The matrix is given by its rows, and the eigenvectors one per row.
    """
    element, at_i, at_j = rotated[i][j], rotated[i][i], rotated[j][j]
    if not abs(element) > 1e-17 * sqrt(abs(at_i)) * sqrt(abs(at_j)):
        return False
    half = (at_j - at_i) / (2 * element)
    tangent = (1.0 if half >= 0 else -1.0) / (abs(half) + sqrt(half * half + 1))
    cosine = 1 / sqrt(tangent * tangent + 1)
    sine = tangent * cosine
    for row in rotated:
        first, second = row[i], row[j]
        row[i], row[j] = cosine * first - sine * second, sine * first + cosine * second
    for rows in (rotated, vectors):
        pairs = list(zip(rows[i], rows[j], strict=True))
        rows[i] = [cosine * first - sine * second for first, second in pairs]
        rows[j] = [sine * first + cosine * second for first, second in pairs]
    rotated[i][j] = rotated[j][i] = 0.0
    return True


def is_positive_definite(matrix: Matrix) -> bool:
    """Whether elimination of a symmetric matrix has positive pivots only."""
    rows = matrix.copy()
    for step in range(len(rows)):
        if not rows[step, step] > 0:
            return False
        factor = rows[step + 1 :, step] / rows[step, step]
        rows[step + 1 :, step:] -= factor[:, None] * rows[step, step:]
    return True


def extreme_singular_values(matrix: Matrix) -> tuple[float, float]:
    """Find the smallest and largest singular value of a square matrix.

    Householder bidiagonalisation, then bisection with the Sturm count of the Golub-Kahan tridiagonal matrix
    (1965).
    """
    size = len(matrix)
    scale = float(np.abs(matrix).max(initial=0.0))
    if scale == 0:
        return 0.0, 0.0
    rows = matrix / scale
    for step in range(size):
        _reflect(rows[step:, step:])
        _reflect(rows[step:, step + 1 :].T)
    off_diagonal = np.empty(2 * size - 1)
    off_diagonal[0::2], off_diagonal[1::2] = np.diag(rows), np.diag(rows, 1)
    squares = (off_diagonal**2).tolist()
    bound = 2 * float(np.abs(off_diagonal).max())
    smallest, largest = (_bisected(squares, rank, bound) for rank in (size, 2 * size - 1))
    return smallest * scale, largest * scale


def _reflect(block: Matrix) -> None:
    """Apply a Householder reflection that zeroes the first column below its first element."""
    if min(block.shape) == 0:
        return
    reflector = block[:, 0].copy()
    length = float(np.sqrt((reflector * reflector).sum()))
    if length == 0:
        return
    reflector[0] += length if reflector[0] >= 0 else -length
    square = (reflector * reflector).sum()
    block -= reflector[:, None] * (2 / square * (reflector[:, None] * block).sum(axis=0))


def _bisected(squares: list[float], rank: int, bound: float) -> float:
    """Compute the eigenvalue of the symmetric tridiagonal matrix with zero diagonal, by 0-based rank."""
    low, high = 0.0, bound
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return high
        if _below(squares, middle) > rank:
            high = middle
        else:
            low = middle


def _below(squares: list[float], shift: float) -> int:
    """Return the number of eigenvalues below a shift: negative pivots of the shifted matrix."""
    pivot = -shift
    negative = 1 if pivot < 0 else 0
    for square in squares:
        pivot = -shift - square / (pivot if pivot != 0 else 1e-300)
        negative += pivot < 0
    return negative

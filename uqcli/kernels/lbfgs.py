"""Minimise smooth strictly convex functions by L-BFGS, with sums in a fixed order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from uqcli.base.counts import Floats

_MEMORY: Final = 12
_MAX_STEPS: Final = 1000
_MAX_HALVINGS: Final = 40


def minimum(
    loss: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    tolerance: float = 1e-8,
    precondition: Callable[[Floats], Floats] = lambda gradient: gradient,
) -> Floats:
    """Find the minimum of a function of a point of shape (n,), which returns its value and gradient.

    The search ends when the largest component of the gradient is at most ``tolerance``. ``precondition``
    multiplies by a rough inverse of the second derivatives, symmetric and positive definite.

    Examples
    --------
    >>> minimum(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(1)).round(6).tolist()
    [3.0]
    """
    point, (value, gradient) = start, loss(start)
    moves: list[tuple[Floats, Floats, float]] = []
    for _ in range(_MAX_STEPS):
        if np.abs(gradient).max() <= tolerance:
            break
        direction = _direction(gradient, moves, precondition)
        slope = float((direction * gradient).sum())
        size = 1.0
        for _ in range(_MAX_HALVINGS):
            candidate = point + size * direction
            new_value, new_gradient = loss(candidate)
            if new_value <= value + 1e-4 * size * slope:
                break
            size /= 2
        else:
            break  # no descent within rounding
        step, change = candidate - point, new_gradient - gradient
        curvature = float((step * change).sum())
        if curvature > 0:
            moves = [*moves[-_MEMORY + 1 :], (step, change, curvature)]
        point, value, gradient = candidate, new_value, new_gradient
    return point


def _direction(
    gradient: Floats, moves: list[tuple[Floats, Floats, float]], precondition: Callable[[Floats], Floats]
) -> Floats:
    """Return the negative gradient times the approximate inverse Hessian (the two-loop recursion)."""
    direction = -gradient
    factors = []
    for step, change, curvature in reversed(moves):
        factor = float((step * direction).sum()) / curvature
        direction = direction - factor * change
        factors.append(factor)
    direction = precondition(direction)
    if moves:
        _, change, curvature = moves[-1]
        direction = direction * (curvature / float((change * precondition(change)).sum()))
    for (step, change, curvature), factor in zip(moves, reversed(factors), strict=True):
        direction = direction + step * (factor - float((change * direction).sum()) / curvature)
    return direction

"""Trade-off of alerts and true positives on the calibration set, with and without the uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells
from uqcli.boundary.search.algorithms.smooth import best_prefix
from uqcli.boundary.search.constraint import constraint_from
from uqcli.boundary.search.optimum import optimise
from uqcli.boundary.search.result import FittedBoundary, boundary_at
from uqcli.boundary.search.smoothing import nested_boundaries

FAMILIES: Final = (Algorithm.VW_DPMT, Algorithm.SMOOTH, Algorithm.ST)
"""The exact optimum on the grid at each number of alerts, nested boundaries, and a single threshold."""

_MAX_BUDGETS: Final = 200


def trade_off(grid: Cells, scores: Cells | None) -> Mapping[Algorithm, tuple[FittedBoundary, ...]]:
    """Find the best boundaries for numbers of alerts from one to all, in a geometric series.

    Parameters
    ----------
    scores
        A single row of all distinct scores, for a single threshold; None if not available.

    Returns
    -------
    Best boundaries of each algorithm at these numbers, with increasing true positives.
    """
    budgets = np.unique(np.geomspace(1, max(grid.total, 1), _MAX_BUDGETS).round().astype(np.int64)).tolist()
    constraints = [constraint_from(max_selected=str(budget)) for budget in budgets]
    grids = {Algorithm.VW_DPMT: grid} if scores is None else {Algorithm.VW_DPMT: grid, Algorithm.ST: scores}
    boundaries = {
        algorithm: [optimise(cells, algorithm, constraint).boundary for constraint in constraints]
        for algorithm, cells in grids.items()
    }
    nested = nested_boundaries(grid)  # one ranking for all numbers
    tops = [best_prefix(nested, constraint.goal(grid), grid) for constraint in constraints]
    boundaries[Algorithm.SMOOTH] = [None if prefix is None else boundary_at(grid, prefix) for prefix in tops]
    return {
        algorithm: _undominated(boundaries[algorithm]) for algorithm in FAMILIES if algorithm in boundaries
    }


def _undominated(boundaries: Sequence[FittedBoundary | None]) -> tuple[FittedBoundary, ...]:
    """Find undominated boundaries; since thresholds are raised, more true positives may take fewer rows."""
    undominated: list[FittedBoundary] = []
    present = [boundary for boundary in boundaries if boundary is not None]
    for boundary in sorted(
        present, key=lambda candidate: (-candidate.fit.true_positives, candidate.fit.selected)
    ):
        if not undominated or boundary.fit.selected < undominated[-1].fit.selected:
            undominated.append(boundary)
    return tuple(reversed(undominated))

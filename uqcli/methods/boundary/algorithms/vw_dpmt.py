"""VW-DPMT: the boundary of highest recall on a grid of cells of any size [UB Alg. 4]."""

from __future__ import annotations

from uqcli.counts import Cells
from uqcli.methods.boundary.goals import Goal, Tops
from uqcli.methods.boundary.registry import AlgorithmEntry, WorksOn
from uqcli.methods.boundary.runs import top_runs


def variable_weight_optimum(cells: Cells, goal: Goal) -> Tops | None:
    """Find the best boundary of all; for a precision, the one of highest recall that keeps it.

    The optimum of the paper's Algorithm 4, found as a multiple-choice knapsack over integer surpluses
    instead of a dense table over samples. Among boundaries of equal recall the one with the fewest
    selected rows is taken, then the one with the lexicographically highest thresholds.
    """
    return goal.optimum([top_runs(row) for row in cells.rows])


ALGORITHM = AlgorithmEntry(method=variable_weight_optimum, works_on=WorksOn.GRID)

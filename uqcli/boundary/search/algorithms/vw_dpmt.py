"""VW-DPMT: the exact optimum on a grid with cells of any count [UB Alg. 4]."""

from __future__ import annotations

from uqcli.base.counts import Cells
from uqcli.boundary.search.goals import Goal, Tops
from uqcli.boundary.search.registry import AlgorithmEntry, WorksOn
from uqcli.boundary.search.score_runs import top_runs


def variable_weight_optimum(cells: Cells, goal: Goal) -> Tops | None:
    """Find the exact optimum; for a precision bound, the boundary of highest recall that meets it.

    This is the optimum of the paper's Algorithm 4. The paper uses a dense table over samples; here it is a
    multiple-choice knapsack over integer surpluses. Ties in recall go to the fewest selected rows, then to
    the lexicographically highest thresholds.
    """
    return goal.optimum([top_runs(row) for row in cells.rows])


ALGORITHM = AlgorithmEntry(method=variable_weight_optimum, works_on=WorksOn.GRID)

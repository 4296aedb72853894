"""VW-DPMT: the boundary of highest recall on a grid of cells of any size [UB Alg. 4]."""

from __future__ import annotations

from uqcli.counts import Cells
from uqcli.methods.boundary.knapsack import Options, solve
from uqcli.methods.boundary.precision import PrecisionBound
from uqcli.methods.boundary.result import Tops
from uqcli.methods.boundary.runs import top_runs


def variable_weight_optimum(cells: Cells, bound: PrecisionBound) -> Tops | None:
    """Find the boundary of highest recall whose precision keeps the bound.

    The optimum of the paper's Algorithm 4, found as a multiple-choice knapsack over integer surpluses
    instead of a dense table over samples. Among boundaries of equal recall the one with the fewest
    selected rows is taken, then the one with the lexicographically highest thresholds.
    """
    classes = []
    for row in cells.rows:
        runs = top_runs(row)
        surplus = bound.surplus(runs.true_positives, runs.selected)
        classes.append(Options(value=runs.true_positives, surplus=surplus))
    tops = solve(classes)
    return tops if any(tops) else None

"""ST: one score threshold for all rows, the score-only boundary [UB sec. 5]."""

from __future__ import annotations

from uqcli.counts import Cells
from uqcli.methods.boundary.goals import Goal, Tops
from uqcli.methods.boundary.runs import top_runs


def single_threshold(cells: Cells, goal: Goal) -> Tops | None:
    """Find the best score threshold.

    Every distinct threshold is looked at: precision is not monotone in it, so the search cannot stop
    at the first that fails.

    Parameters
    ----------
    cells
        One uncertainty bin.
    """
    (row,) = cells.rows
    runs = top_runs(row)
    best = goal.best_of(runs.true_positives, runs.selected)
    return None if best is None else (best,)

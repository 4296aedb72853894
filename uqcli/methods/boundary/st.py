"""ST: one score threshold for all rows, the score-only boundary [UB sec. 5]."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Cells
from uqcli.methods.boundary.precision import PrecisionBound
from uqcli.methods.boundary.result import Tops
from uqcli.methods.boundary.runs import top_runs


def single_threshold(cells: Cells, bound: PrecisionBound) -> Tops | None:
    """Find the score threshold of highest recall whose precision keeps the bound.

    Every distinct threshold is looked at: precision is not monotone in it, so the search cannot stop
    at the first that fails. Ties go to the fewest selected rows.

    Parameters
    ----------
    cells
        One uncertainty bin.
    """
    (row,) = cells.rows
    runs = top_runs(row)
    feasible = bound.surplus(runs.true_positives, runs.selected) >= 0
    best = int(np.where(feasible, runs.true_positives, 0).max())
    if best == 0:
        return None
    return (int(np.flatnonzero(feasible & (runs.true_positives == best))[0]),)

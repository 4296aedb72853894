"""EW-DPMT: recall frontier over the number of flagged bins of equal weight [UB Alg. 1]."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Cells
from uqcli.boundary.search.constraint import ConstraintKind
from uqcli.boundary.search.goals import Goal, Tops
from uqcli.boundary.search.registry import AlgorithmEntry, WorksOn
from uqcli.boundary.search.score_runs import in_all_rows, top_runs
from uqcli.kernels.knapsack import bin_frontier


def frontier_bytes(uncertainty_bins: int, score_bins: int) -> int:
    """Return the bytes of two tables: the bins that each row takes for every total, as found and traced back.

    Examples
    --------
    >>> frontier_bytes(3, 500)
    36024
    """
    return 2 * 4 * uncertainty_bins * (uncertainty_bins * score_bins + 1)


def equal_weight_frontier(cells: Cells, goal: Goal) -> Tops | None:
    """Find the boundary of highest recall for each number of flagged bins, and choose the best for the goal.

    Optimal if all cells have equal counts. Counts differ if there are ties, or if rows do not divide evenly.
    Every number of bins is therefore traced back, and the candidates are compared by their true counts.

    Parameters
    ----------
    cells
        Rows of equal length.
    """
    runs = [top_runs(row) for row in cells.rows]
    # orders by true positives, then by fewest selected rows, in one integer; both are below 3e9
    gains = np.stack([run.true_positives * (cells.total + 1) - run.selected for run in runs])
    chosen = bin_frontier(gains)
    best = goal.best_of(in_all_rows(runs, list(chosen)))
    return None if best is None else tuple(int(top) for top in chosen[:, best])


ALGORITHM = AlgorithmEntry(
    method=equal_weight_frontier,
    works_on=WorksOn.GRID,
    kinds=frozenset({ConstraintKind.PRECISION}),
    equal_rows=True,
    table_bytes=frontier_bytes,
)

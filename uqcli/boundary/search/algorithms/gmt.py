"""GMT: the best top run of each uncertainty bin separately [UB Alg. 2]."""

from __future__ import annotations

from uqcli.base.counts import Cells
from uqcli.boundary.search.constraint import ConstraintKind
from uqcli.boundary.search.goals import Goal, Tops
from uqcli.boundary.search.registry import AlgorithmEntry, WorksOn
from uqcli.boundary.search.score_runs import top_runs


def greedy_multiple_thresholds(cells: Cells, goal: Goal) -> Tops | None:
    """Select in each row the top run with the most true positives whose own precision meets the bound.

    Algorithm 2 of the paper, corrected: the paper returns the number of cells below the boundary, this
    function the number above it.
    """
    runs = [top_runs(row) for row in cells.rows]
    tops = tuple(goal.best_of(run) or 0 for run in runs)
    return tops if any(tops) else None


ALGORITHM = AlgorithmEntry(
    method=greedy_multiple_thresholds, works_on=WorksOn.GRID, kinds=frozenset({ConstraintKind.PRECISION})
)

"""SMOOTH: the best of the nested boundaries that smoothed rates rank."""

from __future__ import annotations

from uqcli.counts import Cells
from uqcli.methods.boundary.goals import Goal, Tops
from uqcli.methods.boundary.ranking.smoothing import nested_boundaries
from uqcli.methods.boundary.registry import AlgorithmEntry, WorksOn


def smoothed_boundary(cells: Cells, goal: Goal) -> Tops | None:
    """Take cells in the order of their smoothed rates, as far as is best for the goal."""
    nested = nested_boundaries(cells)
    best = goal.best_of(nested.true_positives, nested.selected)
    return None if best is None else nested.tops(best, len(cells.rows))


ALGORITHM = AlgorithmEntry(method=smoothed_boundary, works_on=WorksOn.GRID)

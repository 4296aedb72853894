"""SMOOTH: the best of the nested boundaries given by smoothed rates."""

from __future__ import annotations

from uqcli.base.counts import Cells
from uqcli.boundary.search.goals import Goal, Tops
from uqcli.boundary.search.registry import AlgorithmEntry, WorksOn
from uqcli.boundary.search.smoothing import NestedBoundaries, nested_boundaries


def smoothed_boundary(cells: Cells, goal: Goal) -> Tops | None:
    """Select cells in the order of their smoothed rates, as many as are best for the goal."""
    return best_prefix(nested_boundaries(cells), goal, cells)


def best_prefix(nested: NestedBoundaries, goal: Goal, cells: Cells) -> Tops | None:
    """Find the best nested boundary for a goal; None if none meets it.

    Parameters
    ----------
    cells
        The cells that are ranked.
    """
    best = goal.best_of(nested.runs(cells))
    return None if best is None else nested.tops(best, len(cells.rows))


ALGORITHM = AlgorithmEntry(method=smoothed_boundary, works_on=WorksOn.GRID)

"""Find a boundary from cells or rows with any algorithm."""

from __future__ import annotations

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.boundary.search.algorithms.hr import SavedRecalibration, heuristic_recalibration
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.registry import entry_of
from uqcli.boundary.search.result import FittedBoundary, boundary_at
from uqcli.boundary.search.score_runs import top_runs


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """Best boundary of an algorithm, or the nearest one.

    Attributes
    ----------
    boundary
        None if no boundary meets the constraint with at least one true positive.
    closest
        Nearest boundary, if ``boundary`` is None and there is one.
    recalibration
        How scores are raised before the comparison (hr only).
    """

    boundary: FittedBoundary | None
    closest: FittedBoundary | None = None
    recalibration: SavedRecalibration | None = None


def optimise(cells: Cells, algorithm: Algorithm, constraint: Constraint) -> Optimum:
    """Find the best boundary of an algorithm under a constraint.

    Parameters
    ----------
    cells
        A single row of all distinct scores for a single threshold, else the grid; total weight at most
        ``defaults.MAX_ROWS``.
    """
    goal = constraint.goal(cells)
    tops = entry_of(algorithm).method(cells, goal)
    if tops is not None:
        return Optimum(boundary=boundary_at(cells, tops))
    closest = goal.closest([top_runs(row) for row in cells.rows])
    # not raised: raising could make it meet the constraint
    nearest = boundary_at(cells, closest, raised=False) if closest else None
    return Optimum(boundary=None, closest=nearest)


def optimise_recalibrated(rows: Rows, constraint: Constraint) -> Optimum:
    """Find the best single threshold on recalibrated scores (hr)."""
    best = heuristic_recalibration(rows, constraint)
    return Optimum(boundary=None) if best is None else Optimum(boundary=best[0], recalibration=best[1])

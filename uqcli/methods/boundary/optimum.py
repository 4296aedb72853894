"""From cells, or rows, to a boundary, whatever the algorithm."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.choices import Algorithm
from uqcli.counts import Cells
from uqcli.methods.boundary.algorithms.hr import Recalibration, heuristic_recalibration
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.registry import entry_of
from uqcli.methods.boundary.result import FittedBoundary, boundary_at
from uqcli.methods.boundary.runs import top_runs
from uqcli.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """The best boundary that an algorithm reaches, or what comes closest.

    Attributes
    ----------
    found
        None where no boundary meets the constraint with at least one true positive.
    closest
        The boundary that comes closest, where ``found`` is None and there is such a thing.
    recalibration
        How scores are raised before they are compared (hr only).
    """

    found: FittedBoundary | None
    closest: FittedBoundary | None = None
    recalibration: Recalibration | None = None


def optimise(cells: Cells, algorithm: Algorithm, constraint: Constraint) -> Optimum:
    """Find the best boundary that an algorithm reaches under a constraint.

    Parameters
    ----------
    cells
        One row of all distinct scores for the single threshold, else the grid; at most
        ``defaults.MOST_ROWS`` rows by weight.
    """
    goal = constraint.goal(cells)
    tops = entry_of(algorithm).method(cells, goal)
    if tops is not None:
        return Optimum(found=boundary_at(cells, tops))
    closest = goal.closest([top_runs(row) for row in cells.rows])
    nearest = boundary_at(cells, closest, raised=False) if closest else None  # as judged: raised, it may pass
    return Optimum(found=None, closest=nearest)


def optimise_recalibrated(rows: Rows, constraint: Constraint) -> Optimum:
    """Find the best single threshold on recalibrated scores (hr)."""
    best = heuristic_recalibration(rows, constraint)
    return Optimum(found=None) if best is None else Optimum(found=best[0], recalibration=best[1])

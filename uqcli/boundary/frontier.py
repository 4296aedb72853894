"""Trade-off of alerts and true positives, with and without the uncertainty, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import polars as pl

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells
from uqcli.base.errors import UsageError
from uqcli.base.options import RowOutput
from uqcli.boundary.calibration_set import CalibrationSet
from uqcli.boundary.search.algorithms import ALGORITHMS, WorksOn, optimise
from uqcli.boundary.search.constraint import Constraint, constraint_from
from uqcli.boundary.search.result import FittedBoundary, boundary_at
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.engines.open import write_frames
from uqcli.estimates.proportion import Chosen, net_benefit

FAMILIES: Final = (Algorithm.VW_DPMT, Algorithm.SMOOTH, Algorithm.ST)
"""The exact optimum on the grid at each number of alerts, nested boundaries, and a single threshold."""

_MAX_BUDGETS: Final = 200


def trade_off(grid: Cells, scores: Cells | None) -> Mapping[Algorithm, tuple[FittedBoundary, ...]]:
    """Find each algorithm's best boundaries for numbers of alerts from one to all, in a geometric series.

    Their true positives increase. A single row of all distinct scores is for a single threshold; None if not
    available.
    """
    budgets = np.unique(np.geomspace(1, max(grid.total, 1), _MAX_BUDGETS).round().astype(np.int64)).tolist()
    constraints = [constraint_from(max_selected=str(budget)) for budget in budgets]
    grids = {Algorithm.VW_DPMT: grid} if scores is None else {Algorithm.VW_DPMT: grid, Algorithm.ST: scores}
    boundaries = {
        algorithm: [optimise(cells, algorithm, constraint).boundary for constraint in constraints]
        for algorithm, cells in grids.items()
    }
    nested = nested_boundaries(grid)  # one ranking for all numbers
    tops = [nested.best_for(constraint.goal(grid), grid) for constraint in constraints]
    boundaries[Algorithm.SMOOTH] = [None if prefix is None else boundary_at(grid, prefix) for prefix in tops]
    return {
        algorithm: _undominated(boundaries[algorithm]) for algorithm in FAMILIES if algorithm in boundaries
    }


def _undominated(boundaries: Sequence[FittedBoundary | None]) -> tuple[FittedBoundary, ...]:
    """Find undominated boundaries; since thresholds are raised, more true positives may take fewer rows."""
    undominated: list[FittedBoundary] = []
    present = [boundary for boundary in boundaries if boundary is not None]
    for boundary in sorted(
        present, key=lambda candidate: (-candidate.fit.true_positives, candidate.fit.selected)
    ):
        if not undominated or boundary.fit.selected < undominated[-1].fit.selected:
            undominated.append(boundary)
    return tuple(reversed(undominated))


def write_frontier(
    calibration_set: CalibrationSet, algorithm: Algorithm, output: RowOutput, bounds: Sequence[Constraint]
) -> None:
    """Compute the trade-off curve and write it.

    The table also has the net benefit at the odds of each bound; a bound that sets no odds adds no column.
    """
    if ALGORITHMS[algorithm].works_on is not WorksOn.GRID:
        raise UsageError(
            "--frontier without a grid", expected="--algorithm vw-dpmt, smooth or another that works on one"
        )
    cells = calibration_set.cells(algorithm)
    frontier = trade_off(cells, calibration_set.every_score)
    named = {f"net_benefit_{bound.value}" if len(bounds) > 1 else "net_benefit": bound for bound in bounds}
    odds = {name: bound.odds for name, bound in named.items() if bound.sets_odds}
    kinds = {"algorithm": pl.String, "selected": pl.Int64, "true_positives": pl.Int64}
    utility = next((bound for bound in bounds if bound.is_utility), None)
    table = _columns(frontier, len(cells.rows), odds, utility)
    frame = pl.DataFrame(table, schema={name: kinds.get(name, pl.Float64) for name in table})
    write_frames([frame], frame.clear(), output)


def _columns(
    frontier: Mapping[Algorithm, Sequence[FittedBoundary]],
    bins: int,
    odds: Mapping[str, Fraction | None],
    utility: Constraint | None,
) -> dict[str, list[Any]]:
    """Build the columns of a table of boundaries; a single threshold is repeated for each uncertainty bin.

    Each column of net benefits has its odds; None if they are infinite, which leaves the column null.
    """
    points = [(algorithm, boundary) for algorithm, boundaries in frontier.items() for boundary in boundaries]
    table: dict[str, list[Any]] = {
        "algorithm": [str(algorithm) for algorithm, _ in points],
        "selected": [boundary.fit.selected for _, boundary in points],
        "true_positives": [boundary.fit.true_positives for _, boundary in points],
        "recall": [boundary.fit.recall for _, boundary in points],
        "precision": [boundary.fit.precision for _, boundary in points],
    }
    if utility is not None:
        table["value"] = [float(utility.objective(boundary.fit)) for _, boundary in points]
    for name, at_odds in odds.items():
        table[name] = [None if at_odds is None else _net_benefit(boundary, at_odds) for _, boundary in points]
    for bin_index in range(bins):
        table[f"threshold_{bin_index + 1}"] = [
            boundary.thresholds[bin_index if len(boundary.thresholds) > 1 else 0] for _, boundary in points
        ]
    return table


def _net_benefit(boundary: FittedBoundary, odds: Fraction) -> float:
    fit = boundary.fit
    flagged = Chosen(positives=fit.true_positives, negatives=fit.selected - fit.true_positives)
    return net_benefit(flagged, fit.rows, odds)

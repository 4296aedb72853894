"""The algorithms that find a boundary, from cells and a goal to the top cells of each uncertainty bin.

``ALGORITHMS`` has one entry for each; ``optimise`` finds a boundary with any of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cmp_to_key
from types import MappingProxyType
from typing import Final

import msgspec
import numpy as np

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Bools, CellRow, Cells, Floats, RangeCounts, distinct_cells
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.single_precision import near_thresholds
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import RULES
from uqcli.boundary.search.goals import Goal, TopRuns, Tops, in_all_rows, top_runs
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.thresholds import FittedBoundary, boundary_at
from uqcli.kernels.knapsack import bin_frontier
from uqcli.kernels.pava import isotonic_sums


class WorksOn(StrEnum):
    """Input of an algorithm."""

    GRID = "the score x uncertainty grid"
    SCORES = "all distinct scores of all rows"
    RAISED_SCORES = "all distinct recalibrated scores of all rows"


@dataclass(frozen=True, kw_only=True)
class AlgorithmEntry:
    """Definition of an algorithm.

    ``method`` is a function from cells and a goal to top cells; None if none meets the goal. It may search
    for a share of the flagged rows only (``of_flagged``). All rows of its cells must have equal length if
    ``equal_rows``. ``table_bytes`` is a function from the numbers of bins to the bytes of its table; 0 if
    they are about those of the cells.
    """

    method: Callable[[Cells, Goal], Tops | None]
    works_on: WorksOn
    of_flagged: bool = False
    equal_rows: bool = False
    table_bytes: Callable[[int, int], int] = lambda _bins, _scores: 0

    def supports(self, constraint: Constraint) -> bool:
        """Whether it finds the highest recall within the bounds of a constraint."""
        bounds = constraint.limits.bounds
        return not self.of_flagged or all(bound.is_proportion_of_flagged for bound in bounds)

    @property
    def refusal(self) -> str:
        """State which constraints it supports, if not all."""
        kinds = [rule.kind for rule in RULES.values() if rule.is_proportion_of_flagged]
        return f"works for {' and '.join(kinds)} only"


def single_threshold(cells: Cells, goal: Goal) -> Tops | None:
    """Find the best single threshold for all rows, in one uncertainty bin (ST) [UB sec. 5].

    Precision is not monotone in the threshold, so the search cannot stop at the first failure and tries every
    distinct threshold. Only those at the score of a positive row can be best.
    """
    (row,) = cells.rows
    tops = len(row.count) - np.flatnonzero(row.positives)[::-1]
    best = goal.best_of(top_runs(row).at(tops))
    return None if best is None else (int(tops[best]),)


def ranges_for_threshold(counts: RangeCounts, runs: TopRuns, goal: Goal) -> Bools:
    """Mark the score ranges to open until the best single threshold is known; ``runs`` are of these counts.

    These are the ranges in which a threshold could equal the best one between ranges, if all positive rows of
    the range came first, and those near the best one, by which it is moved and shown.
    """
    before, after = runs.at(slice(None, -1)), runs.at(slice(1, None))
    index = goal.best_of(after)
    best = None if index is None else after.at(slice(index, index + 1))
    reachable: Bools = goal.within_reach(before, after, best)[::-1]
    with_positives = np.flatnonzero(counts.positives)[::-1]
    chosen = goal.best_of(runs.at(len(counts.value) - with_positives))
    near = with_positives[:0] if chosen is None else with_positives[chosen : chosen + 1]
    return (
        reachable & (counts.positives > 0) | counts.around(near_thresholds(counts.value[near]))
    ) & ~counts.exact


def smoothed_boundary(cells: Cells, goal: Goal) -> Tops | None:
    """Select cells in the order of their smoothed rates, as many as are best for the goal (SMOOTH)."""
    return nested_boundaries(cells).best_for(goal, cells)


def variable_weight_optimum(cells: Cells, goal: Goal) -> Tops | None:
    """Find the exact optimum (VW-DPMT); for a precision bound, the boundary of highest recall that meets it.

    This is the optimum of [UB Alg. 4]. The paper uses a dense table over samples; here it is a
    multiple-choice knapsack over integer surpluses. Ties in recall go to the fewest selected rows, then to
    the lexicographically highest thresholds.
    """
    return goal.optimum([top_runs(row) for row in cells.rows])


def frontier_bytes(uncertainty_bins: int, score_bins: int) -> int:
    """Return the bytes of two tables: the bins that each row takes for every total, found and traced back."""
    return 2 * 4 * uncertainty_bins * (uncertainty_bins * score_bins + 1)


def equal_weight_frontier(cells: Cells, goal: Goal) -> Tops | None:
    """Find the boundary of highest recall for each number of flagged cells, and choose the best (EW-DPMT).

    This is [UB Alg. 1], optimal if all cells have equal counts. Counts differ if there are ties, or if rows
    do not divide evenly. Every number of cells is therefore traced back, and the candidates are compared by
    their true counts.
    """
    runs = [top_runs(row) for row in cells.rows]
    # orders by true positives, then by fewest selected rows, in one integer; both are below 3e9
    gains = np.stack([run.true_positives * (cells.total + 1) - run.selected for run in runs])
    chosen = bin_frontier(gains)
    best = goal.best_of(in_all_rows(runs, list(chosen)))
    return None if best is None else tuple(int(top) for top in chosen[:, best])


_Block = tuple[int, int, int, int]
"""Adjacent cells with a common calibrated value: row, first cell, rows in total, and positive rows."""


def isotonic_single_threshold(cells: Cells, goal: Goal) -> Tops | None:
    """Select cells in descending order of calibrated value, as many as are best (MIST).

    This is [UB Alg. 3], isotonic in each uncertainty bin, with its comparison corrected. Cells of equal
    calibrated value, compared as exact fractions, are taken together over all rows. Empty cells have no
    value, and a last group without positives is omitted.
    """
    blocks = [block for index, row in enumerate(cells.rows) for block in _blocks(index, row)]
    blocks.sort(key=cmp_to_key(_by_falling_value))
    group_ends = [
        index + 1
        for index, block in enumerate(blocks)
        if index + 1 == len(blocks) or _by_falling_value(block, blocks[index + 1]) != 0
    ]
    taken = np.zeros((len(cells.rows), len(blocks)), dtype=np.int64)
    for index, (row, first_cell, _, _) in enumerate(blocks):
        taken[row, index] = len(cells.rows[row].count) - first_cell
    tops = np.maximum.accumulate(taken, axis=1)[:, np.array(group_ends, dtype=np.int64) - 1]
    best = goal.best_of(in_all_rows([top_runs(row) for row in cells.rows], list(tops)))
    return None if best is None else tuple(tops[:, best].tolist())


def _blocks(row_index: int, row: CellRow) -> list[_Block]:
    filled = np.flatnonzero(row.count)
    if len(filled) == 0:
        return []
    first, total, positives = isotonic_sums(row.positives[filled], row.count[filled])
    columns = filled[first].tolist(), total.tolist(), positives.tolist()
    return [(row_index, *block) for block in zip(*columns, strict=True)]


def _by_falling_value(first: _Block, second: _Block) -> int:
    """Compare calibrated values exactly, in descending order."""
    *_, total, positives = first
    *_, other_total, other_positives = second
    return other_positives * total - positives * other_total


def greedy_multiple_thresholds(cells: Cells, goal: Goal) -> Tops | None:
    """Select in each row the top run with most true positives whose own precision meets the bound (GMT).

    This is [UB Alg. 2], corrected: the paper returns the number of cells below the boundary, this function
    the number above it.
    """
    runs = [top_runs(row) for row in cells.rows]
    tops = tuple(goal.best_of(run) or 0 for run in runs)
    return tops if any(tops) else None


_COEFFICIENT_STEPS = 100


class SavedRecalibration(msgspec.Struct, frozen=True, kw_only=True):
    """Scores are raised by coefficient * clip((uncertainty - low) / (high - low), 0, 1)."""

    coefficient: float
    low: float
    high: float


def recalibrated(score: Floats, uncertainty: Floats, recalibration: SavedRecalibration) -> Floats:
    """Raise scores by their uncertainty, shape (n,), unless low equals high.

    Examples
    --------
    >>> by = SavedRecalibration(coefficient=0.5, low=0.0, high=2.0)
    >>> recalibrated(np.array([0.2, 0.2]), np.array([0.0, 1.0]), by).tolist()
    [0.2, 0.45]
    """
    span = recalibration.high - recalibration.low
    if span == 0 or recalibration.coefficient == 0:
        return score
    return score + recalibration.coefficient * np.clip((uncertainty - recalibration.low) / span, 0, 1)


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """Best boundary of an algorithm, or the nearest one.

    The boundary is None if none meets the constraint with at least one true positive; the closest is then the
    nearest one, if there is any. The recalibration is how scores are raised before the comparison (hr only).
    """

    boundary: FittedBoundary | None
    closest: FittedBoundary | None = None
    recalibration: SavedRecalibration | None = None

    @property
    def bins(self) -> int:
        """Uncertainty bins of the boundary; 0 without one."""
        return len(self.boundary.thresholds) if self.boundary else 0


def optimise_recalibrated(rows: Rows, constraint: Constraint) -> Optimum:
    """Find the best single threshold on recalibrated scores (HR).

    Try coefficients 0, 0.01, ..., 1 and every threshold of the raised score; low and high are the range of
    the uncertainty of the rows, of which a width above the largest double is a DataError. Select the highest
    recall, then the fewest selected rows, then the lowest coefficient. The idea is that of Poceviciute et al.
    2022 as used in [UB]; it is documented here since the paper gives no formula.
    """
    score, uncertainty = rows.score, rows.numbers["uncertainty"]
    present = uncertainty if rows.weight is None else uncertainty[rows.weight > 0]
    low, high = float(present.min()), float(present.max())
    if not math.isfinite(high - low):
        raise DataError(
            f"the range of uncertainties from {low:g} to {high:g} is too wide for a number",
            expected="a narrower range",
            remedy="rescale the column",
        )

    def rank(boundary: FittedBoundary) -> tuple[int, int]:
        return -boundary.fit.true_positives, boundary.fit.selected

    best = Optimum(boundary=None)
    for step in range(_COEFFICIENT_STEPS + 1):
        recalibration = SavedRecalibration(coefficient=step / _COEFFICIENT_STEPS, low=low, high=high)
        row = distinct_cells(rows.counts(recalibrated(score, uncertainty, recalibration)))
        cells = Cells(uncertainty_edges=np.empty(0), rows=(row,))
        tops = single_threshold(cells, constraint.goal(cells))
        if tops is None:
            continue
        boundary = boundary_at(cells, tops)
        if best.boundary is None or rank(boundary) < rank(best.boundary):
            best = Optimum(boundary=boundary, recalibration=recalibration)
    return best


ALGORITHMS: Final[Mapping[Algorithm, AlgorithmEntry]] = MappingProxyType(
    {
        Algorithm.ST: AlgorithmEntry(method=single_threshold, works_on=WorksOn.SCORES),
        Algorithm.SMOOTH: AlgorithmEntry(method=smoothed_boundary, works_on=WorksOn.GRID),
        Algorithm.VW_DPMT: AlgorithmEntry(method=variable_weight_optimum, works_on=WorksOn.GRID),
        Algorithm.EW_DPMT: AlgorithmEntry(
            method=equal_weight_frontier,
            works_on=WorksOn.GRID,
            of_flagged=True,
            equal_rows=True,
            table_bytes=frontier_bytes,
        ),
        Algorithm.MIST: AlgorithmEntry(method=isotonic_single_threshold, works_on=WorksOn.GRID),
        Algorithm.GMT: AlgorithmEntry(
            method=greedy_multiple_thresholds, works_on=WorksOn.GRID, of_flagged=True
        ),
        Algorithm.HR: AlgorithmEntry(
            method=single_threshold, works_on=WorksOn.RAISED_SCORES, of_flagged=True
        ),
    }
)


def optimise(cells: Cells, algorithm: Algorithm, constraint: Constraint) -> Optimum:
    """Find the best boundary of an algorithm under a constraint.

    A single threshold takes a single row of all distinct scores, other algorithms the grid; the total weight
    is at most ``defaults.MAX_ROWS``.
    """
    goal = constraint.goal(cells)
    tops = ALGORITHMS[algorithm].method(cells, goal)
    if tops is not None:
        return Optimum(boundary=boundary_at(cells, tops))
    closest = goal.closest([top_runs(row) for row in cells.rows])
    # not raised: raising could make it meet the constraint
    nearest = boundary_at(cells, closest, raised=False) if closest else None
    return Optimum(boundary=None, closest=nearest)

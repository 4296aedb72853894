"""HR: heuristic recalibration, which raises the score by the uncertainty, then a single threshold.

Poceviciute et al. 2022 as used in [UB]; documented here since the paper gives no formula.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from uqcli.base.counts import Cells, Floats, distinct_cells
from uqcli.base.errors import DataError
from uqcli.base.rows import Rows
from uqcli.boundary.search.algorithms.st import single_threshold
from uqcli.boundary.search.constraint import Constraint, ConstraintKind
from uqcli.boundary.search.registry import AlgorithmEntry, WorksOn
from uqcli.boundary.search.result import FittedBoundary, boundary_at

_COEFFICIENT_STEPS = 100


class SavedRecalibration(msgspec.Struct, frozen=True, kw_only=True):
    """Scores are raised by coefficient * clip((uncertainty - low) / (high - low), 0, 1)."""

    coefficient: float
    low: float
    high: float


def recalibrated(score: Floats, uncertainty: Floats, recalibration: SavedRecalibration) -> Floats:
    """Raise scores by their uncertainty, unless low equals high.

    Parameters
    ----------
    score, uncertainty : float64, shape (n,)

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


def heuristic_recalibration(
    rows: Rows, constraint: Constraint
) -> tuple[FittedBoundary, SavedRecalibration] | None:
    """Try coefficients 0, 0.01, ..., 1 and every threshold of the raised score.

    Select the highest recall, then the fewest selected rows, then the lowest coefficient.

    Parameters
    ----------
    rows
        Calibration set; low and high are the range of its uncertainty.

    Raises
    ------
    DataError
        The range of the uncertainty exceeds the largest double.
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
    best: tuple[FittedBoundary, SavedRecalibration] | None = None
    for step in range(_COEFFICIENT_STEPS + 1):
        recalibration = SavedRecalibration(coefficient=step / _COEFFICIENT_STEPS, low=low, high=high)
        row = distinct_cells(rows.counts(recalibrated(score, uncertainty, recalibration)))
        cells = Cells(uncertainty_edges=np.empty(0), rows=(row,))
        tops = single_threshold(cells, constraint.goal(cells))
        if tops is None:
            continue
        boundary = boundary_at(cells, tops)
        if best is None or _rank(boundary) < _rank(best[0]):
            best = boundary, recalibration
    return best


def _rank(boundary: FittedBoundary) -> tuple[int, int]:
    return -boundary.fit.true_positives, boundary.fit.selected


ALGORITHM = AlgorithmEntry(
    method=single_threshold, works_on=WorksOn.RAISED_SCORES, kinds=frozenset({ConstraintKind.PRECISION})
)

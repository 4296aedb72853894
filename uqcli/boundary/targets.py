"""Find what each of several targets would bring, where the user has not chosen one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells
from uqcli.boundary.calibration_set import CalibrationRows
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.report import BoundaryReport
from uqcli.boundary.run import run
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.constraint import Constraint, ConstraintKind, parse_constraint
from uqcli.boundary.targets_report import TargetsReport
from uqcli.engines.open import reusable_streams
from uqcli.engines.protocol import Table
from uqcli.rules.result import Result

_PRECISIONS: Final = (
    *("0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.4"),
    *("0.5", "0.6", "0.7", "0.8", "0.9", "0.95"),
)
_HIGH_PRECISIONS: Final = ("0.6", "0.7", "0.8", "0.9", "0.95", "0.99")
"""Precisions of interest if half of the rows are positive."""

MOST_PRECISIONS: Final = 6
_SHARES: Final = ("1%", "5%", "10%", "20%")


def run_targets(request: BoundaryRequest, table: Table | None = None) -> Result[TargetsReport, None]:
    """Find the rules for usual precisions and shares of alerts; none is saved.

    Each is the rule of ``run`` for that constraint.

    Parameters
    ----------
    table
        Table of the rows, if it is open already.

    Raises
    ------
    UsageError, DataError
        See ``run``.
    """
    with reusable_streams():
        rows, reached = _rows_and_targets(request, table)
        reports = tuple(_reports(request, reached, rows))
    cells = rows.one_row
    return Result(
        report=TargetsReport(
            source=rows.source,
            algorithm=request.searched,
            on_invalid=request.data.on_invalid,
            positive=request.data.positive_value,
            seed=request.seed,
            rows=cells.total,
            positives=cells.positives,
            reports=reports,
            lacks_uncertainty=rows.lacks_uncertainty,
        ),
        artifact=None,
    )


def _rows_and_targets(
    request: BoundaryRequest, table: Table | None
) -> tuple[CalibrationRows, tuple[Constraint, ...]]:
    """Read the rows once for all targets that may be of interest; also return those that a rule reaches."""
    shares = [parse_constraint(ConstraintKind.MAX_SELECTED, share) for share in _SHARES]
    all_precisions = sorted({*_PRECISIONS, *_HIGH_PRECISIONS}, key=float)
    precisions = [parse_constraint(ConstraintKind.PRECISION, text) for text in all_precisions]
    bounds = (*precisions, *shares)
    rows = CalibrationRows.from_request(replace(request, bounds=bounds), bounds[0], table=table)
    rows.cells(Algorithm(request.searched))  # counted once, for all bounds
    cells = rows.one_row
    usual = usual_precisions(cells.positives, cells.total)
    reached = [bound for bound in usual if _is_reached(bound, cells)]
    return rows, (*reached[-MOST_PRECISIONS:], *(share for share in shares if _is_reached(share, cells)))


def usual_precisions(positives: int, rows: int) -> list[Constraint]:
    """Return the usual precisions above the positive rate, in ascending order."""
    texts = _HIGH_PRECISIONS if 2 * positives >= rows else _PRECISIONS
    bounds = [parse_constraint(ConstraintKind.PRECISION, text) for text in texts]
    return [bound for bound in bounds if bound.numbers[0] * rows > positives]


def _is_reached(bound: Constraint, cells: Cells) -> bool:
    """Whether a single threshold meets a bound; more thresholds may, where it does not."""
    return cells.positives > 0 and optimise(cells, Algorithm.SMOOTH, bound).boundary is not None


def _reports(
    request: BoundaryRequest, bounds: tuple[Constraint, ...], rows: CalibrationRows
) -> Iterator[BoundaryReport]:
    """Find the rule for each bound, and leave out those without one."""
    request = replace(request, bounds=bounds)
    for bound in bounds:
        report = run(replace(request, constraint=bound), rows).report
        if report.chosen.boundary is not None:
            yield report

"""Boundaries of groups, and the boundary of all rows for other groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from uqcli.artifacts.boundary import BoundaryParameters
from uqcli.choices import Algorithm
from uqcli.counts import Bools, RangeCounts
from uqcli.engines.protocol import Partition, Table
from uqcli.errors import DataError
from uqcli.jobs.boundary.calibration_set import CalibrationRows
from uqcli.jobs.boundary.request import BoundaryRequest
from uqcli.methods.boundary.groups import GroupSearch
from uqcli.methods.boundary.optimum import Optimum
from uqcli.methods.boundary.result import FitCounts, FittedBoundary
from uqcli.reports.boundary.groups import GroupRules
from uqcli.reports.boundary.report import Candidate


@dataclass(frozen=True, kw_only=True)
class GroupedBoundary:
    """Boundaries of groups on a calibration set.

    Attributes
    ----------
    chosen
        The boundary of all rows, with the counts of all rows as the groups' rules decide them.
    """

    calibration_set: CalibrationRows
    parameters: BoundaryParameters
    chosen: Candidate
    rules: GroupRules


def find_by_group(request: BoundaryRequest) -> GroupedBoundary:
    """Find the boundary of each group that is large enough, and of all rows.

    Raises
    ------
    UsageError, DataError
        An option is out of range, the rows cannot be read, or no group is large enough.
    """
    by, algorithm = request.by or "", Algorithm(request.searched)
    calibration_set = CalibrationRows.from_request(request, request.constraint)
    weights = _weights(calibration_set.table, by)
    names = [name for name, rows in weights.items() if rows >= request.min_group]
    if not names:
        largest = max(weights.values(), default=0)
        raise DataError(
            f"no group has {request.min_group} rows; the largest has {largest}",
            expected="at least one large enough",
            remedy="lower --min-group, or fit one boundary without groups",
        )
    parts = {name: calibration_set.only(by, name) for name in names}
    search = GroupSearch(
        parts=tuple(part.cells(algorithm) for part in parts.values()),
        algorithm=algorithm,
        constraint=request.constraint,
        bound=request.bound,
    )
    pooled = calibration_set.optimum(algorithm).found or _never(calibration_set)
    boundaries = search.boundaries()
    found = dict(zip(names, boundaries, strict=True)) if boundaries else {}
    small = {name: rows for name, rows in weights.items() if name not in parts}
    rest = _sum([])
    if small:
        rest = _less(pooled.fit, [_counts_under(part.table, pooled) for part in parts.values()])
    rules = GroupRules(
        by=by,
        bound=request.bound,
        min_group=request.min_group,
        boundaries=found,
        searched=len(names),
        small=small,
        rest=rest,
    )
    boundary = None
    if found:
        fit = _sum([*(boundary.fit for boundary in found.values()), rest])
        boundary = FittedBoundary(
            uncertainty_edges=pooled.uncertainty_edges, thresholds=pooled.thresholds, fit=fit
        )
    chosen = Candidate(
        algorithm=algorithm,
        optimum=Optimum(found=boundary),
        expected=search.expected(request.seed) if boundary else None,
    )
    return GroupedBoundary(
        calibration_set=calibration_set,
        parameters=calibration_set.parameters(request, algorithm, len(pooled.thresholds)),
        chosen=chosen,
        rules=rules,
    )


def _weights(table: Table, by: str) -> dict[str, int]:
    """Return the rows of each group by weight."""

    def nothing(counts: Sequence[RangeCounts]) -> list[Bools]:
        return [np.zeros(len(part.value), dtype=np.bool_) for part in counts]

    *parts, _ = table.range_counts(Partition(groups=(by,)), nothing)
    return {name: part.rows for name, part in zip(table.groups(by), parts, strict=True)}


def _never(calibration_set: CalibrationRows) -> FittedBoundary:
    """Return a boundary that flags no row, where none of all rows meets the constraint."""
    cells = calibration_set.one_row
    fit = FitCounts(selected=0, true_positives=0, rows=cells.total, positives=cells.positives)
    return FittedBoundary(uncertainty_edges=cells.uncertainty_edges, thresholds=(None,), fit=fit)


def _counts_under(table: Table, boundary: FittedBoundary) -> FitCounts:
    """Count the rows of a table that a boundary flags."""
    *parts, total = table.range_counts(
        Partition(edges=boundary.uncertainty_edges), partial(_at_thresholds, boundary=boundary)
    )
    selected = true_positives = 0
    for part, threshold in zip(parts, boundary.thresholds, strict=True):
        if threshold is not None:
            flagged = part.value >= threshold
            selected += int(part.count[flagged].sum())
            true_positives += int(part.positives[flagged].sum())
    return FitCounts(
        selected=selected,
        true_positives=true_positives,
        rows=total.rows,
        positives=int(total.positives.sum()),
    )


def _at_thresholds(counts: Sequence[RangeCounts], boundary: FittedBoundary) -> list[Bools]:
    """Return the ranges that contain the threshold of their part."""
    *parts, total = counts
    masks = [
        np.zeros(len(part.value), dtype=np.bool_)
        if threshold is None
        else part.around(np.array([threshold])) & ~part.exact
        for part, threshold in zip(parts, boundary.thresholds, strict=True)
    ]
    return [*masks, np.zeros(len(total.value), dtype=np.bool_)]


def _sum(counts: Sequence[FitCounts]) -> FitCounts:
    return FitCounts(
        selected=sum(fit.selected for fit in counts),
        true_positives=sum(fit.true_positives for fit in counts),
        rows=sum(fit.rows for fit in counts),
        positives=sum(fit.positives for fit in counts),
    )


def _less(fit: FitCounts, others: Sequence[FitCounts]) -> FitCounts:
    """Subtract the counts of other rows."""
    other = _sum(others)
    return FitCounts(
        selected=fit.selected - other.selected,
        true_positives=fit.true_positives - other.true_positives,
        rows=fit.rows - other.rows,
        positives=fit.positives - other.positives,
    )

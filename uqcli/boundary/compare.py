"""Test whether each of several uncertainty columns improves on a single threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from uqcli.base.amounts import units
from uqcli.base.choices import Algorithm
from uqcli.base.counts import Cells, bin_of
from uqcli.base.defaults import FOLDS
from uqcli.base.draws import check_seed
from uqcli.base.errors import DataError, UsageError
from uqcli.boundary.calibration_set import CalibrationRows, CalibrationSet
from uqcli.boundary.clusters import ClusteredGrid
from uqcli.boundary.comparison_report import MIN_GAIN, UncertaintyComparison
from uqcli.boundary.drawn_rows import copies
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.permutation import PERMUTATIONS, CrossValidatedGrid, Gain, gain_of
from uqcli.boundary.report import Candidate
from uqcli.boundary.search.algorithms import ALGORITHMS, WorksOn, optimise_recalibrated
from uqcli.boundary.search.constraint import Constraint
from uqcli.estimates.proportion import holm
from uqcli.estimates.survey import FEW_CLUSTERS
from uqcli.rules.saved import Source


def compare_uncertainties(
    request: BoundaryRequest, constraint: Constraint
) -> tuple[tuple[UncertaintyComparison, ...], CalibrationRows]:
    """Test every uncertainty column of a request, the best first; also return the rows of the best."""
    if request.grid is not None:
        raise UsageError("--compare beside --grid", expected="the rows themselves")
    check_seed(request.seed)
    names = request.compared
    rows_by_name = {
        name: CalibrationRows.from_request(request.with_uncertainty(name), constraint, uncertain=True)
        for name in names
    }
    permutations = PERMUTATIONS * len(names) - 1
    gains = {
        name: gain_of(_cross_validated(rows, request.seed), constraint, request.seed, permutations)
        for name, rows in rows_by_name.items()
    }
    comparisons = rank_comparisons(gains)
    return comparisons, rows_by_name[comparisons[0].uncertainty]


def _cross_validated(rows: CalibrationRows, seed: int) -> CrossValidatedGrid:
    """Split the rows of a calibration set into folds.

    Counts are split by drawing. Amounts belong to single rows, which are split by hashes.
    """
    cells, constraint = rows.compared_cells, rows.constraint
    if rows.clusters is not None:
        single = rows.clusters
        if len(single.key) < FEW_CLUSTERS:
            raise DataError(f"{len(single.key)} clusters", expected=f"at least {FEW_CLUSTERS} for --compare")
        values = None
        if single.amounts is not None:
            values = constraint.values(single.positive, single.amounts)
        return ClusteredGrid.from_clusters(cells, single, seed, values)
    if not constraint.amounts:
        return CrossValidatedGrid.from_cells(cells, seed)
    table = rows.table.rows().pooled()
    index, keys = copies(table, seed)
    fold = (keys % np.uint64(FOLDS)).astype(np.int64)
    edges, (row, *_) = cells.uncertainty_edges, cells.rows
    uncertainty = table.numbers["uncertainty"]
    cell = bin_of(uncertainty, edges) * len(row.lower) + bin_of(table.score, row.lower[1:])
    amounts = np.stack([units(table.numbers[role]) for role in constraint.amounts])
    return CrossValidatedGrid.from_rows(
        cells,
        fold=fold,
        cell=cell[index],
        positive=table.labels[index],
        amounts=amounts[:, index],
        values=constraint.values(table.labels, amounts)[index],
    )


def other_direction(
    calibration_set: CalibrationSet, best: Candidate, seed: int, compared: Sequence[UncertaintyComparison]
) -> str:
    """State what the uncertainty would gain with the other sign; empty unless that is worthwhile.

    If the uncertainties all differ, the grids of both signs are mirror images. Ties make them differ: rows
    with the uncertainty of an edge are all in the bin above it.
    """
    if not isinstance(calibration_set, CalibrationRows) or not calibration_set.uncertain:
        return ""
    if best.algorithm is Algorithm.HR:
        rows = calibration_set.table.rows()
        rows = replace(rows, numbers={**rows.numbers, "uncertainty": 0.0 - rows.numbers["uncertainty"]})
        turned = optimise_recalibrated(rows, calibration_set.constraint).boundary
        own, other = (boundary.fit if boundary is not None else None for boundary in (best.boundary, turned))
        if other is None:
            return ""
        hits = other.true_positives - (0 if own is None else own.true_positives)
        return _worthwhile(calibration_set.source, hits / other.positives)
    if (
        ALGORITHMS[best.algorithm].works_on is not WorksOn.GRID
        or calibration_set.cluster is not None
        or calibration_set.constraint.amounts
        or not _has_ties(calibration_set, best.algorithm)
    ):
        return ""
    cells = calibration_set.compared_cells
    constraint = calibration_set.constraint
    before = compared[0].gain if compared else _gain(cells, constraint, seed)
    after = _gain(calibration_set.turned_cells(len(cells.rows)), constraint, seed)
    if before is None or after is None or (after.equal_alerts.low or 0.0) <= 0:
        return ""
    gained = (after.equal_alerts.value or 0.0) - (before.equal_alerts.value or 0.0)
    return _worthwhile(calibration_set.source, gained)


_MAX_UNEQUAL: Final = 0.1
"""Largest deviation of the rows in an uncertainty bin from their mean, relative to it, without many ties."""


def _has_ties(rows: CalibrationRows, algorithm: Algorithm) -> bool:
    """Whether many uncertainties are equal, by the bins of a grid that is counted anyway."""
    cells = rows.compared_cells if rows.is_auto(algorithm) else rows.cells(algorithm)
    sizes = np.array([row.count.sum() for row in cells.rows])
    return bool((np.abs(len(sizes) * sizes - cells.total) > _MAX_UNEQUAL * cells.total).any())


def _gain(cells: Cells, constraint: Constraint, seed: int) -> Gain | None:
    return gain_of(CrossValidatedGrid.from_cells(cells, seed), constraint, seed, permutations=1)


def _worthwhile(source: Source, recall: float) -> str:
    """State the gain of the other sign, and the option that takes it; empty if it is small."""
    if recall < MIN_GAIN:
        return ""
    column = source.uncertainty or ""
    turned = column if source.signed_uncertainty != column else f"-{column}"
    return (
        f"with its sign reversed, the uncertainty would gain {100 * recall:.1f} more points of recall: try "
        f"--uncertainty={turned}."
    )


def rank_comparisons(gains: dict[str, Gain | None]) -> tuple[UncertaintyComparison, ...]:
    """Adjust p-values for all columns jointly (Holm); rank by the gain in excess of the permuted gains."""
    tested = {name: test for name, test in gains.items() if test is not None}
    p_values = holm({name: test.p_value for name, test in tested.items()})
    p_values_of_harm = holm({name: test.p_hurts for name, test in tested.items()})
    comparisons = [
        UncertaintyComparison(
            uncertainty=name, gain=test, p_value=p_values.get(name), p_hurts=p_values_of_harm.get(name)
        )
        for name, test in gains.items()
    ]
    return tuple(sorted(comparisons, key=lambda comparison: -comparison.beyond))

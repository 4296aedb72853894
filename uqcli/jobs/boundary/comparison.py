"""Test whether each of several uncertainty columns improves on a single threshold."""

from __future__ import annotations

import numpy as np

from uqcli.amounts import units
from uqcli.counts import bin_of
from uqcli.defaults import FOLDS
from uqcli.draws import check_seed
from uqcli.errors import DataError, UsageError
from uqcli.jobs.boundary.calibration_set import CalibrationRows
from uqcli.jobs.boundary.keyed import copies
from uqcli.jobs.boundary.request import BoundaryRequest
from uqcli.methods.boundary.clustered_rows import ClusteredGrid, ClusteredRows
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.ranking.permutation import PERMUTATIONS, CrossValidatedGrid, Gain, gain_of
from uqcli.methods.multiple import holm
from uqcli.methods.survey import FEW_CLUSTERS
from uqcli.reports.boundary.comparison import UncertaintyComparison


def compare_uncertainties(
    request: BoundaryRequest, constraint: Constraint
) -> tuple[tuple[UncertaintyComparison, ...], CalibrationRows]:
    """Test every uncertainty column of a request, the best first; also return the rows of the best.

    Raises
    ------
    UsageError, DataError
        The request has no rows, or they cannot be read.
    """
    if request.saved_grid is not None:
        raise UsageError("--compare beside --grid", expected="the rows themselves")
    check_seed(request.seed)
    names = request.compare
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
        _require_clusters(rows.clusters)
        return ClusteredGrid.from_clusters(cells, rows.clusters, seed)
    if not constraint.amounts:
        return CrossValidatedGrid.from_cells(cells, seed)
    table = rows.table.rows().pooled()
    single = copies(table, seed)
    fold = (single.hashes % np.uint64(FOLDS)).astype(np.int64)
    edges, (row, *_) = cells.uncertainty_edges, cells.rows
    uncertainty = table.numbers["uncertainty"]
    cell = bin_of(uncertainty, edges) * len(row.lower) + bin_of(table.score, row.lower[1:])
    amounts = np.stack([units(table.numbers[role]) for role in constraint.amounts])
    return CrossValidatedGrid.from_rows(
        cells,
        fold=fold,
        cell=cell[single.index],
        positive=table.labels[single.index],
        amounts=amounts[:, single.index],
        values=constraint.values(table.labels, amounts)[single.index],
    )


def _require_clusters(rows: ClusteredRows) -> None:
    """Refuse a test on few clusters.

    Raises
    ------
    DataError
        There are fewer than 20.
    """
    if len(rows.key) < FEW_CLUSTERS:
        raise DataError(f"{len(rows.key)} clusters", expected=f"at least {FEW_CLUSTERS} for --compare")


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

"""Run the requested algorithms on a calibration set, and select the best boundary.

It is compared with a single threshold, by tests of one or several uncertainty columns if they are requested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from time import perf_counter
from typing import Final

import numpy as np

from uqcli.base import defaults
from uqcli.base.amounts import units
from uqcli.base.choices import Algorithm, AlgorithmChoice
from uqcli.base.counts import Cells, bin_of
from uqcli.base.defaults import FOLDS
from uqcli.base.errors import DataError, UsageError, words
from uqcli.boundary.calibration_set import CalibrationGrid, CalibrationRows, CalibrationSet, algorithms_of
from uqcli.boundary.candidate import Candidate
from uqcli.boundary.clusters import NO_VALUES, ClusteredGrid
from uqcli.boundary.comparison import MIN_GAIN, TestedUncertainty, UncertaintyComparison
from uqcli.boundary.drawn_rows import copies
from uqcli.boundary.expected import Expected, expected
from uqcli.boundary.permutation import PERMUTATIONS, CrossValidatedGrid, Gain, gain_of
from uqcli.boundary.search.algorithms import ALGORITHMS, Optimum, WorksOn, optimise, optimise_recalibrated
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.goals import top_runs
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.proportion import holm
from uqcli.estimates.survey import FEW_CLUSTERS
from uqcli.rules.saved import Source

_BOUND_TOLERANCE: Final = 0.005
"""Tolerance within which an expected rate counts as meeting its bound."""


def candidates_of(calibration_set: CalibrationSet, choice: AlgorithmChoice) -> tuple[Candidate, ...]:
    """Run the requested algorithms."""
    if choice is not AlgorithmChoice.ALL:
        _require_applicable(calibration_set, Algorithm(choice))
    return tuple(_try(calibration_set, algorithm) for algorithm in algorithms_of(choice))


def best_of(candidates: Sequence[Candidate], constraint: Constraint) -> Candidate:
    """Select by expected results on new data, then goal, recall and fewest alerts; the first wins ties."""

    def rank(candidate: Candidate) -> tuple[float | Fraction, ...]:
        boundary = candidate.boundary
        if not boundary:
            return (True,)
        fit, results = boundary.fit, candidate.expected
        unsafe = (not results, bool(results and not _keeps(results, constraint)))
        by_fit = (-constraint.objective(fit), -fit.true_positives, fit.selected)
        return (False, *unsafe, -_objective(results, fit, constraint), *by_fit)

    return min((applicable for applicable in candidates if not applicable.obstacle), key=rank)


def _keeps(expected: Expected, constraint: Constraint) -> bool:
    """Whether a bound on precision or recall is expected to be met, within half a percentage point."""
    least = float(constraint.numbers[0]) - _BOUND_TOLERANCE
    by_rate = expected.by_rate
    return all((by_rate[rate].value or 0.0) >= least for rate in constraint.rates if rate in by_rate)


def _objective(expected: Expected | None, fit: Confusion[int], constraint: Constraint) -> float:
    if not expected:
        return 0.0
    precision, recall = expected.precision.value or 0.0, expected.recall.value or 0.0
    return constraint.expected_objective(fit, precision, recall)


def threshold_instead(
    chosen: Candidate, calibration_set: CalibrationSet, compared: Sequence[UncertaintyComparison]
) -> Candidate | None:
    """Return the single threshold to use instead of a boundary; None to keep the boundary.

    The cross-validated test decides, if there was one. Under a budget the better of the two is used, by
    expected results.
    """
    constraint = calibration_set.constraint
    if not chosen.bins:
        return _one_threshold(calibration_set)
    if chosen.bins == 1:
        return None
    if compared:
        return None if compared[0].verdict == "helps" else _one_threshold(calibration_set)
    if not constraint.is_budget:
        return None
    single = _one_threshold(calibration_set)
    return single if single and best_of([single, chosen], constraint) is single else None


def _one_threshold(calibration_set: CalibrationSet) -> Candidate | None:
    """Return the default rule without uncertainty, or if that is infeasible the best threshold, if any."""
    cells = calibration_set.one_row
    if not cells:
        return None
    boundary = optimise(cells, Algorithm.SMOOTH, calibration_set.constraint).boundary
    if boundary:
        results = None
        if isinstance(calibration_set, CalibrationGrid) or not calibration_set.clusters:
            constraint, seed = calibration_set.constraint, calibration_set.seed
            results = expected(cells, Algorithm.SMOOTH, constraint, seed)
        return Candidate(algorithm=Algorithm.SMOOTH, boundary=boundary, expected=results)
    if calibration_set.constraint.margin or calibration_set.obstacle(Algorithm.ST):
        return None
    boundary = calibration_set.optimum(Algorithm.ST).boundary
    return Candidate(algorithm=Algorithm.ST, boundary=boundary) if boundary else None


def single_threshold_beside(best: Candidate, calibration_set: CalibrationSet) -> Optimum | None:
    """Find a single threshold on the same rows, for comparison.

    None if the rule is itself a single threshold, or if algorithm st does not apply.
    """
    is_single = best.bins == 1 and best.algorithm is not Algorithm.HR
    if is_single or best.algorithm is Algorithm.ST or calibration_set.obstacle(Algorithm.ST):
        return None
    return optimise(calibration_set.cells(Algorithm.ST), Algorithm.ST, calibration_set.constraint)


def equal_alerts(best: Candidate, calibration_set: CalibrationSet) -> Confusion[int] | None:
    """Count a single threshold that flags as many rows as a boundary, the fair comparison of their recalls.

    It flags the most whole cells of the default grid's scores that together have no more rows. None if the
    boundary is itself a single threshold, or was not found on that grid.
    """
    boundary, cells = best.boundary, calibration_set.one_row
    if best.algorithm is not Algorithm.SMOOTH or not boundary or best.bins == 1 or not cells:
        return None
    runs = top_runs(cells.rows[0])
    cut = int(runs.selected.searchsorted(boundary.fit.selected, side="right")) - 1
    return Confusion(
        rows=boundary.fit.rows,
        positives=boundary.fit.positives,
        selected=int(runs.selected[cut]),
        true_positives=int(runs.true_positives[cut]),
    )


def _try(calibration_set: CalibrationSet, algorithm: Algorithm) -> Candidate:
    obstacle = calibration_set.obstacle(algorithm) or _oversize(calibration_set, algorithm)
    if obstacle:
        return Candidate(algorithm=algorithm, boundary=None, obstacle=obstacle)
    calibration_set.cells(algorithm)  # counted once, for all algorithms
    start = perf_counter()
    optimum = calibration_set.optimum(algorithm)
    seconds = perf_counter() - start
    return Candidate(
        algorithm=algorithm,
        boundary=optimum.boundary,
        closest=optimum.closest,
        recalibration=optimum.recalibration,
        seconds=seconds,
        expected=calibration_set.expected(algorithm) if optimum.boundary else None,
    )


def _require_applicable(calibration_set: CalibrationSet, algorithm: Algorithm) -> None:
    if obstacle := calibration_set.obstacle(algorithm):
        raise UsageError(
            words("--algorithm {} does not apply: it {}", algorithm, obstacle), remedy="use vw-dpmt"
        )
    if oversize := _oversize(calibration_set, algorithm):
        raise DataError(
            words("--algorithm {} {}", algorithm, oversize),
            expected=f"at most {defaults.MAX_TABLE_BYTES / 1e9:.1f} GB",
            remedy=words("use --algorithm vw-dpmt, or fewer bins (--uncertainty-bins, --score-bins)"),
        )


def _oversize(calibration_set: CalibrationSet, algorithm: Algorithm) -> str:
    """Return the size of an algorithm's table if it exceeds the limit; empty if it fits."""
    size = ALGORITHMS[algorithm].table_bytes(*calibration_set.shape(algorithm))
    if size <= defaults.MAX_TABLE_BYTES:
        return ""
    bins = " x ".join(map(str, calibration_set.shape(algorithm)))
    return f"needs a table of {size / 1e9:,.1f} GB for {bins} bins"


def compare_uncertainties(rows_by_name: Mapping[str, CalibrationRows]) -> tuple[UncertaintyComparison, ...]:
    """Test several uncertainty columns, each with the rows that were read with it; the best is first."""
    permutations = PERMUTATIONS * len(rows_by_name) - 1
    return rank_comparisons(
        {
            name: gain_of(_cross_validated(rows, rows.seed), rows.constraint, rows.seed, permutations)
            for name, rows in rows_by_name.items()
        }
    )


def _cross_validated(rows: CalibrationRows, seed: int) -> CrossValidatedGrid:
    """Split the rows of a calibration set into folds.

    Counts are split by drawing. Amounts belong to single rows, which are split by hashes.
    """
    cells, constraint = rows.compared_cells, rows.constraint
    single = rows.clustered_rows
    if single is not None:
        if len(single.key) < FEW_CLUSTERS:
            raise DataError(
                f"{len(single.key)} clusters", expected=words("at least {} for --compare", FEW_CLUSTERS)
            )
        values = constraint.values(single.positive, single.amounts) if constraint.amounts else NO_VALUES
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
        if not turned:
            return ""
        own = best.boundary.fit.true_positives if best.boundary else 0
        gained = (turned.fit.true_positives - own) / turned.fit.positives
        return _worthwhile(calibration_set.source, gained)
    if (
        ALGORITHMS[best.algorithm].works_on is not WorksOn.GRID
        or calibration_set.clusters
        or calibration_set.constraint.amounts
        or not _has_ties(calibration_set, best.algorithm)
    ):
        return ""
    cells = calibration_set.compared_cells
    constraint = calibration_set.constraint
    tested = [column.gain for column in compared[:1] if isinstance(column, TestedUncertainty)]
    before = next(iter(tested), None) if compared else _gain(cells, constraint, seed)
    after = _gain(calibration_set.turned_cells(len(cells.rows)), constraint, seed)
    if not (before and after) or (after.equal_alerts.low or 0.0) <= 0:
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
    tested = {name: test for name, test in gains.items() if test}
    p_values = holm({name: test.p_value for name, test in tested.items()})
    p_hurts = holm({name: test.p_hurts for name, test in tested.items()})
    comparisons = [
        TestedUncertainty(uncertainty=name, gain=test, p_value=p_values[name], p_hurts=p_hurts[name])
        if test
        else UncertaintyComparison(uncertainty=name)
        for name, test in gains.items()
    ]
    return tuple(sorted(comparisons, key=lambda comparison: -comparison.beyond))

"""Run the requested algorithms on a calibration set and select the best boundary."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from time import perf_counter
from typing import Final

from uqcli.base import defaults
from uqcli.base.choices import Algorithm, AlgorithmChoice
from uqcli.base.errors import DataError, UsageError
from uqcli.boundary.calibration_set import CalibrationSet, algorithms_of
from uqcli.boundary.comparison_report import UncertaintyComparison
from uqcli.boundary.expected import Expected, expected
from uqcli.boundary.report import Candidate
from uqcli.boundary.search.algorithms import ALGORITHMS, Optimum, optimise
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.score_runs import top_runs
from uqcli.estimates.confusion import Confusion, Rate

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
        if boundary is None:
            return (True,)
        fit, expected_results = boundary.fit, candidate.expected
        objective = constraint.objective(fit)
        unsafe = (
            expected_results is None,
            expected_results is not None and not _keeps(expected_results, constraint),
        )
        by_fit = (-objective, -fit.true_positives, fit.selected)
        return (False, *unsafe, -_objective(expected_results, fit, constraint), *by_fit)

    return min((applicable for applicable in candidates if applicable.obstacle is None), key=rank)


def _keeps(expected: Expected, constraint: Constraint) -> bool:
    """Whether a bound on precision or recall is expected to be met, within half a percentage point."""
    by_rate = {Rate.PRECISION: expected.precision, Rate.RECALL: expected.recall}
    estimate = None if constraint.rate is None else by_rate.get(constraint.rate)
    return estimate is None or (estimate.value or 0.0) >= float(constraint.numbers[0]) - _BOUND_TOLERANCE


def _objective(expected: Expected | None, fit: Confusion[int], constraint: Constraint) -> float:
    if expected is None:
        return 0.0
    precision, recall = expected.precision.value or 0.0, expected.recall.value or 0.0
    if not constraint.is_utility:
        return precision if constraint.rule.maximised is Rate.PRECISION else recall
    if constraint.amounts:  # the amounts of other rows are unknown
        return float(constraint.objective(fit))
    gain, cost = map(float, constraint.numbers)
    return fit.selected * (gain * precision - cost * (1 - precision))


def threshold_instead(
    chosen: Candidate, calibration_set: CalibrationSet, compared: Sequence[UncertaintyComparison]
) -> Candidate | None:
    """Return the single threshold to use instead of a boundary; None to keep the boundary.

    The cross-validated test decides, if there was one. Under a budget the better of the two is used, by
    expected results.
    """
    constraint = calibration_set.constraint
    if chosen.boundary is None:
        return _one_threshold(calibration_set)
    if len(chosen.boundary.thresholds) == 1:
        return None
    if compared:
        return None if compared[0].verdict == "helps" else _one_threshold(calibration_set)
    if not constraint.rule.is_budget:
        return None
    single = _one_threshold(calibration_set)
    return single if single is not None and best_of([single, chosen], constraint) is single else None


def _one_threshold(calibration_set: CalibrationSet) -> Candidate | None:
    """Return the default rule without uncertainty, or if that is infeasible the best threshold, if any."""
    cells = calibration_set.one_row
    if cells is None:
        return None
    boundary = optimise(cells, Algorithm.SMOOTH, calibration_set.constraint).boundary
    if boundary is not None:
        expected_results = None
        if calibration_set.cluster is None:
            constraint, seed = calibration_set.constraint, calibration_set.seed
            expected_results = expected(cells, Algorithm.SMOOTH, constraint, seed)
        return Candidate(algorithm=Algorithm.SMOOTH, boundary=boundary, expected=expected_results)
    if calibration_set.constraint.margin or calibration_set.obstacle(Algorithm.ST) is not None:
        return None
    boundary = calibration_set.optimum(Algorithm.ST).boundary
    return None if boundary is None else Candidate(algorithm=Algorithm.ST, boundary=boundary)


def single_threshold_beside(best: Candidate, calibration_set: CalibrationSet) -> Optimum | None:
    """Find a single threshold on the same rows, for comparison.

    None if the rule is itself a single threshold, or if algorithm st does not apply.
    """
    is_single = (
        best.boundary is not None
        and len(best.boundary.thresholds) == 1
        and best.algorithm is not Algorithm.HR
    )
    if is_single or best.algorithm is Algorithm.ST or calibration_set.obstacle(Algorithm.ST) is not None:
        return None
    return optimise(calibration_set.cells(Algorithm.ST), Algorithm.ST, calibration_set.constraint)


def equal_alerts(best: Candidate, calibration_set: CalibrationSet) -> Confusion[int] | None:
    """Count a single threshold that flags as many rows as a boundary, the fair comparison of their recalls.

    It flags the most whole cells of the default grid's scores that together have no more rows. None if the
    boundary is itself a single threshold, or was not found on that grid.
    """
    boundary, cells = best.boundary, calibration_set.one_row
    if best.algorithm is not Algorithm.SMOOTH or boundary is None or len(boundary.thresholds) == 1:
        return None
    if cells is None:
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
    if obstacle is not None:
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
        expected=calibration_set.expected(algorithm) if optimum.boundary is not None else None,
    )


def _require_applicable(calibration_set: CalibrationSet, algorithm: Algorithm) -> None:
    """Refuse an algorithm that does not apply."""
    obstacle = calibration_set.obstacle(algorithm)
    if obstacle is not None:
        raise UsageError(f"--algorithm {algorithm} does not apply: it {obstacle}", remedy="use vw-dpmt")
    oversize = _oversize(calibration_set, algorithm)
    if oversize is not None:
        raise DataError(
            f"--algorithm {algorithm} {oversize}",
            expected=f"at most {defaults.MAX_TABLE_BYTES / 1e9:.1f} GB",
            remedy="use --algorithm vw-dpmt, or fewer bins (--uncertainty-bins, --score-bins)",
        )


def _oversize(calibration_set: CalibrationSet, algorithm: Algorithm) -> str | None:
    """Return the size of an algorithm's table if it exceeds the limit; None if it fits."""
    needs = ALGORITHMS[algorithm].table_bytes
    size = 0 if needs is None else needs(*calibration_set.shape(algorithm))
    if size <= defaults.MAX_TABLE_BYTES:
        return None
    bins = " x ".join(map(str, calibration_set.shape(algorithm)))
    return f"needs a table of {size / 1e9:,.1f} GB for {bins} bins"

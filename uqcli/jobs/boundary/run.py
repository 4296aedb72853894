"""``uqcli boundary``: from labelled hold-out rows, or a saved grid, to a decision boundary."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter

import msgspec

from uqcli import defaults
from uqcli.artifacts.boundary import (
    BoundaryArtifact,
    BoundaryParameters,
    Fit,
    SavedConstraint,
    SavedRecalibration,
    SavedTarget,
)
from uqcli.artifacts.codec import load_kind
from uqcli.artifacts.grid import GridArtifact
from uqcli.artifacts.saved import Source
from uqcli.choices import Algorithm, AlgorithmChoice, ArtifactKind
from uqcli.engines.request import DataRequest
from uqcli.errors import InfeasibleError
from uqcli.jobs.boundary.hold_out import (
    HoldOut,
    HoldOutGrid,
    HoldOutRows,
    oversize_of,
    require_applicable,
)
from uqcli.jobs.class_mix import SavedShift, load_shift, mix_of
from uqcli.jobs.labelled import open_table, source_of
from uqcli.jobs.result import Result
from uqcli.methods.bin.grid import GridSpec
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.optimum import Optimum, optimise
from uqcli.methods.boundary.registry import WorksOn, entry_of
from uqcli.methods.boundary.target import ClassMix
from uqcli.reports.boundary.report import BoundaryReport, Candidate

_GRID = GridSpec(
    binning=defaults.GRID_BINNING, uncertainty_bins=defaults.UNCERTAINTY_BINS, score_bins=defaults.SCORE_BINS
)


@dataclass(frozen=True, kw_only=True)
class BoundaryRequest:
    """A boundary that is asked for.

    Attributes
    ----------
    grid
        How rows are cut; not looked at with a saved grid.
    saved_grid
        Path of a grid artifact to work on instead of rows, or None.
    shift
        Class weights of a target in which the constraint is to hold; None for the rows themselves.
    """

    data: DataRequest
    constraint: Constraint
    algorithm: AlgorithmChoice = defaults.ALGORITHM
    grid: GridSpec = _GRID
    saved_grid: str | None = None
    shift: SavedShift | None = None


@dataclass(frozen=True, kw_only=True)
class _Problem:
    """What boundaries are found on, and the options to be saved with the result."""

    hold_out: HoldOut
    source: Source
    parameters: BoundaryParameters


def run(request: BoundaryRequest) -> Result[BoundaryReport, BoundaryArtifact | None]:
    """Read, find the boundary, describe it.

    Raises
    ------
    UsageError, DataError, ArtifactError
        See the parts.
    """
    mix = None
    if request.shift is not None:
        mix = mix_of(load_shift(request.shift), request.data.positive_value).mix
    constraint = request.constraint if mix is None else mix.in_source(request.constraint)
    problem = _from_grid(request) if request.saved_grid is not None else _from_rows(request, constraint)
    if request.algorithm is AlgorithmChoice.ALL:
        candidates = tuple(_try(problem.hold_out, algorithm, constraint) for algorithm in Algorithm)
    else:
        algorithm = Algorithm(request.algorithm)
        require_applicable(problem.hold_out, algorithm, constraint)
        candidates = (_try(problem.hold_out, algorithm, constraint),)
    return _outcome(problem, candidates, constraint, mix)


def _try(hold_out: HoldOut, algorithm: Algorithm, constraint: Constraint) -> Candidate:
    obstacle = hold_out.obstacle(algorithm, constraint.kind) or oversize_of(hold_out, algorithm)
    if obstacle is not None:
        return Candidate(algorithm=algorithm, optimum=None, obstacle=obstacle, seconds=0.0)
    hold_out.cells(algorithm)  # counted once, for all algorithms
    start = perf_counter()
    result = hold_out.optimum(algorithm, constraint)
    return Candidate(algorithm=algorithm, optimum=result, obstacle=None, seconds=perf_counter() - start)


def _outcome(
    problem: _Problem, candidates: tuple[Candidate, ...], constraint: Constraint, mix: ClassMix | None
) -> Result[BoundaryReport, BoundaryArtifact | None]:
    applicable = [candidate for candidate in candidates if candidate.optimum is not None]
    best = min(applicable, key=lambda candidate: _rank(candidate, constraint))
    cells = problem.hold_out.cells(best.algorithm)
    report = BoundaryReport(
        source=problem.source,
        parameters=_as_used(problem.parameters, best.algorithm),
        constraint=constraint,
        chosen=best,
        candidates=candidates,
        score_only=_score_only(problem.hold_out, best, constraint),
        empty_bins=tuple(number for number, row in enumerate(cells.rows) if not row.count.any()),
        rows=cells.total,
        positives=cells.positives,
        mix=mix,
    )
    if best.optimum is None or best.optimum.found is None:
        failure = InfeasibleError(report.shortfall())
        return Result(report=report, artifact=None, failure=failure)
    return Result(report=report, artifact=_artifact(report, best.optimum))


def _rank(candidate: Candidate, constraint: Constraint) -> tuple[Fraction | int, ...]:
    """Order of candidates: the goal, then recall, then fewest selected; the first named wins ties."""
    if candidate.optimum is None or candidate.optimum.found is None:
        return (1,)
    fit = candidate.optimum.found.fit
    return (0, -constraint.objective(fit.true_positives, fit.selected), -fit.true_positives, fit.selected)


def _score_only(hold_out: HoldOut, best: Candidate, constraint: Constraint) -> Optimum | None:
    """What a single score threshold reaches on the same rows, for comparison."""
    if best.algorithm is Algorithm.ST:
        return None
    if hold_out.obstacle(Algorithm.ST, constraint.kind) is not None:
        return None
    return optimise(hold_out.cells(Algorithm.ST), Algorithm.ST, constraint)


def _from_rows(request: BoundaryRequest, constraint: Constraint) -> _Problem:
    data, spec = request.data, request.grid
    spec.check()
    uncertain = _looks_at_uncertainty(request, spec.uncertainty_bins)
    table = open_table(data, looks_at_uncertainty=uncertain)
    return _Problem(
        hold_out=HoldOutRows(
            table=table,
            uncertain=uncertain,
            gridded=_looks_at_grid(request.algorithm),
            spec=spec,
            constraint=constraint,
        ),
        source=source_of(table.facts),
        parameters=BoundaryParameters(
            algorithm=request.algorithm,
            binning=spec.binning,
            uncertainty_bins=spec.uncertainty_bins,
            score_bins="all" if spec.score_bins is None else spec.score_bins,
            constraint=_saved(request.constraint),
            on_invalid=data.on_invalid,
            positive=data.positive_value,
        ),
    )


def _from_grid(request: BoundaryRequest) -> _Problem:
    grid = load_kind(request.saved_grid or "", GridArtifact)
    cells = grid.cells()
    return _Problem(
        hold_out=HoldOutGrid(saved=cells),
        source=grid.source,
        parameters=BoundaryParameters(
            algorithm=request.algorithm,
            binning=grid.binning,
            uncertainty_bins=len(cells.rows),
            score_bins=len(cells.rows[0].count),
            constraint=_saved(request.constraint),
            on_invalid=grid.parameters.on_invalid,
            positive=grid.parameters.positive,
        ),
    )


def _looks_at_uncertainty(request: BoundaryRequest, uncertainty_bins: int) -> bool:
    """Whether an algorithm uses the uncertainty column."""
    if request.algorithm is AlgorithmChoice.ALL:
        return uncertainty_bins > 1
    works_on = entry_of(Algorithm(request.algorithm)).works_on
    return works_on is WorksOn.RAISED_SCORES or (works_on is WorksOn.GRID and uncertainty_bins > 1)


def _looks_at_grid(algorithm: AlgorithmChoice) -> bool:
    """Whether an algorithm works on the grid; of all of them mist always does."""
    return algorithm is AlgorithmChoice.ALL or entry_of(Algorithm(algorithm)).works_on is WorksOn.GRID


def _as_used(parameters: BoundaryParameters, algorithm: Algorithm) -> BoundaryParameters:
    """Without the grid where the algorithm does not use it."""
    if entry_of(algorithm).works_on is WorksOn.GRID or parameters.algorithm is AlgorithmChoice.ALL:
        return parameters
    return msgspec.structs.replace(parameters, binning=None, uncertainty_bins=1, score_bins="all")


def _saved(constraint: Constraint) -> SavedConstraint:
    return SavedConstraint(kind=constraint.kind, value=constraint.value)


def _artifact(report: BoundaryReport, result: Optimum) -> BoundaryArtifact | None:
    if result.found is None:
        return None
    fit, by = result.found.fit, result.recalibration
    return BoundaryArtifact(
        kind=ArtifactKind.BOUNDARY,
        source=report.source,
        parameters=report.parameters,
        algorithm=report.chosen.algorithm,
        constraint=report.parameters.constraint,
        uncertainty_edges=result.found.uncertainty_edges.tolist(),
        thresholds=list(result.found.thresholds),
        recalibration=msgspec.UNSET
        if by is None
        else SavedRecalibration(coefficient=by.coefficient, low=by.low, high=by.high),
        fit=Fit(
            selected=fit.selected,
            true_positives=fit.true_positives,
            rows=fit.rows,
            positives=fit.positives,
            precision=fit.true_positives / fit.selected,
            recall=fit.true_positives / fit.positives,
        ),
        target=msgspec.UNSET if report.mix is None else _target(report.mix, fit.precision),
    )


def _target(mix: ClassMix, precision: float | None) -> SavedTarget:
    there = mix.precision(precision)
    assert there is not None  # something is selected, and both classes have weight
    return SavedTarget(weights=[mix.negative, mix.positive], precision=there)

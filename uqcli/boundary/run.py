"""``uqcli boundary``: find a decision boundary on a calibration set or a saved grid.

For several bounds it finds one for each; without a bound it tries usual ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec
import numpy as np

from uqcli.base.choices import Algorithm, AlgorithmChoice
from uqcli.base.counts import Cells, Ints
from uqcli.base.errors import InfeasibleError, UsageError, words
from uqcli.base.options import RowOutput
from uqcli.base.running.messages import doubt
from uqcli.bin.rule import GridArtifact
from uqcli.boundary.artifact import artifact_of, between_clusters, with_all_rows
from uqcli.boundary.calibration import Calibration
from uqcli.boundary.calibration_set import CalibrationGrid, CalibrationRows, CalibrationSet
from uqcli.boundary.candidate import Candidate
from uqcli.boundary.candidates import (
    best_of,
    candidates_of,
    compare_uncertainties,
    equal_alerts,
    other_direction,
    single_threshold_beside,
    threshold_instead,
)
from uqcli.boundary.certificate_rows import was_sampled
from uqcli.boundary.certify import certified
from uqcli.boundary.clusters import expected_over_clusters, saved_dependence
from uqcli.boundary.comparison import UncertaintyComparison
from uqcli.boundary.conflicts import (
    checked,
    is_accepted,
    refuse_beyond_region,
    refuse_conflicts,
    safer_options,
)
from uqcli.boundary.dependent_columns import alike_rows
from uqcli.boundary.groups import find_by_group
from uqcli.boundary.operating_points import write_frontier
from uqcli.boundary.options import AlgorithmOptions, BoundaryRequest
from uqcli.boundary.outcome import Found, NotFound, Outcome
from uqcli.boundary.parts.registry import (
    Parts,
    file_fields,
    parts_of_alike,
    parts_of_expectation,
    parts_of_found,
    parts_of_grid,
    parts_of_limit,
    parts_of_margin,
    parts_of_nothing,
    parts_of_rows,
    parts_of_search,
    parts_of_target,
    parts_of_threshold_beside,
    parts_of_threshold_instead,
    parts_of_uncertainty,
    parts_of_units,
    parts_of_unlabelled,
    parts_of_unsaved,
    parts_of_value,
)
from uqcli.boundary.reference import SavedReference
from uqcli.boundary.report import BoundaryReport, FoundReport
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import BoundaryParameters
from uqcli.boundary.search.algorithms import ALGORITHMS, Optimum, WorksOn, optimise
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.constraint_kinds import in_source
from uqcli.boundary.search.goals import Margin
from uqcli.boundary.search.smoothing import nested_boundaries
from uqcli.boundary.search.thresholds import FittedBoundary, nested_thresholds
from uqcli.boundary.search.typed_constraints import constraint_from
from uqcli.boundary.search.zones import with_review
from uqcli.boundary.several_report import SeveralBoundariesReport
from uqcli.boundary.targets_report import TargetsReport
from uqcli.engines.columns import MissingColumnError
from uqcli.engines.open import (
    CLUSTERED,
    EVERY_SCORE,
    RANKED,
    RANKED_TWICE,
    expected_bytes,
    require_memory,
    reusable_streams,
)
from uqcli.engines.protocol import CountTable
from uqcli.estimates.confusion import Confusion, cluster_numbers
from uqcli.estimates.estimate import FEWEST_FLAGGED
from uqcli.rules.codec import load_kind
from uqcli.rules.columns import ColumnOverrides
from uqcli.rules.result import Result, inherit_doubts, keeps_doubts
from uqcli.rules.saved import roles_of
from uqcli.shift.rule import BinaryWeights, load_shift, target_weights_of

_PRECISIONS: Final = (
    *("0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.4"),
    *("0.5", "0.6", "0.7", "0.8", "0.9", "0.95"),
)
_HIGH_PRECISIONS: Final = ("0.6", "0.7", "0.8", "0.9", "0.95", "0.99")
"""Precisions of interest if half of the rows are positive."""

MOST_PRECISIONS: Final = 6
_FEW_ABOVE: Final = 2
"""Precisions that are listed above the highest one that flags enough rows for a rate."""

_SHARES: Final = ("1%", "5%", "10%", "20%")


@keeps_doubts
def run(
    request: BoundaryRequest, rows: CalibrationRows | None = None
) -> Result[BoundaryReport, BoundaryArtifact | None]:
    """Find the boundary and report it, from a calibration set that may have been read for several bounds."""
    with _reading(request):
        result = _with_all_rows(_run(request, rows), request)
        if not result.artifact or result.artifact.region:  # of other rows than the inputs
            return result
        return replace(result, artifact=between_clusters(result.artifact, request.data))


def fitted(request: BoundaryRequest) -> BoundaryArtifact | None:
    """Find a boundary without what only a report or new rows need; None if there is none.

    Its rule equals that of ``run``, without the fields of other rules beside it, of the calibration rows as
    a reference, and of rows without a label.
    """
    with _reading(request):
        outcome = _run(request, report=False)
    return artifact_of(outcome) if isinstance(outcome, Found) else None


@contextmanager
def _reading(request: BoundaryRequest) -> Iterator[None]:
    """Let streams be read as often as needed, and errors of a missing uncertainty say how to do without."""
    data = request.data
    is_read_again = data.may_lack_labels or data.roles.cluster is not None or request.certificate.is_asked
    with _needing_uncertainty(request), reusable_streams() if is_read_again else nullcontext():
        yield


_BY_SCORE: Final = AlgorithmOptions(algorithm=AlgorithmChoice(Algorithm.ST))


@contextmanager
def _needing_uncertainty(request: BoundaryRequest) -> Iterator[None]:
    """Let the error of a missing uncertainty say how to do without one."""
    try:
        yield
    except MissingColumnError as error:
        if error.roles != {"uncertainty"}:
            raise
        if request.compared and not request.names_uncertainty:
            raise UsageError(
                words("--compare without an uncertainty: {}", error.words[0]),
                expected=words("--uncertainty COLUMN"),
            ) from error
        if not request.compared and is_accepted(replace(request, search=_BY_SCORE)):
            error.reword(
                error.words[0], words("{}, or --algorithm st to use the score alone", error.words[2])
            )
        raise


_DOUBTS: Final = ("one-class", "few-alerts", "reversed-score")
"""Cautions that a rule file keeps."""


def _with_all_rows(
    outcome: Outcome, request: BoundaryRequest
) -> Result[BoundaryReport, BoundaryArtifact | None]:
    """Report a search and make its rule; count rows without a label, and see whether rows are alike."""
    if not isinstance(outcome, Found):
        report = BoundaryReport(outcome=outcome)
        return Result(report=report, artifact=None, failure=InfeasibleError(report.shortfall()))
    rule = artifact_of(outcome)
    if rule.region:  # the other rows are not in the inputs
        return Result(report=FoundReport(outcome=outcome), artifact=rule)
    for name in _DOUBTS:
        for sentence in outcome.says(name):
            doubt(sentence)
    target = request.target  # of several bounds, the first says it for all
    is_first = target.constraint in (*target.bounds, target.constraint)[:1]
    if is_first and request.data.roles.cluster is None and not request.source.is_grid:
        outcome = outcome.beside(*_alike(rule, request))
    counted = with_all_rows(rule, request.data)
    if counted is not rule:
        outcome = outcome.beside(*parts_of_unlabelled(*counted.fit.flagged))
    return Result(report=FoundReport(outcome=outcome), artifact=counted)


def _alike(rule: BoundaryArtifact, request: BoundaryRequest) -> Parts:
    """See ``alike_rows``."""

    def takes_option(column: str) -> bool:
        return is_accepted(request.on(request.data.clustered_by(column)))

    data = replace(request.data, roles=roles_of([rule], ColumnOverrides(), labelled=True))
    return parts_of_alike(alike_rows(rule.as_decided(data), rule, takes_option))


def _run(request: BoundaryRequest, rows: CalibrationRows | None = None, *, report: bool = True) -> Outcome:
    request = checked(request)
    certifies = request.certificate.is_asked
    if certifies and not request.source.is_grid and was_sampled(request.data):
        refuse_beyond_region(request)
    class_weights, constraint = None, request.target.constraint
    request = request.on(request.data.with_amounts(constraint.amounts))
    _require_memory(request)
    if request.priors.shift is not None and not certifies:  # certified() refuses it
        class_weights = target_weights_of(load_shift(request.priors.shift), request.data.positive_value)
        constraint = in_source(constraint, class_weights)
    if request.groups.are_asked:
        with reusable_streams():  # the rows are read several times
            return find_by_group(request)
    if request.compared and request.source.is_grid:
        raise UsageError(words("--compare beside --grid"), expected="the rows themselves")
    if not request.compared:
        read = rows.under(constraint) if rows else None
        find = _find_boundary if report else _find_alone
        return find(request, constraint, class_weights, calibration_set=read)
    with reusable_streams():  # the rows are read twice
        requests = {name: request.on(request.data.with_uncertainty(name)) for name in request.compared}
        rows_by_name = {
            name: CalibrationRows.from_request(each, constraint, uncertain=True)
            for name, each in requests.items()
        }
        gains = compare_uncertainties(rows_by_name)
        best = gains[0].uncertainty
        calibration_set = rows_by_name[best]
        if gains[0].verdict == "helps":
            calibration_set = replace(calibration_set, min_bins=2)
        return _find_boundary(requests[best], constraint, class_weights, gains, calibration_set)


def _require_memory(request: BoundaryRequest) -> None:
    if request.source.is_grid:
        return
    clustered = request.data.roles.cluster is not None
    beside = expected_bytes(request.data, CLUSTERED) if clustered else 0
    if request.certificate.is_asked:
        require_memory(request.data, RANKED, beside)
    elif request.search.algorithm == AlgorithmChoice(Algorithm.HR):
        require_memory(request.data, RANKED_TWICE, beside)
    elif request.bins.cells_per_bin is None:
        require_memory(request.data, EVERY_SCORE, beside)
    elif clustered:
        require_memory(request.data, CLUSTERED)


def _find_boundary(
    request: BoundaryRequest,
    constraint: Constraint,
    class_weights: BinaryWeights | None,
    gains: tuple[UncertaintyComparison, ...] = (),
    calibration_set: CalibrationSet | None = None,
) -> Outcome:
    if request.certificate.is_asked:
        return certified(request, gains)
    searched = _searched(request, constraint, gains, calibration_set)
    request, calibration_set, calibration = searched.request, searched.calibration_set, searched.calibration
    best, candidates, unsaved = searched.best, searched.candidates, searched.unsaved
    algorithm, cells, counts = (unsaved or best).algorithm, searched.cells, searched.counts
    if request.curve:
        # with class weights, the odds concern rows of other class priors than the table counts
        bounds = () if class_weights else request.target.bounds or (request.target.constraint,)
        _write_curve(request.curve, calibration_set, best, bounds)
    score_only = None if unsaved else single_threshold_beside(best, calibration_set)
    fewer = None if unsaved else equal_alerts(best, calibration_set)
    tried = calibration_set.tried if calibration_set.is_auto(algorithm) else None
    direction = other_direction(calibration_set, unsaved or best, request.seed, gains)
    shown = _grid_cells(calibration_set, algorithm, cells)
    parts = [
        *parts_of_rows(calibration, lacks_uncertainty=request.data.roles.lacks_uncertainty),
        *parts_of_search(calibration, best, candidates),
        *parts_of_uncertainty(calibration, gains, tried, direction),
        *parts_of_target(class_weights, best.boundary),
        *parts_of_grid(calibration, cells, best, class_weights, shown, chose_uncertainty=len(gains) > 1),
        *parts_of_threshold_beside(calibration, best, score_only, fewer),
    ]
    boundary = best.boundary
    if not boundary:
        relaxed = _without_margin(calibration_set, best, constraint)
        remedy = (
            "; boundary without a bound lists what these rows allow" if not request.source.is_grid else ""
        )
        parts += parts_of_nothing(calibration, best, candidates, without_margin=relaxed, remedy=remedy)
        parts += parts_of_unsaved(unsaved)
        return NotFound(calibration=calibration, parts=parts)
    cautious = _cautious(calibration_set, best, constraint)
    nested, reference = _nested(calibration_set, best), _reference(calibration_set, best, boundary)
    parts += [
        *parts_of_found(calibration, boundary, best.algorithm, request.target.limit),
        *parts_of_expectation(calibration, boundary, best.expected, class_weights),
        *parts_of_margin(calibration, best, cautious, safer_options(request)),
        *parts_of_limit(calibration, boundary, orders_rows=best.orders_rows, dependent=bool(counts)),
        *parts_of_value(calibration, boundary, score_only),
        *parts_of_threshold_instead(calibration, boundary, unsaved),
        *file_fields(nested=nested, reference=reference),
    ]
    if counts:
        parts += parts_of_units(calibration, best, cluster_numbers(counts))
        parts += _dependence(request, counts)
    return Found(calibration=calibration, parts=parts, boundary=boundary, expected=best.expected)


class _Searched(NamedTuple):
    """Calibration set, what the search of it found, and the request for the columns that were read.

    ``unsaved`` is a boundary that a single threshold replaces. ``cells`` are those on which the algorithm
    worked, and ``counts`` those of the rule by cluster; None if rows are independent.
    """

    request: BoundaryRequest
    calibration_set: CalibrationSet
    calibration: Calibration
    best: Candidate
    candidates: tuple[Candidate, ...]
    unsaved: Candidate | None
    cells: Cells
    counts: Confusion[Ints] | None


def _searched(
    request: BoundaryRequest,
    constraint: Constraint,
    gains: tuple[UncertaintyComparison, ...] = (),
    calibration_set: CalibrationSet | None = None,
) -> _Searched:
    """Search a calibration set, which is read if it is not known."""
    calibration_set = calibration_set or _read_calibration_set(request, constraint)
    if isinstance(calibration_set, CalibrationRows) and calibration_set.lacks_uncertainty:
        request = request.on(calibration_set.data).with_one_threshold()
    best, candidates, unsaved = _search(request, calibration_set, constraint, gains)
    best, counts = _over_clusters(best, calibration_set, f"{request.data.roles.dependence}s")
    cells = calibration_set.cells((unsaved or best).algorithm)
    calibration = Calibration(
        source=calibration_set.source,
        parameters=_as_used(request, calibration_set, best, cells),
        constraint=constraint,
        rows=cells.total,
        positives=cells.positives,
        seed=request.seed,
    )
    return _Searched(
        request, calibration_set, calibration, best, candidates, unsaved, cells=cells, counts=counts
    )


def _dependence(request: BoundaryRequest, counts: Confusion[Ints]) -> Parts:
    """Return the part of how the rows of a cluster depend on each other."""
    cluster = request.data.roles.cluster or ""
    return file_fields(dependence=saved_dependence(request.target, cluster, counts))


def _find_alone(
    request: BoundaryRequest,
    constraint: Constraint,
    class_weights: BinaryWeights | None,
    calibration_set: CalibrationSet | None = None,
) -> Outcome:
    """Find a boundary as ``_find_boundary`` does, with no other beside it."""
    if request.certificate.is_asked:
        return certified(request)
    searched = _searched(request, constraint, calibration_set=calibration_set)
    calibration, best, boundary = searched.calibration, searched.best, searched.best.boundary
    parts = parts_of_search(calibration, best, searched.candidates)
    if not boundary:
        return NotFound(calibration=calibration, parts=parts)
    parts += [
        *parts_of_rows(calibration, lacks_uncertainty=searched.request.data.roles.lacks_uncertainty),
        *parts_of_target(class_weights, boundary),
        *parts_of_found(calibration, boundary, best.algorithm, request.target.limit),
        *parts_of_expectation(calibration, boundary, best.expected, class_weights),
    ]
    if searched.counts:
        parts += _dependence(request, searched.counts)
    return Found(calibration=calibration, parts=parts, boundary=boundary, expected=best.expected)


def _search(
    request: BoundaryRequest,
    calibration_set: CalibrationSet,
    constraint: Constraint,
    gains: tuple[UncertaintyComparison, ...],
) -> tuple[Candidate, tuple[Candidate, ...], Candidate | None]:
    """Search the rows; return the rule, all candidates, and a boundary that a single threshold replaces.

    The rule may be infeasible.
    """
    candidates = candidates_of(calibration_set, request.searched)
    best, unsaved = best_of(candidates, constraint), None
    if request.saves_advised_rule:
        single = threshold_instead(best, calibration_set, gains)
        if single and (_has_recall(single, constraint) or not _has_recall(best, constraint)):
            unsaved, best = best, single
            candidates = (best,)
    if not _has_recall(best, constraint):
        best = _with_recall(candidates, constraint)
    limit = request.target.limit
    if limit and best.boundary:
        cells = calibration_set.cells_of_rule(best.algorithm, best.bins)
        best = replace(best, boundary=with_review(best.boundary, cells, limit, best.algorithm))
    return best, candidates, unsaved


def _write_curve(
    output: RowOutput, calibration_set: CalibrationSet, best: Candidate, bounds: Sequence[Constraint]
) -> None:
    """Write the trade-off curve of a grid."""
    if ALGORITHMS[best.algorithm].works_on is not WorksOn.GRID:
        raise UsageError(
            words("--frontier without a grid"),
            expected=words("--algorithm vw-dpmt, smooth or another that works on one"),
        )
    write_frontier(calibration_set.cells(best.algorithm), calibration_set.every_score, output, bounds)


def _reference(
    calibration_set: CalibrationSet, best: Candidate, boundary: FittedBoundary
) -> SavedReference | None:
    """Return how the calibration rows are distributed; None of a grid, which has no rows."""
    if not isinstance(calibration_set, CalibrationRows):
        return None
    uncertain = best.bins > 1 or bool(best.recalibration)
    return calibration_set.reference(boundary.uncertainty_edges, uncertain=uncertain)


def _over_clusters(
    best: Candidate, calibration_set: CalibrationSet, units: str
) -> tuple[Candidate, Confusion[Ints] | None]:
    """Return a candidate with its expected results on new clusters, and its counts; None if independent."""
    if isinstance(calibration_set, CalibrationGrid) or not (calibration_set.clusters and best.boundary):
        return best, None
    counts = calibration_set.clusters.flagged(best.boundary)
    expected = calibration_set.expected_of_rule(best.algorithm, best.bins)
    if expected:
        best = replace(best, expected=expected_over_clusters(expected, counts, units))
    return best, counts


def _nested(calibration_set: CalibrationSet, best: Candidate) -> list[list[float | None]]:
    """Return the nested boundaries of a smoothed rule, which order rows; empty for other rules."""
    if best.algorithm is not Algorithm.SMOOTH or not best.bins:
        return []
    cells = calibration_set.cells_of_rule(best.algorithm, best.bins)
    return [list(thresholds) for thresholds in nested_thresholds(cells, nested_boundaries(cells))]


def _has_recall(candidate: Candidate, constraint: Constraint) -> bool:
    """Whether a boundary, if there is one, has the recall that other bounds must also leave."""
    return not candidate.boundary or constraint.leaves_recall(candidate.boundary.fit)


def _with_recall(candidates: Sequence[Candidate], constraint: Constraint) -> Candidate:
    """Return the best candidate that leaves the recall; without one, the closest as infeasible."""
    feasible = [(candidate, candidate.boundary) for candidate in candidates if candidate.boundary]
    reaching = [candidate for candidate, boundary in feasible if constraint.leaves_recall(boundary.fit)]
    if reaching:
        return best_of(reaching, constraint)
    closest, boundary = max(feasible, key=lambda pair: pair[1].fit.true_positives)
    return replace(closest, boundary=None, closest=boundary, recalibration=None, expected=None)


def _among(request: BoundaryRequest, bounds: Sequence[Constraint]) -> BoundaryRequest:
    """Return a request for several bounds on the same rows."""
    return replace(request, target=replace(request.target, bounds=tuple(bounds)))


def run_several(
    request: BoundaryRequest, constraints: Sequence[Constraint]
) -> Result[SeveralBoundariesReport, None]:
    """Find a boundary for each of several bounds; all or none are saved."""
    request = _among(request, constraints)
    with reusable_streams():  # certificates, comparisons and groups read the rows once per bound
        with _needing_uncertainty(request):
            rows = _read_once(request)
        results = [run(request.at(constraint), rows) for constraint in constraints[:1]]
        request = replace(request, curve=None)  # the same for all bounds
        results += [run(request.at(constraint), rows) for constraint in constraints[1:]]
    failure = next((result.failure for result in results if result.failure), None)
    bounds_with_results = zip(constraints, results, strict=True)
    boundaries = {bound.value: result.artifact for bound, result in bounds_with_results if result.artifact}
    report = SeveralBoundariesReport(reports=tuple(result.report for result in results))
    return Result(report=report, artifact=None, failure=failure, several=boundaries)


def _read_once(request: BoundaryRequest) -> CalibrationRows | None:
    """Return the calibration set for all bounds of a request; None if each needs another one."""
    needs_another = (request.certificate.is_asked, request.groups.are_asked, request.target.limit)
    if any(needs_another) or request.compared or request.priors.are_others or request.source.is_grid:
        return None
    refuse_conflicts(request)
    _require_memory(request)
    return CalibrationRows.from_request(request, request.target.bounds[0])


def _read_calibration_set(request: BoundaryRequest, constraint: Constraint) -> CalibrationSet:
    """Return the calibration set, with the constraint converted to the class priors of its rows."""
    if request.source.grid is None:
        return CalibrationRows.from_request(request, constraint)
    grid = load_kind(request.source.grid, GridArtifact)
    inherit_doubts(grid)
    auto = request.bins.is_auto(Algorithm.SMOOTH) and request.searched is not AlgorithmChoice.ALL
    return CalibrationGrid.from_grid(grid, constraint, auto=auto, seed=request.seed)


def _grid_cells(calibration_set: CalibrationSet, algorithm: Algorithm, cells: Cells) -> Cells | None:
    """Return the grid that a page shows; None for recalibrated scores."""
    match ALGORITHMS[algorithm].works_on:
        case WorksOn.GRID:
            return cells
        case WorksOn.SCORES:
            return calibration_set.one_row
        case WorksOn.RAISED_SCORES:
            return None


def _cautious(calibration_set: CalibrationSet, best: Candidate, constraint: Constraint) -> Optimum | None:
    """Return the same rule with a margin of one standard error; None if the bound is already met with it."""
    with_one_error = replace(constraint, margin=Fraction(1))
    if best.algorithm is not Algorithm.SMOOTH or not (best.boundary and constraint.takes_margin):
        return None
    fit = best.boundary.fit
    met = Margin(target=constraint.numbers[0], standard_errors=with_one_error.margin).is_met(
        np.array([fit.true_positives]), np.array([fit.selected])
    )
    if met[0]:
        return None
    cells = calibration_set.cells(best.algorithm)
    if best.bins < len(cells.rows):
        cells = calibration_set.one_row or cells
    return optimise(cells, best.algorithm, with_one_error)


def _without_margin(
    calibration_set: CalibrationSet, best: Candidate, constraint: Constraint
) -> FittedBoundary | None:
    """Return the result without the margin that made the constraint infeasible."""
    if not constraint.margin or best.boundary:
        return None
    relaxed = replace(constraint, margin=Fraction(0))
    return optimise(calibration_set.cells(best.algorithm), best.algorithm, relaxed).boundary


def _as_used(
    request: BoundaryRequest, calibration_set: CalibrationSet, best: Candidate, cells: Cells
) -> BoundaryParameters:
    """Return the options of the saved rule; without grid options if its algorithm uses no grid."""
    parameters = request.parameters(calibration_set.spec(best.algorithm, best.bins or len(cells.rows)))
    if isinstance(calibration_set, CalibrationGrid):
        read = calibration_set.artifact.parameters
        parameters = msgspec.structs.replace(parameters, on_invalid=read.on_invalid, positive=read.positive)
    if ALGORITHMS[best.algorithm].works_on is WorksOn.GRID or parameters.algorithm is AlgorithmChoice.ALL:
        return parameters
    used = AlgorithmChoice(best.algorithm)
    return msgspec.structs.replace(
        parameters, algorithm=used, binning=None, uncertainty_bins=1, score_bins="all"
    )


def run_targets(request: BoundaryRequest, table: CountTable | None = None) -> Result[TargetsReport, None]:
    """Find the rules for usual precisions and shares of alerts; none is saved.

    Each is the rule of ``run`` for that constraint. The table of the rows may be open already.
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
    request: BoundaryRequest, table: CountTable | None
) -> tuple[CalibrationRows, tuple[Constraint, ...]]:
    """Read the rows once for all targets that may be of interest; also return those that a rule reaches."""
    shares = [constraint_from(max_selected=share) for share in _SHARES]
    all_precisions = sorted({*_PRECISIONS, *_HIGH_PRECISIONS}, key=float)
    precisions = [constraint_from(precision=text) for text in all_precisions]
    bounds = (*precisions, *shares)
    rows = CalibrationRows.from_request(_among(request, bounds), bounds[0], table=table)
    rows.cells(Algorithm(request.searched))  # counted once, for all bounds
    cells = rows.one_row
    usual = usual_precisions(cells.positives, cells.total)
    reached = [(bound, alerts) for bound in usual if (alerts := _alerts_at(bound, cells))]
    shown = shown_precisions([bound for bound, _ in reached], [alerts for _, alerts in reached])
    return rows, (*shown, *(share for share in shares if _alerts_at(share, cells)))


def shown_precisions(reached: list[Constraint], alerts: Sequence[int]) -> list[Constraint]:
    """Return the highest precisions, of which few may flag too few rows for a rate if others flag enough."""
    enough = sum(flagged >= FEWEST_FLAGGED for flagged in alerts)
    end = max(MOST_PRECISIONS, enough + _FEW_ABOVE) if enough else len(reached)
    return reached[:end][-MOST_PRECISIONS:]


def usual_precisions(positives: int, rows: int) -> list[Constraint]:
    """Return the usual precisions above the positive rate, in ascending order."""
    texts = _HIGH_PRECISIONS if 2 * positives >= rows else _PRECISIONS
    bounds = [constraint_from(precision=text) for text in texts]
    return [bound for bound in bounds if bound.numbers[0] * rows > positives]


def _alerts_at(bound: Constraint, cells: Cells) -> int:
    """Return the flagged rows of the best threshold under a bound, 0 if none meets it.

    More thresholds may meet it where one does not.
    """
    found = optimise(cells, Algorithm.SMOOTH, bound).boundary if cells.positives > 0 else None
    return found.fit.selected if found else 0


def _reports(
    request: BoundaryRequest, bounds: tuple[Constraint, ...], rows: CalibrationRows
) -> Iterator[FoundReport]:
    """Find the rule for each bound, and leave out those without one."""
    request = _among(request, bounds)
    for bound in bounds:
        of_bound = request.at(bound)
        with _reading(of_bound):
            report = _with_all_rows(_run(of_bound, rows), of_bound).report
        if isinstance(report, FoundReport):
            yield report

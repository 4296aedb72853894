"""Certified boundaries: ranked on a pilot sample, tested on the other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import msgspec

from uqcli.base.choices import Algorithm, Binning, ReviewKind
from uqcli.base.counts import Bools, Cells, Floats, RangeCounts
from uqcli.base.defaults import SCORE_BINS
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.bin.grid import GridSpec, cells_from, cells_under, pool_by, uncertainty_edges_of
from uqcli.boundary.calibration import Calibration
from uqcli.boundary.candidate import Candidate
from uqcli.boundary.certificate import Certified, Certifier, Failed, LeastRate, NotCertified, least_rates
from uqcli.boundary.certificate_rows import (
    PILOT,
    TEST,
    marked_rows,
    mirrored,
    mirrored_cells,
    mirrored_outcome,
    open_pilot,
    refuse_same_files,
    region_certifier,
    region_of,
    was_sampled,
)
from uqcli.boundary.certificate_rule import (
    Certification,
    SavedCertificate,
    SavedClearance,
    SavedPilot,
    TestedOn,
    bounds_by_rate,
)
from uqcli.boundary.comparison import UncertaintyComparison
from uqcli.boundary.conflicts import checked_delta
from uqcli.boundary.options import BinOptions, BoundaryRequest, Target
from uqcli.boundary.outcome import Found, NotFound, Outcome
from uqcli.boundary.parts.registry import (
    file_fields,
    parts_of_cells,
    parts_of_certificate,
    parts_of_failure,
    parts_of_found,
    parts_of_nothing,
    parts_of_rows,
    parts_of_search,
    parts_of_uncertainty,
)
from uqcli.boundary.reference import SavedReference, reference_of
from uqcli.boundary.search.algorithms import optimise
from uqcli.boundary.search.cross_validation import BinsTried, fewest_of, tried_bins
from uqcli.boundary.search.thresholds import (
    FittedBoundary,
    Thresholds,
    decide,
    nested_thresholds,
    shown_in_bins,
)
from uqcli.boundary.search.zones import with_review
from uqcli.boundary.tested_units import SingleRows, units_of
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.rules.labelled import open_table, source_of
from uqcli.rules.saved import Source, absent_if_none


@dataclass(frozen=True, kw_only=True)
class CertifiedRule:
    """A certified boundary with its counts on all of the rows, or why nothing was certified.

    The cells are those of all rows, with the edges of the pilot if anything was certified, and ``spec`` has
    the number of uncertainty bins that was chosen. ``nested`` are the pilot's boundaries, the tightest first;
    empty if nothing was certified.
    """

    boundary: FittedBoundary | None
    certification: Certification
    cells: Cells
    spec: GridSpec
    tried: tuple[BinsTried, ...] | None = None
    nested: Sequence[Thresholds] = ()


def certified(request: BoundaryRequest, gains: tuple[UncertaintyComparison, ...] = ()) -> Outcome:
    """Find a boundary and certify it, with the gains of uncertainty columns, the best first."""
    delta = checked_delta(request)
    if was_sampled(request.data):  # one file may have both, marked
        return _certified_in_region(request, delta)
    pilot_files = request.certificate.pilot
    refuse_same_files(request.data.inputs, pilot_files)
    uncertain = request.bins.spec(Algorithm.SMOOTH).uncertainty_bins > 1
    table = open_table(request.data, uses_uncertainty=uncertain)
    if uncertain:
        request = request.for_columns(table.summary.columns)
    units = units_of(request.target, request.data.roles, request.seed, has_pilot=pilot_files is not None)
    rows, pilot = units.read(table), None
    if pilot_files is not None:
        pilot = units.read(open_pilot(request.data, pilot_files, uses_uncertainty=uncertain))
    rule = certified_rule(rows, units, request.bins, delta, pilot)
    outcome = _outcome(request, rule, source_of(table.summary), gains)
    if not isinstance(outcome, Found):
        return outcome
    dependence = units.dependence(outcome.boundary, rows)
    edges = outcome.boundary.uncertainty_edges
    reference = units.between(_reference(rows, edges), edges, rows, outcome.calibration.source)
    nested = [list(thresholds) for thresholds in rule.nested]
    return outcome.beside(*file_fields(nested=nested, reference=reference, dependence=dependence))


def _outcome(
    request: BoundaryRequest,
    rule: CertifiedRule,
    source: Source,
    gains: tuple[UncertaintyComparison, ...] = (),
) -> Outcome:
    calibration = Calibration(
        source=source,
        parameters=request.parameters(rule.spec),
        constraint=request.target.constraint,
        rows=rule.cells.total,
        positives=rule.cells.positives,
        seed=request.seed,
    )
    boundary, certification = rule.boundary, rule.certification
    closest = boundary or certification.uncertified
    chosen = Candidate(algorithm=Algorithm(request.searched), boundary=boundary, closest=closest)
    parts = [
        *parts_of_rows(calibration, lacks_uncertainty=request.data.roles.lacks_uncertainty),
        *parts_of_search(calibration, chosen, [chosen]),
        *parts_of_uncertainty(calibration, gains, rule.tried),
        *parts_of_cells(rule.cells),
    ]
    if not boundary:
        parts += [*parts_of_nothing(calibration, chosen), *parts_of_failure(certification)]
        return NotFound(calibration=calibration, parts=parts)
    parts += parts_of_found(calibration, boundary, chosen.algorithm, request.target.limit)
    parts += parts_of_certificate(certification, boundary)
    return Found(calibration=calibration, parts=parts, boundary=boundary, expected=None)


def _certified_in_region(request: BoundaryRequest, delta: Fraction) -> Outcome:
    """Certify a threshold by rows drawn above or below a score; those of the pilot do not test.

    The rule has no reference, since new rows are not like those of the region.
    """
    assert request.certificate.pilot is not None  # refuse_beyond_region requires it
    older = request.data.on(request.certificate.pilot)
    if was_sampled(older):
        pilot, _ = marked_rows(older, PILOT)
    else:
        pilot = open_table(older, uses_uncertainty=False).rows().pooled()
    rows, source = marked_rows(request.data, TEST)
    column, edge = region_of(rows)
    constraint, cells = request.target.constraint, None
    if constraint.is_of_cleared:  # the rows to drop are flagged in the mirror
        least = 1 - constraint.numbers[0]
        certifier, sequence = region_certifier(mirrored(rows), 0.0 - edge, float(least), float(delta))
        promises = [(Rate.PRECISION, least)]
        outcome = certifier.certify(promises, float(delta), sequence=sequence)
        outcome, cells = mirrored_outcome(outcome), mirrored_cells(certifier.pilot)
    else:
        certifier, sequence = region_certifier(rows, edge, float(constraint.numbers[0]), float(delta))
        outcome = certifier.certify(least_rates(constraint), float(delta), sequence=sequence)
    boundary, certificates = None, []
    if isinstance(outcome, Certified):
        boundary = _on_all(rows, outcome, None)
        units = SingleRows(request.target, request.seed, has_pilot=True)
        certificates = [_saved(outcome, None, units, float(delta), older=pilot, region={column: edge})]
    rule = CertifiedRule(
        boundary=boundary,
        certification=Certification(
            delta=float(delta),
            certificates=certificates,
            failed=outcome if isinstance(outcome, NotCertified) else None,
            tested_target=f"{constraint.text()} at a risk of {100 * float(delta):g} %",
            easier=constraint.easier,
            has_pilot=True,
        ),
        cells=cells or certifier.pilot,
        spec=request.bins.one_bin().spec(Algorithm.SMOOTH),
    )
    return _outcome(request, rule, source)


def _reference(rows: Rows, edges: Floats) -> SavedReference:
    """Count all rows, those of the pilot included: only the inputs are compared with new rows."""
    uncertainty = rows.uncertainty
    ends = None
    if len(edges) and uncertainty is not None:
        ends = float(uncertainty.min()), float(uncertainty.max())
    return reference_of(RangeCounts.from_parts(pool_by(rows, edges)), len(edges) + 1, ends)


def certified_rule(
    rows: Rows, units: SingleRows, bins: BinOptions, delta: Fraction, older: Rows | None
) -> CertifiedRule:
    """Find a boundary on pooled rows and certify it at risk delta.

    The flagged zone and the positives missed by the cleared zone are two promises about different thresholds:
    each has half of the risk. Pooled older rows choose the boundaries if there are any, so that all ``rows``
    test them; otherwise a part of ``rows`` does.
    """
    constraint, limit = units.target.constraint, units.target.limit
    if older is None:
        pilot, test = units.split(rows)
    else:
        pilot, test = older, rows
        units.refuse_common(pilot, test)
    spec, tried = _chosen_bins(pilot, units, bins)
    cells = _cells(rows, spec)
    tests = _tests_of(units.target)
    risk = float(delta / len(tests))
    results = _NOTHING_TESTED
    if pilot.size:
        certifier = _certifier(pilot, test, spec, units)
        results = _certify(certifier, tests, risk)
    last, failed = tests[len(results) - 1], results[-1]
    certification = Certification(
        delta=float(delta),
        certificates=[],
        failed=None,
        tested_target=f"{last.text} at a risk of {100 * risk:g} %",
        easier=last.easier,
        uncertified=None
        if constraint.is_of_cleared
        else optimise(cells, Algorithm.SMOOTH, constraint).boundary,
        units=units.name,
        has_pilot=units.has_pilot,
    )
    if isinstance(failed, NotCertified):
        if isinstance(failed, Failed) and tried is not None:
            # the bins were chosen for this bound: the estimate takes the score alone, as for other bounds
            by_score = _certifier(pilot, test, replace(spec, uncertainty_bins=1), units)
            failed = replace(failed, rows_needed=by_score.rows_needed(last.promises, risk))
        failure = replace(certification, failed=failed)
        return CertifiedRule(boundary=None, certification=failure, cells=cells, spec=spec, tried=tried)
    outcome, *reviews = (result for result in results if isinstance(result, Certified))
    review = next(iter(reviews), None)
    boundary = _on_all(rows, outcome, review)
    ranked = certifier.pilot  # whose edges a certified boundary has
    shown = cells_under(pool_by(rows, ranked.uncertainty_edges), ranked)
    if limit and not review:
        boundary = with_review(boundary, shown, limit, Algorithm.SMOOTH)
    certificate = _saved(outcome, review, units, float(delta), older=older)
    return CertifiedRule(
        boundary=boundary,
        certification=replace(certification, certificates=[certificate]),
        cells=shown,
        spec=spec,
        tried=tried,
        nested=nested_thresholds(ranked, certifier.nested),
    )


def _chosen_bins(
    pilot: Rows, units: SingleRows, bins: BinOptions
) -> tuple[GridSpec, tuple[BinsTried, ...] | None]:
    """Choose the number of uncertainty bins unless it is given: on the pilot, so that there is one test."""
    spec = bins.spec(Algorithm.SMOOTH)
    if not (bins.is_auto(Algorithm.SMOOTH) and pilot.size):
        return spec, None
    shared = _cells(pilot, replace(spec, binning=Binning.SHARED, score_bins=spec.score_bins or SCORE_BINS))
    tried = tried_bins(shared, units.target.constraint, units.seed, units.folds(pilot, shared))
    return replace(spec, uncertainty_bins=fewest_of(tried)), tried


@dataclass(frozen=True, kw_only=True)
class _Test:
    """Promises that are tested together, in words, and how to ask for less."""

    promises: Sequence[LeastRate]
    text: str
    easier: str
    sets_end: bool = False


def _tests_of(target: Target) -> list[_Test]:
    """Return the test of the flagged rows, and that of the cleared ones if the review has a limit on them."""
    constraint, limit = target.constraint, target.limit
    tests = [_Test(promises=least_rates(constraint), text=constraint.text(), easier=constraint.easier)]
    if limit and limit.is_promise:
        tests.append(
            _Test(
                promises=[(limit.rate.complement, 1 - limit.number)],
                text=limit.text(),
                easier="allow a higher rate",
                sets_end=limit.kind is ReviewKind.OMISSION,
            )
        )
    return tests


_NOTHING_TESTED: Sequence[Certified | NotCertified] = (NotCertified(),)


def _certify(certifier: Certifier, tests: Sequence[_Test], risk: float) -> Sequence[Certified | NotCertified]:
    """Test one after the other, each on boundaries that the one before keeps, until one fails."""
    results: list[Certified | NotCertified] = []
    at_least, at_most = 0, _end(certifier, tests)
    for test in tests:
        result = certifier.certify(test.promises, risk, at_least=at_least, at_most=at_most)
        results.append(result)
        if isinstance(result, NotCertified):
            break
        at_least, at_most = result.cells, None
    return results


def _end(certifier: Certifier, tests: Sequence[_Test]) -> int | None:
    """Return the most cells of the flagged zone; None if all.

    The zones must not overlap where looser boundaries were not tested for the cleared rows.
    """
    for test in tests:
        start = certifier.start(test.promises) if test.sets_end else None
        if start is not None:
            return start + 1
    return None


def _certifier(pilot: Rows, test: Rows, spec: GridSpec, units: SingleRows) -> Certifier:
    """Rank the boundaries of a grid on the pilot, and count the rows that test them."""
    ranked = _cells(pilot, spec)
    tested = cells_under(pool_by(test, ranked.uncertainty_edges), ranked)
    certifier = Certifier.from_cells(ranked, tested, has_own_pilot=not units.has_pilot)
    return units.drawn(certifier, pilot, test)


def _cells(rows: Rows, spec: GridSpec) -> Cells:
    edges = uncertainty_edges_of(rows, spec)
    return cells_from(edges, pool_by(rows, edges), spec)


def _on_all(rows: Rows, outcome: Certified, review: Certified | None) -> FittedBoundary:
    """Return the certified thresholds with their counts on all rows."""
    count, positive = rows.weights(), rows.labels

    def taken_by(zone: Certified) -> Bools:
        return decide(rows.score, rows.uncertainty, zone.uncertainty_edges, zone.thresholds)

    flagged, zones = taken_by(outcome), None
    selected, true_positives = int(count[flagged].sum()), int(count[flagged & positive].sum())
    if review:
        handled = taken_by(review)
        zones = (int(count[handled].sum()) - selected, int(count[handled & positive].sum()))
    scores = [part.value for part in pool_by(rows, outcome.uncertainty_edges)]
    return FittedBoundary(
        uncertainty_edges=outcome.uncertainty_edges,
        thresholds=outcome.thresholds,
        shown=shown_in_bins(outcome.thresholds, scores),
        fit=Confusion(
            selected=selected,
            true_positives=true_positives,
            rows=rows.size,
            positives=int(count[positive].sum()),
            zones=zones,
        ),
        review_thresholds=review.thresholds if review else (),
        shown_review=shown_in_bins(review.thresholds, scores) if review else (),
    )


def _saved(
    outcome: Certified,
    review: Certified | None,
    units: SingleRows,
    delta: float,
    *,
    older: Rows | None,
    region: Mapping[str, float] = MappingProxyType({}),
) -> SavedCertificate:
    limit = units.target.limit
    bounds: dict[str, Any] = {**bounds_by_rate(units.target.constraint), **region}
    cleared: SavedClearance | msgspec.UnsetType = msgspec.UNSET
    if review and limit:
        shown: dict[str, Any] = {"miss": float(limit.number)}
        if limit.kind is ReviewKind.OMISSION:
            shown = {"omission": float(limit.number), "handled": review.tested.selected}
        cleared = SavedClearance(p_value=review.p_value, caught=review.tested.true_positives, **shown)
    pilot = None
    if older is not None:
        pilot = SavedPilot(rows=older.size, positives=int(older.weights()[older.labels].sum()))
    return SavedCertificate(
        delta=delta,
        **bounds,
        p_value=outcome.p_value,
        seed=units.seed,
        **units.columns,
        tested_on=msgspec.convert(outcome.tested, TestedOn, from_attributes=True),
        cleared=cleared,
        pilot=absent_if_none(pilot),
    )

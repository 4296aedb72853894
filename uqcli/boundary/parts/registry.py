"""The parts of an outcome, made of what a search found. This module alone knows all of them.

Those of features that few runs have are imported where they are made: a small job starts without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from uqcli.base.choices import Algorithm, AlgorithmChoice
from uqcli.base.counts import Cells, Ints
from uqcli.base.wording import percent, rounded_money
from uqcli.boundary.calibration import Calibration
from uqcli.boundary.candidate import Candidate, candidate_cells
from uqcli.boundary.capacity import Capacity
from uqcli.boundary.certificate_rule import Certification, SavedCertificate
from uqcli.boundary.comparison import UncertaintyComparison
from uqcli.boundary.dependent_columns import AlikeRows
from uqcli.boundary.expected import OPTIMISM_CORRECTED, Expected, expected_metrics
from uqcli.boundary.operating_points import settings_of
from uqcli.boundary.options import GroupOptions
from uqcli.boundary.parts.beside import (
    ThresholdBeside,
    ThresholdInstead,
    UnsavedBoundary,
    alone_meets,
    equal_alerts,
    no_threshold_beside,
    reaches_more,
    same_bounds,
)
from uqcli.boundary.parts.expectation import Expectation, few_alerts, just_met, likely_missed, unestimated
from uqcli.boundary.parts.found import FoundRule, RaisedScores
from uqcli.boundary.parts.grid import Grid, RankedGrid, empty_bins, order_of
from uqcli.boundary.parts.uncertainty import Comparisons, NoUncertainty, TriedBins, other_direction
from uqcli.boundary.rule_file import SavedCapacity
from uqcli.boundary.search.algorithms import Optimum
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.cross_validation import BinsTried
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.boundary.search.zones import ReviewLimit
from uqcli.boundary.statements import BoundaryPart, Remark
from uqcli.estimates.confusion import Confusion, cluster_numbers
from uqcli.shift.rule import BinaryWeights

Parts = list[BoundaryPart]


def parts_of_rows(calibration: Calibration, *, lacks_uncertainty: bool) -> Parts:
    """Return the parts of how the calibration rows were drawn, and of what they lack."""
    parts: Parts = [NoUncertainty()] if lacks_uncertainty else []
    columns = calibration.source.columns
    if unit := calibration.source.dependence:
        from uqcli.boundary.parts.rows import DependentRows

        parts.append(DependentRows(unit=unit, column=columns[unit]))
    return parts


def parts_of_search(calibration: Calibration, chosen: Candidate, candidates: Sequence[Candidate]) -> Parts:
    """Return the parts of the algorithms that were run."""
    parts: Parts = []
    if calibration.parameters.algorithm is AlgorithmChoice.ALL:
        from uqcli.boundary.parts.algorithms import AllAlgorithms

        parts.append(AllAlgorithms(candidates=candidates, constraint=calibration.constraint))
    if chosen.recalibration:
        parts.append(RaisedScores(recalibration=chosen.recalibration))
    if chosen.closest:
        parts.append(_closest(chosen.closest.fit))
    return parts


def _closest(fit: Confusion[int]) -> BoundaryPart:
    """Return the part of the boundary that comes closest to its bounds."""
    return Remark(measured={"best_precision": fit.precision, "recall_at_best_precision": fit.recall})


def parts_of_uncertainty(
    calibration: Calibration,
    compared: tuple[UncertaintyComparison, ...],
    tried: tuple[BinsTried, ...] | None,
    direction: str = "",
) -> Parts:
    """Return the parts of what the uncertainty gains."""
    parts: Parts = []
    if tried is not None:
        parts.append(TriedBins(tried=tried, constraint=calibration.constraint))
    if compared:
        parts.append(Comparisons(compared=compared))
    if direction:
        parts.append(other_direction(direction))
    return parts


def parts_of_grid(
    calibration: Calibration,
    cells: Cells,
    chosen: Candidate,
    class_weights: BinaryWeights | None,
    shown: Cells | None,
    *,
    chose_uncertainty: bool,
) -> Parts:
    """Return the parts of the grid on which a boundary was found.

    A page shows no grid of recalibrated scores. ``chose_uncertainty`` says that the uncertainty is the best
    of several columns.
    """
    constraint, source = calibration.constraint, calibration.source
    if not shown:
        return empty_bins(cells)
    if constraint.also or constraint.amounts or chosen.algorithm not in OPTIMISM_CORRECTED:
        return [Grid(cells=shown), *order_of(shown), *empty_bins(cells)]
    own = None
    if chosen.boundary and chosen.expected and not few_alerts(chosen.boundary.fit, constraint):
        own = (chosen.boundary, chosen.expected)
    ranked = RankedGrid(
        cells=shown,
        constraint=constraint,
        algorithm=chosen.algorithm,
        seed=calibration.seed,
        class_weights=class_weights,
        own=own,
        settings=settings_of(
            chosen.algorithm,
            calibration.parameters.binning,
            len(shown.rows),
            source.signed_uncertainty if chose_uncertainty else None,
        ),
    )
    return [ranked, *order_of(shown), *empty_bins(cells)]


def parts_of_cells(cells: Cells) -> Parts:
    """Return the part of a grid without operating points, since a later choice would void a certificate."""
    return [Grid(cells=cells)]


def parts_of_found(
    calibration: Calibration, boundary: FittedBoundary, algorithm: Algorithm, limit: ReviewLimit | None
) -> Parts:
    """Return the parts of a rule, whether it is certified or not."""
    constraint = calibration.constraint
    parts: Parts = [FoundRule(boundary=boundary, algorithm=algorithm, constraint=constraint)]
    if limit and boundary.review_thresholds:
        from uqcli.boundary.parts.target import Review

        parts.append(Review(limit=limit, boundary=boundary, lowest=boundary.review_thresholds))
    return parts


def parts_of_expectation(
    calibration: Calibration,
    boundary: FittedBoundary,
    expected: Expected | None,
    class_weights: BinaryWeights | None = None,
) -> Parts:
    """Return the parts of what to expect of a rule that is not certified."""
    few = few_alerts(boundary.fit, calibration.constraint)
    if not expected:
        return [unestimated(), *few]
    precision, recall = expected_metrics(expected, class_weights).values()
    if not (precision and recall):  # the class weights are refuted
        return few
    beside = calibration.constraint.beside_expectation(boundary.fit)
    return [Expectation(precision=precision, recall=recall, also=(beside,) if beside else ()), *few]


def parts_of_margin(
    calibration: Calibration, chosen: Candidate, cautious: Optimum | None, options: Sequence[str]
) -> Parts:
    """Return the part of a precision that new data may miss; none if that is unlikely or unknown."""
    constraint, expected = calibration.constraint, chosen.expected
    if cautious:
        return [just_met(constraint, [cautious.boundary] if cautious.boundary else [], options)]
    if not (constraint.takes_margin and expected):
        return []
    if (expected.precision.value or 0) >= constraint.numbers[0]:
        return []
    return [likely_missed(constraint, options)]


def parts_of_limit(
    calibration: Calibration, boundary: FittedBoundary, *, orders_rows: bool, dependent: bool
) -> Parts:
    """Return the part of a limit of alerts; none without one."""
    limits, rows = calibration.constraint.alert_limits, calibration.rows
    if not limits:
        return []
    from uqcli.boundary.parts.capacity import ExpectedShare, ShareLimit, file_limit

    if not limits[0].is_share:
        return [file_limit(rows, orders_rows=orders_rows)]
    kind = ShareLimit if dependent else ExpectedShare
    return [kind(rows=rows, selected=boundary.fit.selected, orders_rows=orders_rows)]


def parts_of_units(
    calibration: Calibration, chosen: Candidate, numbers: Mapping[str, int], groups: int = 0
) -> Parts:
    """Return the part of a rule on dependent rows, with the numbers of their clusters or days."""
    from uqcli.boundary.parts.rows import CountedUnits, few_units, no_ranges, ranges_missing

    unit, expected = calibration.source.dependence or "cluster", chosen.expected
    missing = ranges_missing(chosen.algorithm, groups) if expected else no_ranges(unit)
    return [
        CountedUnits(
            unit=unit,
            column=calibration.source.columns[unit],
            numbers=numbers,
            no_range=missing,
            cautions=few_units(expected, numbers, unit) if expected else (),
        )
    ]


def parts_of_first_rows(
    capacity: SavedCapacity,
    found: Capacity,
    boundary: FittedBoundary,
    counts: Confusion[Ints],
    expected: Expected,
    *,
    unit: str,
    column: str,
) -> Parts:
    """Return the parts of a rule of the first rows of each group, with the counts by day or cluster."""
    from uqcli.boundary.parts.first_rows import FoundFirstRows
    from uqcli.boundary.parts.rows import CountedUnits, few_units

    numbers = cluster_numbers(counts)
    units = CountedUnits(
        unit=unit, column=column, numbers=numbers, no_range=(), cautions=few_units(expected, numbers, unit)
    )
    first = FoundFirstRows(
        boundary=boundary,
        capacity=capacity,
        first=found.first_rows,
        fewer=found.fewer,
        taken=found.cuts.taken.tolist(),
        ties=found.tied,
        cautions=found.ties_in_words(),
    )
    return [units, first]


def parts_of_no_first_rows(constraint: Constraint) -> Parts:
    """Return the part of rows of which none is positive, so that no ranking finds one."""
    from uqcli.boundary.parts.infeasible import NoRule

    return [NoRule(algorithm=Algorithm.ST, constraint=constraint)]


def parts_of_target(class_weights: BinaryWeights | None, boundary: FittedBoundary | None) -> Parts:
    """Return the part of the class priors of other data; none without them."""
    if not class_weights:
        return []
    from uqcli.boundary.parts.target import TargetPriors

    precision = class_weights.precision(boundary.fit.precision) if boundary else None
    return [TargetPriors(weights=class_weights, precision=precision)]


def parts_of_value(
    calibration: Calibration, boundary: FittedBoundary, score_only: Optimum | None = None
) -> Parts:
    """Return the part of a gain and a cost, beside that of a single threshold; none without them."""
    constraint = calibration.constraint
    worth = constraint.value_of(boundary.fit)
    if not worth:
        return []
    from uqcli.boundary.parts.target import value_of

    single = score_only and score_only.boundary
    other = constraint.value_of(single.fit) if single else {}
    beside = f" (one threshold: {rounded_money(other['value'] or 0.0)})" if other else ""
    return [value_of(worth, beside)]


def parts_of_threshold_beside(
    calibration: Calibration, chosen: Candidate, score_only: Optimum | None, fewer: Confusion[int] | None
) -> Parts:
    """Return the parts of a single threshold beside a boundary, or where none was found."""
    parts: Parts = [equal_alerts(fewer)] if fewer else []
    if not score_only:
        return parts
    constraint, single, hint = calibration.constraint, score_only.boundary, "add --algorithm st to use it"
    if not single:
        return [*parts, no_threshold_beside()]
    within, cautions = "", alone_meets(constraint, single.fit, hint)
    if chosen.boundary:
        own = chosen.boundary.fit
        within, cautions = same_bounds(constraint, own, single.fit), []
        if chosen.algorithm is not Algorithm.SMOOTH:
            cautions = reaches_more(constraint, single.fit, own, hint)
    return [*parts, ThresholdBeside(boundary=single, within=within, cautions=cautions)]


def parts_of_threshold_instead(
    calibration: Calibration, boundary: FittedBoundary, unsaved: Candidate | None
) -> Parts:
    """Return the part of a single threshold that is the rule in place of a boundary; none of another rule."""
    if not unsaved:
        return []
    constraint, hint, single = calibration.constraint, "it is the rule", boundary.fit
    cautions = alone_meets(constraint, single, hint)
    if unsaved.boundary:
        cautions = reaches_more(constraint, single, unsaved.boundary.fit, hint)
    line = (f"with uncertainty ({unsaved.algorithm})", *candidate_cells(unsaved))
    instead = ThresholdInstead(fit=single, unsaved=line, cautions=cautions)
    return [instead, *parts_of_unsaved(unsaved)]


def parts_of_unsaved(unsaved: Candidate | None) -> Parts:
    """Return the part of a boundary that is drawn though it is not the rule; none without one."""
    boundary = unsaved and unsaved.boundary
    return [UnsavedBoundary(thresholds=boundary.thresholds)] if boundary else []


def parts_of_nothing(
    calibration: Calibration,
    chosen: Candidate,
    candidates: Sequence[Candidate] = (),
    *,
    without_margin: FittedBoundary | None = None,
    remedy: str = "",
) -> Parts:
    """Return the parts of a search that found no rule; ``remedy`` lists the bounds that can be met."""
    from uqcli.boundary.parts.infeasible import BoundOutOfReach, NoRule, OutOfReach
    from uqcli.boundary.parts.target import no_review

    constraint, algorithm, closest = calibration.constraint, chosen.algorithm, chosen.closest
    nothing = NoRule(algorithm=algorithm, constraint=constraint)
    missed = ""
    if closest and any(run.boundary for run in candidates):
        missed = constraint.recall_shortfall(closest.fit)
    elif without_margin:
        missed = (
            f"no boundary reaches precision {constraint.bound} with a margin of {float(constraint.margin):g} "
            f"standard errors; without one recall is {percent(without_margin.fit.recall)}"
        )
    elif closest and constraint.limits.also:
        missed = constraint.joint_shortfall(closest.fit, algorithm)
    if missed:
        nothing = OutOfReach(algorithm=algorithm, constraint=constraint, sentence=missed)
    elif closest:
        nothing = BoundOutOfReach(
            algorithm=algorithm, constraint=constraint, closest=closest.fit, remedy=remedy
        )
    review: Parts = [no_review()] if calibration.parameters.review is not msgspec.UNSET else []
    return [*review, nothing]


def parts_of_groups(
    groups: GroupOptions,
    constraint: Constraint,
    *,
    boundaries: Mapping[str, FittedBoundary],
    certificates: Mapping[str, SavedCertificate],
    small: Mapping[str, int],
    rest: Confusion[int],
) -> Parts:
    """Return the part of the rules of groups (see ``GroupRules``)."""
    from uqcli.boundary.parts.groups import GroupRules

    return [
        GroupRules(
            by=groups.by or "",
            bound=groups.bound,
            min_group=groups.min_group,
            constraint=constraint,
            boundaries=boundaries,
            certificates=certificates,
            small=small,
            rest=rest,
        )
    ]


def parts_of_certificate(outcome: Certification, boundary: FittedBoundary) -> Parts:
    """Return the parts of a certified boundary."""
    from uqcli.boundary.parts.certificate import Certificate, cost_of_guarantee

    (certificate,) = outcome.certificates
    part = Certificate(delta=outcome.delta, certificate=certificate, boundary=boundary)
    if not outcome.uncertified:
        return [part]
    return [part, cost_of_guarantee(certificate, boundary, outcome.uncertified)]


def parts_of_group_certificates(outcome: Certification) -> Parts:
    """Return the part of the certificates of several groups."""
    from uqcli.boundary.parts.certificate import GroupCertificates

    delta, certificates = outcome.delta, outcome.certificates
    return [GroupCertificates(delta=delta, certificates=certificates, groups=outcome.groups)]


def parts_of_failure(outcome: Certification) -> Parts:
    """Return the part of a certification that failed."""
    from uqcli.boundary.parts.certificate import NoCertificate, NoGroupCertificate

    if not outcome.failed:
        return []
    kind = NoGroupCertificate if outcome.groups else NoCertificate
    return [
        kind(
            delta=outcome.delta,
            failed=outcome.failed,
            tested_target=outcome.tested_target,
            easier=outcome.easier,
            units=outcome.units,
            has_pilot=outcome.has_pilot,
        )
    ]


def parts_of_alike(rows: AlikeRows | None) -> Parts:
    """Return the part of rows that are alike though taken as independent; none if there are none."""
    if not rows:
        return []
    from uqcli.boundary.parts.rows import alike

    return [alike(rows)]


def parts_of_unlabelled(selected: int, rows: int) -> Parts:
    """Return the part of the flagged rows, and the rows, with those that have no label."""
    from uqcli.boundary.parts.rows import UnlabelledRows

    return [UnlabelledRows(selected=selected, rows=rows)]


def file_fields(**values: Any) -> Parts:
    """Return the parts of fields of the rule file that are not in the report; absent if None or empty."""
    present = ((name, value) for name, value in values.items() if value is not None and value != [])
    return [Remark(fields=dict(present))]

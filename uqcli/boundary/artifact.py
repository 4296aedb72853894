"""Build the rule file of a boundary from its report, and read the rows again where the report is not enough.

If the labels are those of reviewed rows, the rule flags another share of all rows than of labelled ones. If
rows depend on each other, their days or clusters show how much new ones will differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from uqcli.base.choices import ArtifactKind
from uqcli.base.defaults import FORMAT_VERSION
from uqcli.boundary.certificate_rule import SavedCertificate
from uqcli.boundary.expected import expected_metrics
from uqcli.boundary.reference import MAX_ROWS_BETWEEN, SavedEnds, SavedReference, between_rows, widest
from uqcli.boundary.report import BoundaryReport
from uqcli.boundary.rule import (
    NEW_FORMAT,
    ZONES,
    BoundaryArtifact,
    Fit,
    GroupFit,
    SavedExpected,
    SavedGroup,
    SavedRange,
    SavedTarget,
)
from uqcli.boundary.search.thresholds import FittedBoundary, Thresholds
from uqcli.engines.open import open_engine
from uqcli.engines.request import PROBA, DataRequest
from uqcli.estimates.estimate import Estimate
from uqcli.rules.columns import ColumnOverrides
from uqcli.rules.saved import SavedDependence, absent_if_none, given
from uqcli.shift.rule import BinaryWeights


def artifact_of(
    report: BoundaryReport,
    nested: Sequence[Thresholds] = (),
    reference: SavedReference | None = None,
    *,
    dependence: SavedDependence | None = None,
) -> BoundaryArtifact:
    """Build the rule file of a boundary from the report of a run that found one.

    ``nested`` are the thresholds of the nested boundaries, which order rows; empty if the rule orders none.
    """
    boundary = report.chosen.boundary
    assert boundary is not None  # without one there is no rule
    fit = boundary.fit
    reviewed, caught = fit.zones or (msgspec.UNSET, msgspec.UNSET)
    rules = report.groups
    is_new = fit.zones is not None or rules is not None or bool(report.constraint.amounts)
    classes = [role.removeprefix(PROBA) for role in report.source.columns if role.startswith(PROBA)]
    return BoundaryArtifact(
        kind=ArtifactKind.BOUNDARY,
        format_version=NEW_FORMAT if is_new else FORMAT_VERSION,
        source=report.source,
        parameters=report.parameters,
        algorithm=report.chosen.algorithm,
        constraint=report.parameters.constraint,
        uncertainty_edges=boundary.uncertainty_edges.tolist(),
        thresholds=list(boundary.thresholds),
        recalibration=absent_if_none(report.chosen.recalibration),
        fit=msgspec.structs.replace(
            Fit(
                selected=fit.selected,
                true_positives=fit.true_positives,
                rows=fit.rows,
                positives=fit.positives,
                precision=fit.precision or 0.0,  # below a score, rows may lack flagged ones, or positives
                recall=fit.recall or 0.0,
                reviewed=reviewed,
                caught=caught,
            ),
            **report.constraint.value_of(fit),
        ),
        reference=absent_if_none(reference),
        expected=_saved_expected(report),
        dependence=absent_if_none(dependence),
        margin=float(report.constraint.margin) if report.constraint.margin else msgspec.UNSET,
        target=msgspec.UNSET
        if report.class_weights is None
        else _target(report.class_weights, fit.precision),
        certificate=(report.certification and report.certification.certificate) or msgspec.UNSET,
        review_thresholds=msgspec.UNSET
        if boundary.review_thresholds is None
        else list(boundary.review_thresholds),
        groups=msgspec.UNSET
        if rules is None
        else {
            name: _saved_group(boundary, rules.certificates.get(name))
            for name, boundary in rules.boundaries.items()
        },
        classes=classes or msgspec.UNSET,
        nested=[list(thresholds) for thresholds in nested] or msgspec.UNSET,
    )


def _saved_group(boundary: FittedBoundary, certificate: SavedCertificate | None) -> SavedGroup:
    return SavedGroup(
        uncertainty_edges=boundary.uncertainty_edges.tolist(),
        thresholds=list(boundary.thresholds),
        fit=msgspec.convert(boundary.fit, GroupFit, from_attributes=True),
        certificate=absent_if_none(certificate),
    )


def _saved_expected(report: BoundaryReport) -> SavedExpected | msgspec.UnsetType | None:
    """Compute the expected results on new data; null if not estimated, absent with a certificate."""
    if report.certification is not None:
        return msgspec.UNSET
    metrics = expected_metrics(report.chosen.expected, report.class_weights)
    precision, recall = metrics["precision"], metrics["recall"]
    if precision is None or recall is None:
        return None
    return SavedExpected(precision=_saved(precision), recall=_saved(recall))


def _saved(estimate: Estimate) -> SavedRange:
    return SavedRange(value=estimate.value or 0.0, low=estimate.low, high=estimate.high)


def _target(class_weights: BinaryWeights, precision: float | None) -> SavedTarget:
    weights = [class_weights.negative, class_weights.positive]
    return SavedTarget(weights=weights, precision=class_weights.precision(precision))


def _without_labels(rule: BoundaryArtifact, data: DataRequest) -> DataRequest:
    """Return the request for the columns of the rule, and the weight."""
    roles = replace(rule.reads(ColumnOverrides()), weight=data.roles.weight)
    return rule.as_decided(replace(data, roles=roles, positive_value=None))


def with_all_rows(rule: BoundaryArtifact, data: DataRequest) -> BoundaryArtifact:
    """Count all rows of the calibration set, with which new rows are compared, if some have no label."""
    if not data.may_lack_labels or not rule.source.dropped:
        return rule
    request, reference = _without_labels(rule, data), given(rule.reference)
    edges = np.array(rule.uncertainty_edges, dtype=np.float64)
    counts = np.zeros_like([] if reference is None else reference.count, dtype=np.int64)
    ends = {} if reference is None else dict(reference.ranges)
    total = selected = 0
    for rows in open_engine(request.engine).batches(request):
        weight = rows.weights()
        total += int(weight.sum())
        selected += int(weight[rule.zones(rows) == ZONES.index("flag")].sum())
        if reference is not None:
            np.add.at(counts, reference.places(edges, rows.score, rows.uncertainty), weight)
        for role, (low, high) in ends.items():
            numbers = rows.numbers[role][weight > 0]
            ends[role] = float(numbers.min(initial=low)), float(numbers.max(initial=high))
    if total == rule.fit.rows:  # rows were dropped for other reasons
        return rule
    rule = msgspec.structs.replace(
        rule, fit=msgspec.structs.replace(rule.fit, all_rows=total, all_selected=selected)
    )
    if reference is None:
        return rule
    ends = {role: widest(*pair) for role, pair in ends.items()}
    lowest, highest = (SavedEnds(**{role: pair[side] for role, pair in ends.items()}) for side in (0, 1))
    reference = msgspec.structs.replace(reference, count=counts.tolist(), lowest=lowest, highest=highest)
    return msgspec.structs.replace(rule, reference=reference)


def between_clusters(rule: BoundaryArtifact, data: DataRequest) -> BoundaryArtifact:
    """Add the covariance between clusters to the reference of a rule, if it lacks rows of the inputs.

    Otherwise the reference has it already, from the calibration rows.
    """
    key, reference = data.roles.cluster, given(rule.reference)
    if key is None or reference is None or not rule.source.dropped or rule.source.rows > MAX_ROWS_BETWEEN:
        return rule
    request = _without_labels(rule, data).clustered_by(key, days=data.roles.days)
    edges = np.array(rule.uncertainty_edges, dtype=np.float64)
    batches = open_engine(request.engine).batches(request)
    parts = ((rows.groups[key], rows) for rows in batches)
    return msgspec.structs.replace(rule, reference=between_rows(reference, edges, parts))

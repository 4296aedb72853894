"""Build the rule file of a boundary from its report."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from uqcli.base.choices import ArtifactKind
from uqcli.base.defaults import FORMAT_VERSION
from uqcli.bin.reference import Reference
from uqcli.boundary.certificate_rule import SavedCertificate
from uqcli.boundary.expected import expected_metrics
from uqcli.boundary.report import BoundaryReport
from uqcli.boundary.rule import (
    NEW_FORMAT,
    BoundaryArtifact,
    Fit,
    GroupFit,
    SavedDependence,
    SavedEnds,
    SavedExpected,
    SavedGroup,
    SavedRange,
    SavedReference,
    SavedTarget,
)
from uqcli.boundary.search.algorithms import SavedRecalibration
from uqcli.boundary.search.capacity import Thresholds
from uqcli.boundary.search.result import FittedBoundary
from uqcli.engines.request import PROBA
from uqcli.estimates.estimate import Estimate
from uqcli.rules.saved import absent_if_none
from uqcli.shift.target import BinaryWeights


def artifact_of(
    report: BoundaryReport,
    boundary: FittedBoundary,
    recalibration: SavedRecalibration | None,
    nested: Sequence[Thresholds] = (),
    reference: Reference | None = None,
    *,
    dependence: SavedDependence | None = None,
) -> BoundaryArtifact:
    """Build the rule file of a boundary.

    Parameters
    ----------
    report
        Report of its run, with the options and the expected results to save.
    nested
        Thresholds of the nested boundaries, which order rows; empty if the rule orders none.
    """
    fit = boundary.fit
    reviewed, caught = fit.zones or (msgspec.UNSET, msgspec.UNSET)
    rules, value = report.groups, report.constraint.value_of(fit)
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
        recalibration=absent_if_none(recalibration),
        fit=Fit(
            selected=fit.selected,
            true_positives=fit.true_positives,
            rows=fit.rows,
            positives=fit.positives,
            precision=fit.precision or 0.0,  # below a score, rows may lack flagged ones, or positives
            recall=fit.recall or 0.0,
            reviewed=reviewed,
            caught=caught,
            value=msgspec.UNSET if value is None else float(value[0]),
            value_caught=msgspec.UNSET if value is None else value[1],
        ),
        reference=msgspec.UNSET if reference is None else _saved_reference(reference),
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


def _saved_reference(reference: Reference) -> SavedReference:
    return SavedReference(
        score_edges=reference.score_edges.tolist(),
        count=reference.count.tolist(),
        lowest=SavedEnds(**reference.lowest),
        highest=SavedEnds(**reference.highest),
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

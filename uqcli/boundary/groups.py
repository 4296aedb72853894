"""Boundaries of groups, and the boundary of all rows for other groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import partial, reduce
from operator import add, sub

import numpy as np

from uqcli.base.choices import Algorithm, GroupBound
from uqcli.base.counts import Bools, Cells, Ints, RangeCounts
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.boundary.calibration_set import CalibrationRows
from uqcli.boundary.certificate import NotCertified
from uqcli.boundary.certificate_rule import SavedCertificate
from uqcli.boundary.certify import certified_rule, checked_delta, rows_to_certify
from uqcli.boundary.clustered_rows import ClusteredRows
from uqcli.boundary.dependence import (
    CountsByCluster,
    counts_of_clusters,
    expected_over_clusters,
    placed,
)
from uqcli.boundary.expected import Expected
from uqcli.boundary.groups_optimum import GroupSearch
from uqcli.boundary.groups_report import GroupRules
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.pilot import open_pilot
from uqcli.boundary.report import Candidate
from uqcli.boundary.rule import BoundaryParameters
from uqcli.boundary.search.optimum import Optimum
from uqcli.boundary.search.result import FittedBoundary
from uqcli.engines.protocol import Partition, Table
from uqcli.estimates.confusion import Confusion
from uqcli.reports.dependent_rows import ClusterNumbers


@dataclass(frozen=True, kw_only=True)
class GroupedBoundary:
    """Boundaries of groups on a calibration set.

    Attributes
    ----------
    chosen
        The boundary of all rows, with the counts of all rows as the groups' rules decide them.
    delta
        Risk of the certificates of all groups; None without certificates.
    failed
        Why a group without a certificate has none, the one with the lowest p-value.
    counts
        Counts by cluster; None if rows are independent, or without a boundary.
    clusters
        Numbers of clusters: all, and those with flagged and with positive rows of groups with a boundary of
        their own. None as well with certificates.
    """

    calibration_set: CalibrationRows
    parameters: BoundaryParameters
    chosen: Candidate
    rules: GroupRules
    delta: float | None = None
    failed: NotCertified | None = None
    counts: CountsByCluster | None = None
    clusters: ClusterNumbers | None = None


@dataclass(frozen=True, kw_only=True)
class _Found:
    """Boundaries of groups; ``boundaries`` is empty if there is none."""

    boundaries: Mapping[str, FittedBoundary]
    expected: Expected | None = None
    certificates: Mapping[str, SavedCertificate] = field(default_factory=dict)
    failed: NotCertified | None = None


def find_by_group(request: BoundaryRequest) -> GroupedBoundary:
    """Find the boundary of each group that is large enough, and of all rows.

    Raises
    ------
    UsageError, DataError
        An option is out of range, the rows cannot be read, or no group is large enough.
    """
    by, algorithm = request.by or "", Algorithm(request.searched)
    delta = None if request.certify is None else checked_delta(request)
    calibration_set = CalibrationRows.from_request(request, request.constraint)
    request = calibration_set.request  # for one threshold, if there is no uncertainty
    weights = _weights(calibration_set.table, by)
    names = [name for name, rows in weights.items() if rows >= request.min_group]
    if not names:
        largest = max(weights.values(), default=0)
        raise DataError(
            f"no group has {request.min_group} rows; the largest has {largest}",
            expected="at least one large enough",
            remedy="lower --min-group, or fit one boundary without groups",
        )
    parts = {name: calibration_set.only(by, name) for name in names}
    fitted = _search(parts, algorithm, request) if delta is None else _certify(parts, request, delta)
    pooled = calibration_set.optimum(algorithm).boundary or _never(calibration_set.one_row)
    small = {name: rows for name, rows in weights.items() if name not in parts}
    rest = Confusion(rows=0, positives=0, selected=0, true_positives=0)
    if small:
        rest = reduce(sub, (_counts_under(part.table, pooled) for part in parts.values()), pooled.fit)
    rules = GroupRules(
        by=by,
        bound=request.bound,
        min_group=request.min_group,
        boundaries=fitted.boundaries,
        searched=len(names),
        small=small,
        rest=rest,
        certificates=fitted.certificates,
    )
    boundary = None
    if fitted.boundaries:
        fit = reduce(add, (boundary.fit for boundary in fitted.boundaries.values()), rest)
        boundary = FittedBoundary(
            uncertainty_edges=pooled.uncertainty_edges, thresholds=pooled.thresholds, fit=fit
        )
    expected, counts, clusters = fitted.expected, None, None
    if fitted.boundaries and calibration_set.clusters is not None:
        counts, in_groups = _by_cluster(calibration_set.clusters, parts, fitted.boundaries, pooled, request)
        if expected is not None:
            expected = expected_over_clusters(expected, in_groups, request.units)
        if delta is None:
            clusters = ClusterNumbers.of(in_groups)
    chosen = Candidate(algorithm=algorithm, optimum=Optimum(boundary=boundary), expected=expected)
    return GroupedBoundary(
        calibration_set=calibration_set,
        parameters=calibration_set.parameters(request, algorithm, len(pooled.thresholds)),
        chosen=chosen,
        rules=rules,
        delta=None if delta is None else float(delta),
        failed=fitted.failed,
        counts=counts,
        clusters=clusters,
    )


def _by_cluster(
    clusters: ClusteredRows,
    parts: Mapping[str, CalibrationRows],
    boundaries: Mapping[str, FittedBoundary],
    pooled: FittedBoundary,
    request: BoundaryRequest,
) -> tuple[CountsByCluster, Confusion[Ints]]:
    """Count the rows of each cluster that the boundaries flag; also return the sums over the groups.

    Parameters
    ----------
    clusters
        All rows, of which those in no part are decided by the boundary of all rows.
    """
    size = len(clusters.key)
    nothing = np.zeros(size, dtype=np.int64)
    in_groups = Confusion(rows=nothing, positives=nothing, selected=nothing, true_positives=nothing)
    rest, promising = counts_of_clusters(pooled, clusters), {}
    for name, boundary in boundaries.items():
        own = parts[name].clusters
        assert own is not None  # as all rows have clusters
        place = np.searchsorted(clusters.key, own.key)
        counts = counts_of_clusters(boundary, own)
        in_groups += placed(counts, place, size)
        rest -= placed(counts_of_clusters(pooled, own), place, size)
        if request.bound is GroupBound.EACH:
            promising[name] = counts
    return CountsByCluster(total=in_groups + rest, promising=promising), in_groups


def _search(parts: Mapping[str, CalibrationRows], algorithm: Algorithm, request: BoundaryRequest) -> _Found:
    """Find the boundaries of the groups, and estimate their results on new data."""
    search = GroupSearch(
        # the counts of a group are not kept: many grids would fill the memory
        parts=tuple(replace(part, _counted={}).cells(algorithm) for part in parts.values()),
        algorithm=algorithm,
        constraint=request.constraint,
        bound=request.bound,
    )
    boundaries = search.boundaries()
    if boundaries is None:
        return _Found(boundaries={})
    return _Found(
        boundaries=dict(zip(parts, boundaries, strict=True)), expected=search.expected(request.seed)
    )


def _certify(parts: Mapping[str, CalibrationRows], request: BoundaryRequest, delta: Fraction) -> _Found:
    """Certify a boundary of each group, at an equal share of the risk; others flag nothing."""
    by, cluster = request.by or "", request.data.roles.cluster
    older = None
    if request.pilot is not None:
        uncertain = "uncertainty" in request.data.roles.numbers
        older = open_pilot(request.data, request.pilot, uses_uncertainty=uncertain)
    rules = {}
    for name, part in parts.items():
        rows = rows_to_certify(part.table, cluster)
        pilot = None
        if older is not None:
            pilot = rows.select(np.empty(0, dtype=np.int64))
            if name in older.groups(by):
                pilot = rows_to_certify(older.only(by, name), cluster)
        rules[name] = certified_rule(rows, request, delta / len(parts), pilot)
    certificates = {name: rule.certificate for name, rule in rules.items() if rule.certificate is not None}
    failures = [rule.failed for rule in rules.values() if rule.failed is not None]
    failed = min(
        failures, key=lambda failure: 1.0 if failure.p_value is None else failure.p_value, default=None
    )
    sizes = [failure.rows_needed for failure in failures if failure.rows_needed is not None]
    if failed is not None:
        failed = replace(failed, rows_needed=min(sizes, default=None))
    boundaries = {name: rule.boundary or _never(rule.cells) for name, rule in rules.items()}
    return _Found(boundaries=boundaries if certificates else {}, certificates=certificates, failed=failed)


def _weights(table: Table, by: str) -> dict[str, int]:
    """Return the rows of each group by weight."""

    def nothing(counts: Sequence[RangeCounts]) -> list[Bools]:
        return [np.zeros(len(part.value), dtype=np.bool_) for part in counts]

    *parts, _ = table.range_counts(Partition(groups=(by,)), nothing)
    return {name: part.rows for name, part in zip(table.groups(by), parts, strict=True)}


def _never(cells: Cells) -> FittedBoundary:
    """Return a boundary that flags no row."""
    fit = Confusion(selected=0, true_positives=0, rows=cells.total, positives=cells.positives)
    return FittedBoundary(uncertainty_edges=np.empty(0), thresholds=(None,), fit=fit)


def _counts_under(table: Table, boundary: FittedBoundary) -> Confusion[int]:
    """Count the rows of a table that a boundary flags."""
    *parts, total = table.range_counts(
        Partition(edges=boundary.uncertainty_edges), partial(_at_thresholds, boundary=boundary)
    )
    selected = true_positives = 0
    for part, threshold in zip(parts, boundary.thresholds, strict=True):
        if threshold is not None:
            flagged = part.value >= threshold
            selected += int(part.count[flagged].sum())
            true_positives += int(part.positives[flagged].sum())
    return Confusion(
        selected=selected,
        true_positives=true_positives,
        rows=total.rows,
        positives=int(total.positives.sum()),
    )


def _at_thresholds(counts: Sequence[RangeCounts], boundary: FittedBoundary) -> list[Bools]:
    """Return the ranges that contain the threshold of their part."""
    *parts, total = counts
    masks = [
        np.zeros(len(part.value), dtype=np.bool_)
        if threshold is None
        else part.around(np.array([threshold])) & ~part.exact
        for part, threshold in zip(parts, boundary.thresholds, strict=True)
    ]
    return [*masks, np.zeros(len(total.value), dtype=np.bool_)]

"""Counts of a rule by cluster, or day, of its calibration rows, and what they say of new rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from uqcli.base.choices import ReviewKind
from uqcli.base.counts import Bools, Ints
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.boundary.clustered_rows import ClusteredRows
from uqcli.boundary.decide import decide
from uqcli.boundary.expected import Expected, moved
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.rule import EXPECTED_RANGE, SavedDependence, promise_name
from uqcli.boundary.search.constraint import PROMISED
from uqcli.boundary.search.result import FittedBoundary
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.dependence import unit_sums
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.survey import proportion_interval


@dataclass(frozen=True, kw_only=True)
class CountsByCluster:
    """Counts by cluster of a rule, and of its own groups.

    Attributes
    ----------
    total
        Of all rows.
    promising
        Of each group in which a bound is promised; empty if it is promised for all rows together.
    """

    total: Confusion[Ints]
    promising: Mapping[str, Confusion[Ints]] = field(default_factory=dict)


def counts_of_clusters(boundary: FittedBoundary, clusters: ClusteredRows) -> Confusion[Ints]:
    """Count the rows of each cluster that a boundary flags (see ``counts_by_cluster``)."""
    rows = Rows(
        numbers={"score": clusters.score, "uncertainty": clusters.uncertainty}, positive=clusters.positive
    )
    return counts_by_cluster(boundary, rows, clusters.cluster)


def placed(counts: Confusion[Ints], place: Ints, clusters: int) -> Confusion[Ints]:
    """Return counts of some clusters among those of all; int64, shape (clusters,) each.

    Parameters
    ----------
    place : int64, shape (c,)
        Index of each cluster among all.
    """

    def among_all(column: Ints) -> Ints:
        values = np.zeros(clusters, dtype=np.int64)
        values[place] = column
        return values

    return Confusion(
        rows=among_all(counts.rows),
        positives=among_all(counts.positives),
        selected=among_all(counts.selected),
        true_positives=among_all(counts.true_positives),
    )


def counts_by_cluster(boundary: FittedBoundary, rows: Rows, cluster: Ints) -> Confusion[Ints]:
    """Count the rows and positives of each cluster that a boundary flags, and flags or reviews.

    Parameters
    ----------
    cluster : int64, shape (n,)
        Index of each row's cluster.
    """
    clusters, weight, positive = int(cluster.max(initial=-1)) + 1, rows.weight, rows.labels

    def counted(mask: Bools) -> Ints:
        weights = None if weight is None else weight[mask]
        counts: Ints = np.bincount(cluster[mask], weights, clusters).astype(np.int64)
        return counts

    def taken(thresholds: Sequence[float | None]) -> tuple[Ints, Ints]:
        mask = decide(rows.score, rows.uncertainty, boundary.uncertainty_edges, thresholds)
        return counted(mask), counted(mask & positive)

    (selected, true_positives), zones = taken(boundary.thresholds), None
    if boundary.review_thresholds is not None:
        handled, caught = taken(boundary.review_thresholds)
        zones = handled - selected, caught
    return Confusion(
        rows=counted(np.ones(len(rows), dtype=np.bool_)),
        positives=counted(positive),
        selected=selected,
        true_positives=true_positives,
        zones=zones,
    )


def expected_over_clusters(expected: Expected, counts: Confusion[Ints], units: str) -> Expected:
    """Replace the ranges of independent rows by those of clusters.

    They are the intervals of the rates on the calibration rows, around what is expected. What has no range
    for independent rows has none for clusters.

    Parameters
    ----------
    units
        What clusters are called.
    """
    hits = counts.true_positives

    def over_clusters(estimate: Estimate, trials: Ints) -> Estimate:
        if estimate.value is None or estimate.low is None:
            return estimate
        rate = proportion_interval(hits, trials, EXPECTED_RANGE, units)
        return moved(rate, estimate.value, int(trials.sum()))

    return Expected(
        precision=over_clusters(expected.precision, counts.selected),
        recall=over_clusters(expected.recall, counts.positives),
    )


def saved_dependence(request: BoundaryRequest, counts: CountsByCluster) -> SavedDependence:
    """Sum up how rows of a cluster depend on each other, for each rate that ``watch`` would test.

    Rules that promise no rate are watched by their precision.
    """
    review = request.limit
    rates = [str(bound.rate) for bound in request.constraint.bounds if bound.rule.is_promise] or ["precision"]
    where: dict[str | None, Confusion[Ints]] = {name: own for name, own in counts.promising.items()}  # noqa: C416
    where = where or {None: counts.total}
    promises = {
        promise_name(rate, group): unit_sums(*own.trials(PROMISED[rate].kept))
        for group, own in where.items()
        for rate in rates
    }
    if review is not None and review.kind is ReviewKind.MISS:
        promises["miss"] = unit_sums(*counts.total.trials(Rate.CAUGHT))
    return SavedDependence(column=request.data.roles.cluster or "", promises=promises)

"""Counts of a rule by cluster, or day, of its calibration rows, and what they say of new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from uqcli.artifacts.boundary import EXPECTED_RANGE, SavedDependence
from uqcli.choices import ConstraintKind, ReviewKind
from uqcli.counts import Bools, Ints
from uqcli.document import Estimate
from uqcli.jobs.boundary.request import BoundaryRequest
from uqcli.jobs.evaluate.clusters import ClusterSums, ClusterTally
from uqcli.jobs.intervals import estimate_over_clusters
from uqcli.methods.boundary.decide import decide
from uqcli.methods.boundary.expected import Expected, moved
from uqcli.methods.boundary.result import FittedBoundary
from uqcli.methods.dependence import unit_sums
from uqcli.rows import Rows

_CLUSTER: Final = "cluster"
_RATES: Final = {ConstraintKind.RECALL: "recall", ConstraintKind.MAX_FPR: "fpr"}
"""Rates that rules promise; those for other bounds are watched by their precision."""


def counts_by_cluster(boundary: FittedBoundary, rows: Rows, cluster: Ints) -> ClusterTally:
    """Count the rows and positives of each cluster that a boundary flags, and flags or reviews.

    Parameters
    ----------
    cluster : int64, shape (n,)
        Any number of each row's cluster.
    """

    def taken(thresholds: tuple[float | None, ...]) -> Bools:
        return decide(
            rows.score,
            rows.uncertainty,
            uncertainty_edges=boundary.uncertainty_edges,
            thresholds=thresholds,
        )

    flagged = taken(tuple(boundary.thresholds))
    review = boundary.review_thresholds
    handled = flagged if review is None else taken(tuple(review))
    _, index = np.unique(cluster, return_inverse=True)
    sums = ClusterSums(_CLUSTER, 1)
    sums.add(replace(rows, groups={_CLUSTER: index}), [flagged], [handled])
    return sums.tally()


def expected_over_clusters(expected: Expected, counts: ClusterTally, units: str) -> Expected:
    """Replace the ranges of independent rows by those of clusters.

    They are the intervals of the rates on the calibration rows, around what is expected. What has no range
    for independent rows has none for clusters.

    Parameters
    ----------
    units
        What clusters are called.
    """
    ((flagged, hits),) = counts.flagged

    def over_clusters(estimate: Estimate, trials: Ints) -> Estimate:
        if estimate.value is None or estimate.low is None:
            return estimate
        rate = estimate_over_clusters(hits, trials, EXPECTED_RANGE, units)
        return moved(rate, estimate.value, int(trials.sum()))

    return Expected(
        precision=over_clusters(expected.precision, flagged),
        recall=over_clusters(expected.recall, counts.positives),
    )


def saved_dependence(request: BoundaryRequest, counts: ClusterTally) -> SavedDependence:
    """Sum up how rows of a cluster depend on each other, for each rate that ``watch`` would test."""
    constraint, review = request.constraint, request.review
    ((flagged, hits),), ((_, caught),) = counts.flagged, counts.handled
    positives, negatives = counts.positives, counts.rows - counts.positives
    successes_and_trials = {
        "precision": (hits, flagged),
        "recall": (hits, positives),
        "fpr": (negatives - (flagged - hits), negatives),
        "miss": (caught, positives),
    }
    rates = [_RATES.get(constraint.kind, "precision")]
    rates += ["recall"] if constraint.recall is not None else []
    rates += ["miss"] if review is not None and review.kind is ReviewKind.MISS else []
    return SavedDependence(
        column=request.data.roles.cluster or "",
        promises={rate: unit_sums(*successes_and_trials[rate]) for rate in rates},
    )

"""Numbers of clusters of dependent rows, and cautions of few."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Ints
from uqcli.base.records import dataclass
from uqcli.base.wording import count
from uqcli.estimates.confusion import Confusion
from uqcli.estimates.design import UNKNOWN
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.survey import FEW_CLUSTERS, MIN_CLUSTERS


@dataclass(frozen=True, kw_only=True)
class ClusterNumbers:
    """Clusters of dependent rows: all, and those with flagged and with positive rows."""

    clusters: int
    clusters_flagged: int
    clusters_positive: int

    @classmethod
    def of(cls, counts: Confusion[Ints]) -> ClusterNumbers:
        """Count the clusters, by the rows of each."""
        return cls(
            clusters=len(counts.rows),
            clusters_flagged=int(np.count_nonzero(counts.selected)),
            clusters_positive=int(np.count_nonzero(counts.positives)),
        )


def few_clusters(subject: str, clusters: int, whose: str, unit: str = "clusters") -> list[str]:
    """Caution that an interval rests on few clusters, or that too few give none; ``unit`` is their name."""
    if clusters >= FEW_CLUSTERS:
        return []
    having = f"{count(clusters)} {unit} have {whose}"
    if clusters < MIN_CLUSTERS:
        return [f"{subject} has no interval: {having}, {MIN_CLUSTERS} needed."]
    return [f"{subject} has an unreliable interval: {having}, {FEW_CLUSTERS} or more are reliable."]


def unreliable(subject: str, rate: Estimate) -> list[str]:
    """Caution why an interval is unreliable, or why there is none; empty if it is reliable."""
    if not rate.reason or rate == UNKNOWN:
        return []
    state = "no interval" if rate.low is None else "an unreliable interval"
    return [f"{subject} has {state}: {rate.reason}."]

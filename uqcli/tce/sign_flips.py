"""Null distributions of calibration errors for clusters of dependent rows, from random signs of clusters.

If scores are calibrated, the residuals ``label - score`` of a cluster have mean 0, however they depend on
each other. To change the signs of a whole cluster then changes neither their mean nor their covariance. Bins
stay as they are.
"""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Bools, Floats, Ints, bin_of, run_starts
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class SignedErrors:
    """Residuals of single rows, in ascending order of score.

    Attributes
    ----------
    residual : float64, shape (n,)
        ``label - score``.
    cluster : int64, shape (n,)
        Index of each row's cluster.
    bins : int64, shape (n,), by metric
        Bin of each row for the mean absolute error of bins.
    ends : int64, shape (v,)
        Last row of each distinct score.
    clusters
        Number of clusters.
    """

    residual: Floats
    cluster: Ints
    bins: dict[str, Ints]
    ends: Ints
    clusters: int

    @classmethod
    def from_rows(
        cls, score: Floats, positive: Bools, cluster: Ints, edges: dict[str, Floats]
    ) -> SignedErrors:
        """Sort rows; arrays of shape (n,), and the edges of bins by metric."""
        keys, index = np.unique(cluster, return_inverse=True)
        order = np.lexsort((positive, index, score))
        ordered = score[order]
        return cls(
            residual=positive[order] - ordered,
            cluster=index[order],
            bins={name: bin_of(ordered, edge) for name, edge in edges.items()},
            ends=np.append(run_starts(ordered)[1:], len(ordered)) - 1,
            clusters=len(keys),
        )

    def errors(self, random: np.random.Generator | None = None) -> dict[str, float]:
        """Compute the errors with a random sign of each cluster, or as they are; ``ecce`` needs no bins."""
        residual = self.residual
        if random is not None:
            sign = 2.0 * random.integers(0, 2, self.clusters) - 1.0
            residual = residual * sign[self.cluster]
        rows = len(residual)
        errors = {
            name: float(np.abs(np.bincount(index, weights=residual)).sum()) / rows
            for name, index in self.bins.items()
        }
        cumulative = np.cumsum(residual)[self.ends]
        spread = max(0.0, float(cumulative.max())) - min(0.0, float(cumulative.min()))
        return {**errors, "ecce": spread / rows}

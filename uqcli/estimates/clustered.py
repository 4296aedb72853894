"""Standard errors and resamples of metrics before and after, for clusters of dependent rows.

Errors of mean losses are linearised over clusters, and those of the AUC sum the placements of each cluster
(Obuchowski 1997). A resample draws whole clusters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Bools, Floats, Ints, Matrix
from uqcli.base.draws import text_keys
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.engines.protocol import ReadRows
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.paired import SIDES, Ranking, bounded_losses, by_side, log_odds_of, losses_of_labels
from uqcli.estimates.resampling import resample
from uqcli.estimates.score_metrics import LOSSES, is_bounded
from uqcli.estimates.survey import FEW_CLUSTERS

_UNDEFINED = Estimate(value=None)


@dataclass(frozen=True, kw_only=True)
class ClusteredPairs:
    """Distinct rows, sorted by cluster and values, with the losses before and after.

    Attributes
    ----------
    cluster : int64, shape (n,)
        Index of each row's cluster, ascending.
    weight : int64, shape (n,)
    label : int64, shape (n,)
        Class of each row; 1 for positive rows.
    losses
        Losses of each row by name and side; None if a single row may dominate the mean.
    before, after : float64, shape (n,), or None
        Scores to rank; None for many classes.
    change : float64, shape (n,)
        Distance of the probabilities before and after.
    times : int64, shape (C,)
        How often each cluster is drawn.
    """

    cluster: Ints
    weight: Ints
    label: Ints
    losses: Mapping[str, Mapping[str, Floats | None]]
    before: Floats | None = None
    after: Floats | None = None
    change: Floats
    times: Ints

    @classmethod
    def from_scores(
        cls, before: Floats, after: Floats, positive: Bools, weight: Ints, cluster: Ints
    ) -> ClusteredPairs:
        """Pool rows with one probability each; arrays of shape (n,)."""
        order, pooled = _pooled([cluster, before, after, positive], weight)
        before, after, positive = before[order], after[order], positive[order]
        losses = {}
        for name, loss in LOSSES.items():
            sides = [np.where(positive, *loss(probability)) for probability in (before, after)]
            bounded = is_bounded(name, before), is_bounded(name, after)
            losses[name] = by_side(sides[0], sides[1], bounded)
        pairs = cls._of(cluster[order], pooled, positive.astype(np.int64), losses, np.abs(after - before))
        return replace(pairs, before=before, after=after)

    @classmethod
    def from_classes(
        cls, before: Matrix, after: Matrix, label: Ints, weight: Ints, cluster: Ints
    ) -> ClusteredPairs:
        """Pool rows with class probabilities, shape (n, K)."""
        order, pooled = _pooled([cluster, *before.T, *after.T, label], weight)
        before, after, label = before[order], after[order], label[order]
        losses = bounded_losses(losses_of_labels(before, after, label), before, after)
        change = np.abs(after - before).sum(axis=1) / 2
        return cls._of(cluster[order], pooled, label, losses, change)

    @classmethod
    def _of(
        cls,
        cluster: Ints,
        weight: Ints,
        label: Ints,
        losses: Mapping[str, Mapping[str, Floats | None]],
        change: Floats,
    ) -> ClusteredPairs:
        _, index = np.unique(cluster, return_inverse=True)
        return cls(
            cluster=index,
            weight=weight,
            label=label,
            losses=losses,
            change=change,
            times=np.ones(int(index[-1]) + 1, dtype=np.int64),
        )

    @property
    def min_class_rows(self) -> int:
        """Number of clusters with rows of the rarest class; 0 if there are few clusters."""
        if np.count_nonzero(self.times) < FEW_CLUSTERS:
            return 0
        return min(len(np.unique(self.cluster[self.label == label])) for label in self._labels)

    @cached_property
    def _labels(self) -> range:
        return range(max(2, int(self.label.max()) + 1))

    def rows_that_differ(self) -> float:
        """Compute the effective number of clusters that differ in each class; return the smallest."""
        numbers = []
        for label in self._labels:
            change = self._sums(np.where(self.label == label, self.change, 0.0))
            squares = float((change * change).sum())
            numbers.append(float(change.sum()) ** 2 / squares if squares else 0.0)
        return min(numbers)

    def resampled(self, random: np.random.Generator) -> ClusteredPairs:
        """Draw as many clusters, with all their rows."""
        sample = replace(self, times=resample(self.times, random))
        shared = {"_sums_of_losses": self._sums_of_losses, "_labels": self._labels}
        if self.before is not None:
            shared["_rankings"] = self._rankings
        sample.__dict__.update(shared)  # independent of the draws
        return sample

    @cached_property
    def _sums_of_losses(self) -> Mapping[str, Mapping[str, Floats | None]]:
        return {
            name: {side: None if loss is None else self._sums(loss) for side, loss in losses.items()}
            for name, losses in self.losses.items()
        }

    @cached_property
    def _rankings(self) -> tuple[Ranking, Ranking]:
        assert self.before is not None
        assert self.after is not None
        return Ranking.from_values(self.before), Ranking.from_values(self.after)

    def _sums(self, value: Floats) -> Floats:
        """Add up a value of the rows by cluster, by weight; float64, shape (C,)."""
        sums = np.zeros(len(self.times))
        np.add.at(sums, self.cluster, value * self.weight)
        return sums

    def with_errors(self) -> dict[str, dict[str, Estimate]]:
        """Compute mean losses, and the log-odds of the AUC of scores, by name and side."""
        rows = self._sums(np.ones(len(self.cluster)))
        estimates = {
            name: {
                side: _UNDEFINED if loss is None else _mean(loss, rows, self.times)
                for side, loss in losses.items()
            }
            for name, losses in self._sums_of_losses.items()
        }
        return estimates if self.before is None else estimates | {"auc": self._auc()}

    def _auc(self) -> dict[str, Estimate]:
        positive = self.label == 1
        weight = self.weight * self.times[self.cluster]
        positives, negatives = np.where(positive, weight, 0), np.where(positive, 0, weight)
        totals = float(positives.sum()), float(negatives.sum())
        if min(totals) == 0:
            return dict.fromkeys(SIDES, _UNDEFINED)
        placed = []
        for ranking in self._rankings:
            of_positive, of_negative = ranking.placements(positives, negatives)
            placed.append(np.where(positive, of_positive, of_negative))
        values = [float((placement * positives).sum()) / totals[0] for placement in placed]
        share = np.where(positive, 1 / totals[0], 1 / totals[1])
        residuals = [
            self._sums((placement - value) * share) for placement, value in zip(placed, values, strict=True)
        ]
        before, after = (
            Estimate(value=value, error=_error(residual, self.times))
            for value, residual in zip(values, residuals, strict=True)
        )
        difference = Estimate(
            value=values[1] - values[0], error=_error(residuals[1] - residuals[0], self.times)
        )
        return {"before": log_odds_of(before), "after": log_odds_of(after), "difference": difference}


def _pooled(keys: Sequence[NDArray[Any]], weight: Ints) -> tuple[Ints, Ints]:
    """Return one index of each distinct row of positive weight, in sorted order, and its total weight."""
    order = np.lexsort(list(reversed(keys)))
    order = order[weight[order] > 0]
    starts_row = np.zeros(len(order), dtype=np.bool_)
    starts_row[:1] = True
    for key in keys:
        starts_row[1:] |= key[order][1:] != key[order][:-1]
    starts = np.flatnonzero(starts_row)
    return order[starts], np.add.reduceat(weight[order], starts)


def _mean(loss: Floats, rows: Floats, times: Ints) -> Estimate:
    """Compute the mean over the rows of the drawn clusters, with its linearised standard error."""
    total = float((rows * times).sum())
    mean = float((loss * times).sum()) / total
    return Estimate(value=mean, error=_error((loss - mean * rows) / total, times))


def _error(residual: Floats, times: Ints) -> float:
    """Compute the standard error from the residuals of clusters, which sum to 0."""
    clusters = int(times.sum())
    return math.sqrt(clusters / max(1, clusters - 1) * float((residual * residual * times).sum()))


def keyed_by_cluster(read: ReadRows, cluster: str | None) -> Rows:
    """Return the rows with the key of each cluster's text as its group, so that draws are by text."""
    if cluster is None:
        return read.rows
    keys = text_keys(read.group_names[cluster])
    return replace(read.rows, groups={**read.rows.groups, cluster: keys[read.rows.groups[cluster]]})


def clusters_in(rows: Rows, cluster: str | None) -> int | None:
    """Count the clusters of positive weight; None if rows are independent."""
    return None if cluster is None else len(np.unique(rows.groups[cluster][rows.weights() > 0]))

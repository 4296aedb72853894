"""Clusters of dependent rows as keys of single rows, for splits and resamples of whole clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uqcli.base.class_counts import Matrix
from uqcli.base.counts import Floats
from uqcli.base.draws import text_keys
from uqcli.base.rows import Rows
from uqcli.engines.probabilities import label_indices
from uqcli.engines.protocol import ReadRows
from uqcli.estimates.clustered import ClusteredPairs


def keyed_by_cluster(read: ReadRows, cluster: str | None) -> Rows:
    """Return the rows with the key of each cluster's text as its group, so that draws are by text."""
    if cluster is None:
        return read.rows
    keys = text_keys(read.group_names[cluster])
    return replace(read.rows, groups={**read.rows.groups, cluster: keys[read.rows.groups[cluster]]})


def clustered_pairs(
    before: Floats | Matrix, after: Floats | Matrix, rows: Rows, cluster: str | None
) -> ClusteredPairs | None:
    """Pair the probabilities of rows by cluster; None if rows are independent."""
    if cluster is None:
        return None
    weight, of_row = rows.weights(), rows.groups[cluster]
    if before.ndim == 2:
        return ClusteredPairs.from_classes(before, after, label_indices(rows), weight, of_row)
    return ClusteredPairs.from_scores(before, after, rows.labels, weight, of_row)


def clusters_in(rows: Rows, cluster: str | None) -> int | None:
    """Count the clusters of positive weight; None if rows are independent."""
    return None if cluster is None else len(np.unique(rows.groups[cluster][rows.weights() > 0]))

"""One row of each cluster at every boundary of a sequence, for tests of clusters of dependent rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Bools, Ints
from uqcli.base.records import dataclass


@dataclass(frozen=True, kw_only=True)
class DrawnRows:
    """Clusters with selected rows, each by the selected row with the lowest key.

    Attributes
    ----------
    true_positives, selected : int64, shape (boundaries,)
        Clusters whose row is positive, and all clusters with a selected row.
    clusters, positives
        All clusters, and those with a positive row.
    pilot_clusters
        Clusters that ranked the boundaries.
    """

    true_positives: Ints
    selected: Ints
    clusters: int
    positives: int
    pilot_clusters: int


def drawn_rows(
    position: Ints,
    cluster: Ints,
    key: NDArray[np.uint64],
    positive: Bools,
    *,
    boundaries: int,
    pilot_clusters: int,
) -> DrawnRows:
    """Draw one selected row of each cluster at each of several nested boundaries.

    Parameters
    ----------
    position : int64, shape (n,)
        First boundary that selects each row.
    cluster : int64, shape (n,)
        Key of each row's cluster.
    key : uint64, shape (n,)
        Random key of each row.
    positive : bool, shape (n,)
    """
    clusters, index = np.unique(cluster, return_inverse=True)
    rank = np.empty(len(key), dtype=np.int64)
    rank[np.lexsort((positive, key))] = np.arange(len(key))
    order = np.lexsort((rank, position, index))
    index, rank, position, label = (
        index[order],
        rank[order],
        position[order],
        positive[order].astype(np.int64),
    )
    # a running minimum within clusters: later clusters have lower values than all earlier ones
    lowest = np.minimum.accumulate(rank - index * len(rank))
    is_first = np.diff(index, prepend=-1) != 0
    is_drawn = is_first | (np.diff(lowest, prepend=0) != 0)
    drawn = np.flatnonzero(is_drawn)
    before = np.where(is_first[drawn], 0, np.append(0, label[drawn][:-1]))
    hits, selected = np.zeros(boundaries, dtype=np.int64), np.zeros(boundaries, dtype=np.int64)
    np.add.at(hits, position[drawn], label[drawn] - before)
    np.add.at(selected, position[is_first], 1)
    return DrawnRows(
        true_positives=np.cumsum(hits),
        selected=np.cumsum(selected),
        clusters=len(clusters),
        positives=len(np.unique(cluster[positive])),
        pilot_clusters=pilot_clusters,
    )

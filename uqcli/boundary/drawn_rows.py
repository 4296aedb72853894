"""Single rows drawn by hashes of their content, independently of row order and files.

They are split into parts. For tests of dependent rows, one of each cluster is drawn at every boundary of a
sequence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Bools, Ints
from uqcli.base.draws import digest, hashes
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.engines.repeated_rows import are_copies


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Single rows of a pooled table.

    Attributes
    ----------
    index : int64, shape (n,)
        Index of each row's values in the table.
    hashes : uint64, shape (n,)
        Hash of each row's values, its number among equal rows, the seed, and the table digest. Without the
        digest, draws from a few repeated values would be equal for every calibration set. Copies of one row
        share a hash, so that they stay together (see uqcli.engines.repeated_rows).
    """

    index: Ints
    hashes: NDArray[np.uint64]

    def parts(self, end_ranks: Sequence[int]) -> Ints:
        """Return the part of each row in the order of the hashes; ``end_ranks`` as in ``split_by_hash``."""
        cuts = [rank for rank in end_ranks if 0 < rank < len(self.hashes)]
        bounds = np.partition(self.hashes, cuts)[cuts] if cuts else self.hashes[:0]
        return np.searchsorted(bounds, self.hashes, side="right") + (len(end_ranks) - len(cuts))


def copies(rows: Rows, seed: int) -> Copies:
    """Expand pooled rows to single rows."""
    count = rows.weights()
    columns = [*rows.numbers.values(), rows.labels]
    table = digest([*columns, count])
    indices = np.repeat(np.arange(len(count)), count)
    copy = np.arange(len(indices)) - np.repeat(np.cumsum(count) - count, count)
    if are_copies(rows):
        copy = np.zeros_like(copy)
    keys = hashes([*(column[indices] for column in columns), copy], seed, table)
    return Copies(index=indices, hashes=keys)


def split_by_hash(rows: Rows, seed: int, end_ranks: Sequence[int]) -> list[Ints]:
    """Split rows into parts in the order of their hashes.

    Parameters
    ----------
    rows
        Pooled.
    end_ranks
        Ascending ranks at which all parts except the last end.

    Returns
    -------
    int64, shape (n,)
        Multiplicity of each distinct row in each part.
    """
    single = copies(rows, seed)
    part = single.parts(end_ranks)
    return [
        np.bincount(single.index[part == part_index], minlength=len(rows))
        for part_index in range(len(end_ranks) + 1)
    ]


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

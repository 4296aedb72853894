"""Single rows drawn by hashes of their content, independently of row order and files.

They are split into parts. For tests of dependent rows, one of each cluster is drawn at every boundary of a
sequence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Bools, Ints, distinct_numbers
from uqcli.base.draws import digest, hashes
from uqcli.base.rows import Rows
from uqcli.engines.repeated_rows import are_copies
from uqcli.estimates.confusion import Confusion
from uqcli.kernels.units import dense_ranks


def copies(rows: Rows, seed: int) -> tuple[Ints, NDArray[np.uint64]]:
    """Expand pooled rows to single rows: the index of each in the table, and its key; shape (n,).

    The key is a hash of the row's values, its number among equal rows, the seed, and the table digest.
    Without the digest, draws from a few repeated values would be equal for every calibration set. Copies of
    one row share a hash, so that they stay together (see uqcli.engines.repeated_rows).
    """
    count = rows.weights()
    columns = [*rows.numbers.values(), rows.labels]
    table = digest([*columns, count])
    index = np.repeat(np.arange(len(count)), count)
    copy = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
    if are_copies(rows):
        copy = np.zeros_like(copy)
    return index, hashes([*(column[index] for column in columns), copy], seed, table)


def split_by_hash(rows: Rows, seed: int, end_ranks: Sequence[int]) -> list[Ints]:
    """Split pooled rows in the order of their hashes into parts that end at ascending ranks, and the rest.

    Each part is the multiplicity of each distinct row in it, int64 of shape (n,).
    """
    index, keys = copies(rows, seed)
    cuts = [rank for rank in end_ranks if 0 < rank < len(keys)]
    bounds = np.partition(keys, cuts)[cuts] if cuts else keys[:0]
    part = np.searchsorted(bounds, keys, side="right") + (len(end_ranks) - len(cuts))
    return [
        np.bincount(index[part == part_index], minlength=len(rows))
        for part_index in range(len(end_ranks) + 1)
    ]


def drawn_rows(
    position: Ints, cluster: Ints, key: NDArray[np.uint64], positive: Bools, boundaries: int
) -> Confusion[Ints]:
    """Draw one selected row of each cluster at each of several nested boundaries: that with the lowest key.

    Rows, shape (n,), have the first boundary that selects them, the key of their cluster, and a random key.
    Return the clusters at each boundary, shape (boundaries,): all of them, those with a positive row, those
    with a selected row, and those whose drawn row is positive.
    """
    clusters, index = dense_ranks(cluster)
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
    return Confusion(
        rows=np.full(boundaries, len(clusters)),
        positives=np.full(boundaries, len(distinct_numbers(cluster[positive]))),
        selected=np.cumsum(selected),
        true_positives=np.cumsum(hits),
    )

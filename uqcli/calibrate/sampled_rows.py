"""Convert counts to rows, sample them, and split them into folds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from uqcli.base.counts import Ints, ValueCounts
from uqcli.base.defaults import FOLDS, MEASURED_ROWS
from uqcli.base.draws import Purpose, dealt, generator
from uqcli.base.rows import Rows
from uqcli.engines.repeated_rows import are_copies
from uqcli.kernels.sums import indices_of_ranks, sums_before


def rows_of(counts: ValueCounts) -> Rows:
    """Return the distinct rows in sorted order: for each score the negative row before the positive one."""
    weight = np.stack([counts.count - counts.positives, counts.positives], axis=1).astype(np.int64).ravel()
    present = np.flatnonzero(weight)
    return Rows(
        numbers={"score": counts.value[present // 2]}, positive=present % 2 == 1, weight=weight[present]
    )


def sample_of(counts: ValueCounts, seed: int) -> ValueCounts:
    """Sample ``MEASURED_ROWS`` rows without replacement; return all rows if there are no more."""
    rows = counts.rows
    if rows <= MEASURED_ROWS:
        return counts
    random = generator(seed, Purpose.SPLIT, 2)
    rank = np.sort(random.choice(rows, MEASURED_ROWS, replace=False, shuffle=False))
    # for each score the negative rows come first
    index = indices_of_ranks(counts.count, rank)
    indices, first = np.unique(index, return_index=True)
    before = sums_before(counts.count, indices)
    negative = rank - before[np.searchsorted(indices, index)] < counts.count[index] - counts.positives[index]
    count = np.diff(first, append=len(rank))
    negatives = np.add.reduceat(negative, first, dtype=np.int64)
    return ValueCounts(value=counts.value[indices], count=count, positives=count - negatives)


def sample_of_rows(rows: Rows, most: int, seed: int) -> Rows:
    """Sample rows without replacement; return all rows if there are no more than ``most``."""
    if rows.size <= most:
        return rows
    weight = rows.weights()
    ranks = np.sort(generator(seed, Purpose.SPLIT, 2).choice(rows.size, most, replace=False, shuffle=False))
    return rows.reweighted(np.bincount(indices_of_ranks(weight, ranks), minlength=len(weight)))


def folds_of(rows: Rows, seed: int, cluster: str | None) -> Iterator[tuple[Rows, Rows]]:
    """Deal rows, or whole clusters, to at most five folds; yield the rows outside each, and its own.

    Parameters
    ----------
    rows
        At least two, or of two clusters.
    """
    weight = rows.weights()
    for fold in weights_of_folds(rows, seed, cluster):
        yield rows.reweighted(weight - fold), rows.reweighted(fold)


def weights_of_folds(rows: Rows, seed: int, cluster: str | None) -> Ints:
    """Return the weight of each row in each of at most five folds; int64, shape (folds, n)."""
    random = generator(seed, Purpose.SPLIT, 1)
    return deal_rows(rows, min(FOLDS, units_of(rows, cluster)), random, cluster)


def units_of(rows: Rows, cluster: str | None) -> int:
    """Return the number of rows that can be split, or of clusters."""
    return rows.size if cluster is None else len(np.unique(rows.groups[cluster]))


def deal_rows(rows: Rows, parts: int, random: np.random.Generator, cluster: str | None = None) -> Ints:
    """Split pooled rows as ``split_into_folds`` does, but keep copies together unless a fold would be empty.

    Parameters
    ----------
    cluster
        Group of rows, by its key, that stay together; there are at least as many as parts.

    Returns
    -------
    int64, shape (parts, m)
        Multiplicity of each distinct row in each fold.
    """
    weight = rows.weights()
    if cluster is not None:
        return _deal_clusters(weight, rows.groups[cluster], parts, random)
    if are_copies(rows):
        order = random.permutation(len(weight))
        last = np.cumsum(weight[order])
        # fold of the row's middle
        fold = np.minimum((2 * last - weight[order]) * parts // (2 * last[-1]), parts - 1)
        dealt = np.zeros((parts, len(weight)), dtype=np.int64)
        dealt[fold, order] = weight[order]
        if dealt.any(axis=1).all():
            return dealt
    return split_into_folds(weight, parts, random)


def _deal_clusters(weight: Ints, cluster: Ints, parts: int, random: np.random.Generator) -> Ints:
    """Deal whole clusters in turn, in an order by the hash of their key."""
    clusters, index = np.unique(cluster, return_inverse=True)
    fold = dealt(clusters, parts, int(random.integers(1 << 62)))
    return np.where(fold[index] == np.arange(parts)[:, None], weight, 0)


def split_into_folds(weight: Ints, parts: int, random: np.random.Generator) -> Ints:
    """Deal rows to folds one by one in a random order; a row of weight w is w rows.

    Parameters
    ----------
    weight : int64, shape (m,)
        Weights of distinct rows in sorted order.

    Returns
    -------
    int64, shape (parts, m)
        Multiplicity of each row in each fold; fold sizes differ by at most one.
    """
    order = random.permutation(len(weight))
    size = weight[order]
    last = np.cumsum(size)
    # dealing in turn, a fold gets a row in every round, and one more if the last round reaches it
    (rounds, over), (rounds_before, over_before) = np.divmod(last, parts), np.divmod(last - size, parts)
    multiplicity = np.empty((parts, len(weight)), dtype=np.int64)
    for fold in range(parts):
        multiplicity[fold, order] = rounds - rounds_before + (over > fold) - (over_before > fold)
    return multiplicity

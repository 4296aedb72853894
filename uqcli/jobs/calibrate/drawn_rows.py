"""Labelled rows made of counts, drawn and dealt out."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Ints, ValueCounts
from uqcli.defaults import MEASURED_ROWS
from uqcli.draws import Purpose, generator
from uqcli.parts import places_of, sums_before
from uqcli.repeats import are_copies
from uqcli.rows import Rows


def rows_of(counts: ValueCounts) -> Rows:
    """Distinct rows in sorted order: of each score the negative ones before the positive ones."""
    weight = np.stack([counts.count - counts.positives, counts.positives], axis=1).astype(np.int64).ravel()
    there = np.flatnonzero(weight)
    return Rows(
        numbers={"score": counts.value[there // 2]},
        positive=there % 2 == 1,
        weight=weight[there],
    )


def drawn_from(counts: ValueCounts, seed: int) -> ValueCounts:
    """Counts of as many rows as are measured at most, drawn without replacement; fewer are all taken."""
    rows = counts.rows
    if rows <= MEASURED_ROWS:
        return counts
    random = generator(seed, Purpose.SPLIT, 2)
    rank = np.sort(random.choice(rows, MEASURED_ROWS, replace=False, shuffle=False))
    # of each score the negative rows come first
    place = places_of(counts.count, rank)
    taken, first = np.unique(place, return_index=True)
    before = sums_before(counts.count, taken)
    negative = rank - before[np.searchsorted(taken, place)] < (counts.count - counts.positives)[place]
    count = np.diff(first, append=len(rank))
    negatives = np.add.reduceat(negative, first, dtype=np.int64)
    return ValueCounts(value=counts.value[taken], count=count, positives=count - negatives)


def deal_rows(rows: Rows, parts: int, random: np.random.Generator) -> Ints:
    """Deal pooled rows out (see ``deal``); copies of one row stay together, as far as no part is left empty.

    Returns
    -------
    int64, shape (parts, m)
        How often each distinct row is in each part.
    """
    weight = rows.counted()
    if are_copies(rows):
        order = random.permutation(len(weight))
        last = np.cumsum(weight[order])
        part = np.minimum((2 * last - weight[order]) * parts // (2 * last[-1]), parts - 1)  # of its middle
        whole = np.zeros((parts, len(weight)), dtype=np.int64)
        whole[part, order] = weight[order]
        if whole.any(axis=1).all():
            return whole
    return deal(weight, parts, random)


def deal(weight: Ints, parts: int, random: np.random.Generator) -> Ints:
    """Deal rows out in a drawn order, one to each part in turn; a row of weight w is w rows.

    Parameters
    ----------
    weight : int64, shape (m,)
        Of distinct rows in sorted order.

    Returns
    -------
    int64, shape (parts, m)
        How often each row is in each part; part sizes differ by at most one.
    """
    order = random.permutation(len(weight))
    last = np.cumsum(weight[order])
    dealt = np.empty((parts, len(weight)), dtype=np.int64)
    for part in range(parts):
        upto = (last - 1 - part) // parts
        dealt[part, order] = upto - (last - weight[order] - 1 - part) // parts
    return dealt

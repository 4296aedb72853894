"""Rows in an order that is keyed by what they hold: neither their order nor their files have a say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uqcli.counts import Ints
from uqcli.draws import digest, hashes
from uqcli.rows import Rows


def dealt(rows: Rows, seed: int, ends: Sequence[int]) -> list[Ints]:
    """Deal rows into parts in the order of a hash.

    It is of their values, of their number among equal rows, of the seed, and of the whole table: without the
    last, what is drawn of a few much repeated values would be the same for every hold-out.

    Parameters
    ----------
    rows
        Pooled.
    ends
        Ranks, ascending, at which all parts but the last end.

    Returns
    -------
    int64, shape (n,)
        Of each part, how often each distinct row is in it.
    """
    count = rows.counted()
    columns = [*rows.numbers.values(), rows.labels]
    key = digest([*columns, count])
    of_copy = np.repeat(np.arange(len(count)), count)
    copy = np.arange(len(of_copy)) - np.repeat(np.cumsum(count) - count, count)
    drawn = hashes([*(each[of_copy] for each in columns), copy], seed, key)
    cuts = [end for end in ends if 0 < end < len(drawn)]
    bounds = np.partition(drawn, cuts)[cuts] if cuts else drawn[:0]
    part = np.searchsorted(bounds, drawn, side="right") + (len(ends) - len(cuts))
    return [np.bincount(of_copy[part == each], minlength=len(count)) for each in range(len(ends) + 1)]

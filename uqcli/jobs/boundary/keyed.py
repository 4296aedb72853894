"""Rows in an order that is keyed by what they hold: neither their order nor their files have a say."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Ints
from uqcli.draws import digest, hashes
from uqcli.rows import Rows


def keyed_order(rows: Rows, seed: int) -> Ints:
    """Rows by a hash of their values, of their number among equal rows, of the seed and of the whole table.

    Without the table, what is drawn of a few much repeated values would be the same for every hold-out.

    Parameters
    ----------
    rows
        Pooled.

    Returns
    -------
    int64, shape (rows by weight,)
        Place of the distinct row, once for each copy.
    """
    count = rows.counted()
    columns = [*rows.numbers.values(), rows.labels]
    key = digest([*columns, count])
    of_copy = np.repeat(np.arange(len(count)), count)
    copy = np.arange(len(of_copy)) - np.repeat(np.cumsum(count) - count, count)
    drawn = hashes([*(each[of_copy] for each in columns), copy], seed, key)
    return of_copy[np.argsort(drawn, kind="stable")]


def weights_of(places: Ints, rows: Rows) -> Ints:
    """How often each distinct row is among some copies; int64, shape (n,)."""
    return np.bincount(places, minlength=len(rows))

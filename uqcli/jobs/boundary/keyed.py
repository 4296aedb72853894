"""Rows in an order that is keyed by what they hold: neither their order nor their files have a say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uqcli.counts import Ints
from uqcli.draws import digest, hashes
from uqcli.repeats import are_copies
from uqcli.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Single rows of a pooled table.

    Attributes
    ----------
    of : int64, shape (n,)
        Place of each row's values in the table.
    drawn : uint64, shape (n,)
        A hash of each row's values, of its number among equal rows, of the seed, and of the whole table:
        without the last, what is drawn of a few much repeated values would be the same for every hold-out.
        Copies of one row have one hash, so that they stay together (see uqcli.repeats).
    table
        The digest of the whole table.
    """

    of: Ints
    drawn: NDArray[np.uint64]
    table: int

    def parts(self, ends: Sequence[int]) -> Ints:
        """Number of each row's part in the order of the hashes; ``ends`` as for ``dealt``."""
        cuts = [end for end in ends if 0 < end < len(self.drawn)]
        bounds = np.partition(self.drawn, cuts)[cuts] if cuts else self.drawn[:0]
        return np.searchsorted(bounds, self.drawn, side="right") + (len(ends) - len(cuts))


def copies(rows: Rows, seed: int) -> Copies:
    """The single rows of pooled ones."""
    count = rows.counted()
    columns = [*rows.numbers.values(), rows.labels]
    table = digest([*columns, count])
    of = np.repeat(np.arange(len(count)), count)
    copy = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    if are_copies(rows):
        copy = np.zeros_like(copy)
    drawn = hashes([*(each[of] for each in columns), copy], seed, table)
    return Copies(of=of, drawn=drawn, table=table)


def dealt(rows: Rows, seed: int, ends: Sequence[int]) -> list[Ints]:
    """Deal rows into parts in the order of a hash.

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
    single = copies(rows, seed)
    part = single.parts(ends)
    return [np.bincount(single.of[part == each], minlength=len(rows)) for each in range(len(ends) + 1)]

"""Split rows by hashes of their content, independently of row order and files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Ints
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

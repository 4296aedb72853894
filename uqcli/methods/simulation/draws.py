"""Random numbers keyed by seed, purpose and row, so that no draw depends on chunks or threads."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np

BLOCK = 1 << 16


class Purpose(IntEnum):
    """Independent streams of one seed; the numbers are part of what a seed means."""

    SIMULATE = 1


def blocks(rows: int, seed: int, purpose: Purpose) -> Iterator[tuple[int, np.random.Generator]]:
    """A generator for every block of rows, with the number of rows in it.

    Parameters
    ----------
    rows
        Rows in all; block b holds rows ``b*BLOCK`` to ``(b+1)*BLOCK - 1``.
    """
    for block in range(-(-rows // BLOCK)):
        key = np.random.SeedSequence(seed, spawn_key=(int(purpose), block))
        yield min(BLOCK, rows - block * BLOCK), np.random.Generator(np.random.Philox(key))

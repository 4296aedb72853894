"""Random numbers keyed by seed, purpose and row, so that no draw depends on chunks or threads."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np

from uqcli.counts import Floats, Ints
from uqcli.defaults import MOST_SEED
from uqcli.errors import UsageError

BLOCK = 1 << 16


class Purpose(IntEnum):
    """Independent streams of one seed; the numbers are part of what a seed means."""

    SIMULATE = 1
    BOOTSTRAP = 2
    SPLIT = 3
    FIT = 4
    APPLY = 5
    TRAIN = 6


def blocks(rows: int, seed: int, purpose: Purpose) -> Iterator[tuple[int, np.random.Generator]]:
    """A generator for every block of rows, with the number of rows in it.

    Parameters
    ----------
    rows
        Rows in all; block b holds rows ``b*BLOCK`` to ``(b+1)*BLOCK - 1``.
    """
    for block in range(-(-rows // BLOCK)):
        yield min(BLOCK, rows - block * BLOCK), _generator(seed, purpose, block)


def uniforms(position: Ints, seed: int, purpose: Purpose, replicate: int = 0) -> Floats:
    """One number in [0, 1) for each row, whatever other rows there are.

    Parameters
    ----------
    position : int64, shape (n,)
        Positions of the rows over all inputs, ascending.
    replicate
        Which of many draws for the same rows.

    Returns
    -------
    float64, shape (n,)
    """
    result = np.empty(len(position))
    block_of = position // BLOCK
    for block in np.unique(block_of).tolist():
        start, stop = np.searchsorted(block_of, [block, block + 1])
        drawn = _generator(seed, purpose, block, replicate).random(BLOCK)
        result[start:stop] = drawn[position[start:stop] - block * BLOCK]
    return result


def check_seed(seed: int) -> None:
    """Refuse what is no seed.

    Raises
    ------
    UsageError
        Not a whole number from 0 to ``MOST_SEED``.
    """
    if not isinstance(seed, int | np.integer) or not 0 <= seed <= MOST_SEED:
        raise UsageError(f"seed {seed}", expected=f"a whole number from 0 to {MOST_SEED}")


def _generator(seed: int, purpose: Purpose, *key: int) -> np.random.Generator:
    check_seed(seed)
    sequence = np.random.SeedSequence(seed, spawn_key=(int(purpose), *key))
    return np.random.Generator(np.random.Philox(sequence))

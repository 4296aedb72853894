"""Random numbers keyed by seed and purpose, so that no draw depends on chunks or threads.

Splits, folds and resamples are drawn over pooled rows in sorted order, so row order has no effect either.
Randomised prediction sets are keyed by row position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from hashlib import blake2b
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.counts import Floats, Ints, distinct_numbers
from uqcli.base.defaults import MAX_SEED
from uqcli.base.errors import UsageError

ROWS_PER_BLOCK = 1 << 16


class Purpose(IntEnum):
    """Independent streams of a seed; changing a number changes the results of every seed.

    ``SIMULATE`` and ``TRAIN`` are those of the generators in ``reproduction``.
    """

    SIMULATE = 1
    BOOTSTRAP = 2
    SPLIT = 3
    FIT = 4
    APPLY = 5
    TRAIN = 6
    LABELS = 7
    TARGET = 8
    PLACEBO = 9
    EXPECT = 10
    THIN = 11
    CHECK = 12
    SAMPLE = 16
    CALIBRATED = 17


def uniforms(position: Ints, seed: int, purpose: Purpose) -> Floats:
    """Return one uniform number in [0, 1) per row, shape (n,), independent of the other rows.

    Positions of rows are those over all inputs, ascending.
    """
    result = np.empty(len(position))
    block_of = position // ROWS_PER_BLOCK
    for block in distinct_numbers(block_of).tolist():
        start, stop = np.searchsorted(block_of, [block, block + 1])
        block_draws = generator(seed, purpose, block, 0).random(ROWS_PER_BLOCK)
        result[start:stop] = block_draws[position[start:stop] - block * ROWS_PER_BLOCK]
    return result


def hashes(columns: Sequence[NDArray[np.generic]], *key: int) -> NDArray[np.uint64]:
    """Hash each row's values and a key, to order rows independently of their order in the file.

    Columns are numbers or flags of shape (n,); the key has integers from 0 to 2**64 - 1. The hashes are
    uint64, of shape (n,).
    """
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for key_part in key:
        mixed = _split_mix(mixed ^ np.uint64(key_part))
    for column in columns:
        wide = column.astype(np.float64 if column.dtype.kind == "f" else np.int64)
        mixed = _split_mix(mixed ^ wide.view(np.uint64))
    return mixed


_TEXTS_TOGETHER: Final = 1 << 16
"""Texts whose digests are joined at a time: each is an object of 41 bytes."""


def text_keys(texts: Iterable[str]) -> Ints:
    """Compute a key of each text, at least 0, by which clusters are drawn whatever other texts there are."""
    rest, keys = iter(texts), [np.zeros(0, dtype="<u8")]
    while part := [blake2b(text.encode(), digest_size=8).digest() for text in islice(rest, _TEXTS_TOGETHER)]:
        keys.append(np.frombuffer(b"".join(part), dtype="<u8"))
    return (np.concatenate(keys) >> np.uint64(1)).astype(np.int64)


def dealt(keys: Ints, parts: int, *hash_key: int) -> Ints:
    """Deal distinct keys to parts in turn, in the order of a hash; return the part of each key.

    The sizes of the parts differ by at most one.
    """
    part = np.empty(len(keys), dtype=np.int64)
    hashed = hashes([keys], *hash_key)
    order = np.argsort(hashed)
    if (np.diff(hashed[order]) == 0).any():
        order = np.lexsort((keys, hashed))
    part[order] = np.arange(len(keys)) % parts
    return part


def _split_mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64: each input bit flips half of the output bits on average."""
    with np.errstate(over="ignore"):
        mixed = state + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def digest(columns: Sequence[NDArray[np.generic]]) -> int:
    """Compute the 64-bit digest of all values of some columns, in order."""
    state = blake2b(digest_size=8)
    for column in columns:
        state.update(np.ascontiguousarray(column).tobytes())
    return int.from_bytes(state.digest(), "little")


def check_seed(seed: int) -> None:
    """Refuse a seed that is not a whole number from 0 to ``MAX_SEED``."""
    if not isinstance(seed, int | np.integer) or not 0 <= seed <= MAX_SEED:
        raise UsageError(f"seed {seed}", expected=f"a whole number from 0 to {MAX_SEED}")


def generator(seed: int, purpose: Purpose, *key: int) -> np.random.Generator:
    """Create an independent generator for each seed, purpose and key of non-negative integers."""
    check_seed(seed)
    sequence = np.random.SeedSequence(seed, spawn_key=(int(purpose), *key))
    return np.random.Generator(np.random.Philox(sequence))

"""Summaries of the keys of each column, made in the first pass over the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from uqcli.base.counts import Bools, Floats
from uqcli.base.records import dataclass
from uqcli.kernels.keys import keys_of, values_of
from uqcli.kernels.pooling import Keys


def least_keys(edges: Floats, width: np.dtype[Any]) -> Keys:
    """Find the smallest key of a given width whose value is at or above each edge."""
    if width == np.int64:
        return keys_of(edges + 0.0)
    with np.errstate(over="ignore"):
        narrow = (edges + 0.0).astype(np.float32)
    below = narrow.astype(np.float64) < edges
    narrow[below] = np.nextafter(narrow[below], np.float32(np.inf)) + np.float32(0)
    return keys_of(narrow)


def between(keys: Keys, first: int, last: int) -> Bools:
    """Whether each key is from ``first`` to ``last``."""
    inside: Bools = (keys >= first) & (keys <= last)
    return inside


def ranges_from(edges: Sequence[int], width: np.dtype[Any]) -> list[tuple[int, int]]:
    """Return the first and the last key of the ranges that ascending keys cut all keys into.

    Examples
    --------
    >>> ranges_from([0, 5], np.dtype(np.int32))[1]
    (0, 4)
    """
    whole = np.iinfo(width)
    return list(zip([int(whole.min), *edges], [*(edge - 1 for edge in edges), int(whole.max)], strict=True))


_SAMPLE_SIZE = 512
"""Values sampled per part to estimate a column's distribution."""


@dataclass
class ColumnSummary:
    """Range, key width and sample of a column, from the first pass.

    Attributes
    ----------
    low, high
        Minimum and maximum.
    width
        Key type in all parts.
    """

    low: float = math.inf
    high: float = -math.inf
    width: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.int32))
    _samples: list[Floats] = field(default_factory=list)

    @property
    def sample(self) -> Floats:
        """Sample of the column's values."""
        return np.concatenate(self._samples)

    def keys_of(self, value: Floats) -> Keys:
        """Convert values to keys of the column's width."""
        return keys_of(value.astype(np.float32) if self.width == np.int32 else value)

    @classmethod
    def of(cls, keys: Keys) -> ColumnSummary:
        """Summarise the keys of a part."""
        low, high = values_of(np.array([keys.min(), keys.max()], dtype=keys.dtype)).tolist()
        # a view would keep the part in memory
        sample = values_of(keys[:: max(1, len(keys) // _SAMPLE_SIZE)].copy())
        return cls(low=low, high=high, width=max(np.dtype(np.int32), keys.dtype), _samples=[sample])

    def add(self, other: ColumnSummary) -> None:
        """Add the summary of another part."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.width = max(self.width, other.width)
        self._samples += other._samples

"""Summaries of columns from the first pass over the rows."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from uqcli.base.counts import Floats
from uqcli.base.records import dataclass
from uqcli.engines.local.count.keys import keys_of, values_of
from uqcli.kernels.pooling import Keys

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

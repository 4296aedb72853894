"""Scores of rows pooled while they are read."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from uqcli.base.counts import Floats, Ints, ValueCounts, merge, pool
from uqcli.base.records import dataclass


@dataclass
class PooledScores:
    """Rows by score, merged whenever the new parts outgrow the merged one: each row is sorted a few times."""

    parts: list[ValueCounts] = field(default_factory=list)
    unmerged: int = 0

    def add(self, score: Floats, weight: Ints | None = None) -> None:
        """Add rows; float64 and int64, shape (n,)."""
        part = pool(score, np.zeros(len(score), dtype=np.bool_), weight)
        self.parts.append(part)
        self.unmerged += len(part.value)
        if self.unmerged > len(self.parts[0].value):
            self.counts()

    def counts(self) -> ValueCounts:
        """Return the rows so far, of which there is at least a part."""
        self.parts, self.unmerged = [merge(self.parts)], 0
        return self.parts[0]

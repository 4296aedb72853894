"""Covered rows of prediction sets by cluster of dependent rows."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Bools, Ints

_BITS = 32
"""Bits of a cluster's index; the index of a class, size or group is above them."""


class CoveredClusters:
    """Rows and covered rows, by weight, of each cluster within each class, set size or group."""

    def __init__(self) -> None:
        self._codes: list[Ints] = []
        self._counts: list[Ints] = []
        self._rows = self._compact = 0

    def add(self, index: Ints, cluster: Ints, weight: Ints, covered: Bools) -> None:
        """Count rows; int64 arrays of shape (n,)."""
        self._codes.append((index << _BITS) | cluster)
        self._counts.append(np.stack([weight * covered, weight]))
        self._rows += len(index)
        if self._rows > 2 * self._compact:
            self._merge()

    def _merge(self) -> None:
        """Add up the counts of equal pairs."""
        codes, inverse = np.unique(np.concatenate(self._codes), return_inverse=True)
        sums = np.zeros((2, len(codes)), dtype=np.int64)
        for total, counts in zip(sums, np.concatenate(self._counts, axis=1), strict=True):
            np.add.at(total, inverse, counts)
        self._codes, self._counts = [codes], [sums]
        self._rows = self._compact = len(codes)

    def of(self, index: int) -> tuple[Ints, Ints]:
        """Return covered rows and rows of each cluster, shape (C,), within a class, size or group."""
        self._merge()
        codes, sums = self._codes[0], self._counts[0]
        start, stop = np.searchsorted(codes, [index << _BITS, (index + 1) << _BITS])
        return sums[0, start:stop], sums[1, start:stop]

    def pairs(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return class, size or group, cluster, covered rows and rows of each pair; int64, shape (m,)."""
        self._merge()
        codes, sums = self._codes[0], self._counts[0]
        return codes >> _BITS, codes & ((1 << _BITS) - 1), sums[0], sums[1]

    def of_all(self) -> tuple[Ints, Ints]:
        """Return covered rows and rows of each cluster, shape (C,)."""
        self._merge()
        clusters, inverse = np.unique(self._codes[0] & ((1 << _BITS) - 1), return_inverse=True)
        sums = np.zeros((2, len(clusters)), dtype=np.int64)
        for total, counts in zip(sums, self._counts[0], strict=True):
            np.add.at(total, inverse, counts)
        return sums[0], sums[1]

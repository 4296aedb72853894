"""Digest of rows, whatever their order, the format of their files and the split into files."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from uqcli.draws import hashes
from uqcli.rows import Rows

_KEYS = (1, 2)
"""Keys of two hashes of a row, whose sums are 128 bits together."""


class RowDigest:
    """Sums of hashes of rows, with their labels and without."""

    def __init__(self) -> None:
        self._sums = [[0] * len(_KEYS), [0] * len(_KEYS)]
        self._rows = 0

    def add(self, rows: Rows) -> None:
        """Add rows; a row of weight 2 counts as two rows."""
        weight = rows.weights().astype(np.uint64)
        values: list[NDArray[np.generic]] = [rows.numbers[role] for role in sorted(rows.numbers)]
        values += [rows.features[name].value for name in sorted(rows.features)]
        label = rows.positive if rows.label_class is None else rows.label_class
        with_label = values if label is None else [*values, label]
        for sums, columns in zip(self._sums, (with_label, values), strict=True):
            for number, key in enumerate(_KEYS):
                sums[number] = (sums[number] + int((hashes(columns, key) * weight).sum())) % (1 << 64)
        self._rows += rows.size

    @property
    def labelled(self) -> str:
        """Digest of the rows with their labels."""
        return self._of(0)

    @property
    def unlabelled(self) -> str:
        """Digest of the rows without their labels."""
        return self._of(1)

    def _of(self, index: int) -> str:
        return sha256(f"{self._rows} {self._sums[index]}".encode()).hexdigest()

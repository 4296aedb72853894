"""Checked rows of one batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from uqcli.base.counts import Ints
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows


@dataclass(frozen=True, kw_only=True)
class CheckedRows:
    """Checked rows of one batch.

    Attributes
    ----------
    rows
        Without positions; with the features that can be encoded batch by batch.
    raw
        Raw columns of the other features.
    first_row
        Position of the batch's first row over all inputs.
    kept_indices : int64, shape (n,), or None
        Positions in the batch of the rows kept; None for all.
    """

    rows: Rows
    raw: Mapping[str, tuple[pl.Series, pl.Series]]
    first_row: int
    kept_indices: Ints | None = None

    def usable(self) -> CheckedRows:
        """Select the valid rows."""
        valid = self.rows.valid
        if valid is None:
            return self
        mask = pl.Series(valid)
        return CheckedRows(
            rows=self.rows.usable(),
            raw={
                name: (column.filter(mask), numbers.filter(mask))
                for name, (column, numbers) in self.raw.items()
            },
            first_row=self.first_row,
            kept_indices=np.flatnonzero(valid),
        )

    def with_positions(self) -> Rows:
        """Return the rows with their positions over all inputs."""
        positions = np.arange(len(self.rows)) if self.kept_indices is None else self.kept_indices
        return replace(self.rows, position=self.first_row + positions)

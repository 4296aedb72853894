"""Tally of usable rows by group of the key columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from uqcli.engines.protocol import GroupSize
from uqcli.rows import Rows

_COUNTS = ("rows", "positives", "counted")
_KEY = "key."
"""Prefix of key columns, which therefore differ from the counts."""


class GroupTally:
    """Numbers of usable rows by the groups of all key columns together."""

    def __init__(self) -> None:
        self._counts: pl.DataFrame | None = None

    def add(self, rows: Rows) -> None:
        """Add usable rows."""
        if not rows.groups:
            return
        one = np.ones(len(rows), dtype=np.int64)
        batch = pl.DataFrame(
            {
                **{_KEY + column: codes for column, codes in rows.groups.items()},
                "rows": one,
                "positives": one * 0 if rows.positive is None else rows.positive.astype(np.int64),
                "counted": one if rows.weight is None else (rows.weight > 0).astype(np.int64),
            }
        )
        keys = [_KEY + column for column in rows.groups]
        new = batch.group_by(keys).sum()
        self._counts = new if self._counts is None else pl.concat([self._counts, new]).group_by(keys).sum()

    def of(self, codes: Mapping[str, int]) -> GroupSize:
        """Return the numbers of the rows with given group codes by key column."""
        chosen = self._chosen(codes).select(_COUNTS).sum()
        return GroupSize(**{name: int(chosen[name].item()) for name in _COUNTS})

    def counted_codes(self, column: str, codes: Mapping[str, int]) -> list[int]:
        """Return the group codes of a key column among rows of positive weight with given codes of others."""
        chosen = self._chosen(codes).filter(pl.col("counted") > 0)
        return chosen[_KEY + column].unique().to_list()

    def _chosen(self, codes: Mapping[str, int]) -> pl.DataFrame:
        assert self._counts is not None  # there are rows, and key columns
        return self._counts.filter(pl.lit(True), **{_KEY + column: code for column, code in codes.items()})

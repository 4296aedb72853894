"""Source of the reports of commands that add columns to rows."""

from __future__ import annotations

import msgspec


class WrittenRows(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs: rows written, rows dropped, column names by role."""

    rows: int
    dropped: int
    columns: dict[str, str]

"""How many rows each input of a run held: for pages, which say what they were made from.

Results speak of all rows together, whatever files they are split into.
"""

from __future__ import annotations

from typing import Final

_rows: Final[dict[str, int]] = {}


def rows_read(name: str, rows: int) -> None:
    """Take note of an input that was read to its end."""
    _rows[name] = rows


def rows_by_input() -> dict[str, int]:
    """Rows of each input read so far, unusable ones included."""
    return dict(_rows)


def forget() -> None:
    """Begin a new run."""
    _rows.clear()

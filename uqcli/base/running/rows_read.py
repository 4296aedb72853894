"""Row counts of a run's inputs, for the origin section of a page.

Results are about all rows together, however they are split into files.
"""

from __future__ import annotations

from typing import Final

_rows: Final[dict[str, int]] = {}


def rows_read(name: str, rows: int) -> None:
    """Record the rows of a completely read input."""
    _rows[name] = rows


def rows_by_input() -> dict[str, int]:
    """Return the rows of each input read so far, unusable ones included."""
    return dict(_rows)


def clear() -> None:
    """Clear the counts for a new run."""
    _rows.clear()

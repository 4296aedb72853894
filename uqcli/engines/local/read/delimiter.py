"""Detect the delimiter of CSV files from spreadsheets."""

from __future__ import annotations

import csv
import fnmatch
import io
from collections.abc import Sequence
from typing import Final

_DELIMITER_NAMES: Final = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}


def recognised(header: str, delimiter: str, needed: Sequence[str]) -> str | None:
    """Return another delimiter that yields all needed columns; None if none does or the given one yields any.

    Parameters
    ----------
    needed
        Column names or patterns.

    Examples
    --------
    >>> recognised("score;label", ",", ["score", "label"]), recognised("score,a;b", ",", ["score"])
    (';', None)
    """
    if not needed or columns_found(header, delimiter, needed):
        return None
    fitting = (
        candidate
        for candidate in _DELIMITER_NAMES
        if candidate != delimiter and columns_found(header, candidate, needed) == len(needed)
    )
    return next(fitting, None)


def delimiter_name(delimiter: str) -> str:
    """Return the name of a delimiter."""
    return _DELIMITER_NAMES[delimiter]


def columns_found(header: str, delimiter: str, needed: Sequence[str]) -> int:
    """Count the needed columns, or patterns, in a header that is split at a delimiter."""
    try:
        columns = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return 0
    other_delimiters = set(_DELIMITER_NAMES) - {delimiter}
    plausible = [name for name in columns if name in needed or not set(name) & other_delimiters]
    return sum(
        any(
            name in (pattern, pattern.removeprefix("-")) or fnmatch.fnmatchcase(name, pattern)  # -COL: turned
            for name in plausible
        )
        for pattern in needed
    )

"""Detect the delimiter of CSV files from spreadsheets."""

from __future__ import annotations

import csv
import fnmatch
import io
from collections.abc import Sequence
from typing import Final

_OTHERS: Final = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}


def recognised(header: str, delimiter: str, needed: Sequence[str]) -> str | None:
    """Return another delimiter that yields all needed columns; None if the given one yields any of them.

    Parameters
    ----------
    needed
        Column names or patterns.

    Examples
    --------
    >>> recognised("score;label", ",", ["score", "label"]), recognised("score,a;b", ",", ["score"])
    (';', None)
    """
    if not needed or _found(header, delimiter, needed):
        return None
    fitting = (
        other for other in _OTHERS if other != delimiter and _found(header, other, needed) == len(needed)
    )
    return next(fitting, None)


def delimiter_name(delimiter: str) -> str:
    """Name of a delimiter."""
    return _OTHERS[delimiter]


def _found(header: str, delimiter: str, needed: Sequence[str]) -> int:
    try:
        columns = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return 0
    others = set(_OTHERS) - {delimiter}
    plausible = [name for name in columns if name in needed or not set(name) & others]
    return sum(
        any(name == pattern or fnmatch.fnmatchcase(name, pattern) for name in plausible) for pattern in needed
    )

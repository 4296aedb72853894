"""The first line of a CSV file: its delimiter, and what it is if it does not name the columns."""

from __future__ import annotations

import csv
import fnmatch
import io
from collections.abc import Sequence
from typing import Final

from uqcli.base.errors import DataError
from uqcli.base.escaping import printable
from uqcli.base.exact_numbers import is_number

_DELIMITER_NAMES: Final = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}

_MAX_LINES: Final = 50
"""Lines in which the column names are looked for."""

_MAX_BYTES: Final = 1 << 16
_MAX_CHARACTERS: Final = 40
"""Maximum characters of a line in a message."""


def recognised(header: str, delimiter: str, needed: Sequence[str]) -> str | None:
    """Return another delimiter that yields all needed columns; None if none does or the given one yields any.

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


def require_names(
    header: str, following: bytes, name: str, needed: Sequence[str], delimiter: str, *, typed: bool
) -> None:
    """Refuse a first line that holds none of the needed columns or patterns, if it shows why.

    ``following`` are the bytes after it; the delimiter may have been typed.

    Raises
    ------
    DataError
        The line is of another format, a title, values, or separated in another way.
    """
    if not needed or columns_found(header, delimiter, needed):
        return
    line = printable(header, _MAX_CHARACTERS)
    wanted = "a line of column names"
    if header.startswith("<"):
        raise DataError(
            f"'{name}' is XML or HTML: it begins with '{line}'",
            expected=wanted,
            remedy="check how it was made, and export the rows as CSV",
        )
    if header.startswith(("{", "[{")):
        is_record = header.startswith("{")
        raise DataError(
            f"'{name}' is JSON: it begins with '{line}'",
            expected=wanted,
            remedy="give --format jsonl" if is_record else "convert it with jq -c '.[]', and name it .jsonl",
        )
    if typed and (other := recognised(header, delimiter, needed)):
        raise DataError(
            f"--delimiter does not separate the columns of '{name}', which begins with '{line}'",
            expected=f"the {delimiter_name(other)} between them",
            remedy="leave out --delimiter",
        )
    if not typed and delimiter not in header and columns_found(header, " ", needed):
        raise DataError(
            f"blanks separate the columns of '{name}', which begins with '{line}'",
            expected="commas, semicolons, tabs or vertical bars",
            remedy="give --delimiter ' '",
        )
    if above := _lines_above(following, needed):
        raise DataError(
            f"the first line of '{name}' is '{line}', and the column names come {above} further down",
            expected="column names in the first line",
            remedy="remove the lines above them",
        )
    if _are_values(header, delimiter):
        raise DataError(
            f"the first line of '{name}' has values, not column names: '{line}'",
            expected=wanted,
            remedy="add one, such as score,uncertainty,label",
        )


def _lines_above(following: bytes, needed: Sequence[str]) -> str:
    """Say how many lines after the first one the column names come; nothing if they do not."""
    lines = following[:_MAX_BYTES].decode("utf-8", "replace").splitlines()[:_MAX_LINES]
    for number, line in enumerate(lines, start=1):
        if any(columns_found(line, separator, needed) for separator in ",;\t|"):
            return "1 line" if number == 1 else f"{number} lines"
    return ""


def _are_values(header: str, delimiter: str) -> bool:
    """Whether most fields are numbers."""
    fields = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), [])
    return len(fields) > 1 and 2 * sum(map(is_number, fields)) > len(fields)

"""Dates that texts name: of the year first, with points, or with the month's name: no order is guessed."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

_REST: Final = r"(?:[T ,].*)?"
"""Time of day behind a date."""

_WEEKDAY: Final = r"(?:[a-z]{3,9},? )?"

_FORMS: Final = tuple(
    re.compile(form + _REST, re.IGNORECASE | re.ASCII)
    for form in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?:\D.*)?",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
        r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>\d{4})",  # wherever it is used, the day is first
        rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?P<mark>[-/. ])(?P<name>[a-z]{{3,9}})(?P=mark)(?P<year>\d{{4}}|\d\d)",
        rf"{_WEEKDAY}(?P<name>[a-z]{{3,9}}) (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})",
    )
)

TIME: Final = r"^(\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})(?:[T ]|, )\d{1,2}:\d{2}.*$"
"""Text of a time; its group is the date."""

_CENTURY_BEGINS: Final = 69
"""Least year of two digits that is of the twentieth century, as POSIX has it."""


def date_of(text: str) -> date | None:
    """Return the date that a text names, with or without a time of day; None if it names none.

    Dates such as 03/04/2026 and 31.03.26 name none, since the order of day, month and year differs.

    Examples
    --------
    >>> forms = "2024-3-29", "29-Mar-24", "March 29, 2024", "20240329", "29.3.2024"
    >>> {str(date_of(text)) for text in forms}
    {'2024-03-29'}
    >>> date_of("29/03/2024"), date_of("2024-W13")
    (None, None)
    """
    for form in _FORMS:
        if match := form.fullmatch(text.strip()):
            return _date(match.groupdict())
    return None


def _date(parts: dict[str, str]) -> date | None:
    month, year = parts.get("month") or _month_named(parts["name"]), int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= _CENTURY_BEGINS else 2000
    try:
        return date(year, int(month), int(parts["day"]))
    except ValueError:
        return None


def _month_named(name: str) -> int:
    """Return the number of a month by its English name, or the beginning of it; 0 for other words."""
    return next((number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower())), 0)


_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
    *("november", "december"),
)

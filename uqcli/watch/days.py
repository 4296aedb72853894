"""Days as batches of a watch: their names, which are complete, which stand apart, and which are missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import numpy as np

from uqcli.base.dates import date_of
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.records import dataclass

_YEAR_LAST: Final = re.compile(r"\D*\d{1,3}\D.*\d{4}(?!\d)")
"""Texts whose year is not the first of their numbers, in another order than that of time."""

_LARGEST_EXPONENT: Final = 30

_STRAY_PARTS: Final = 10
"""Days after a gap that together have fewer rows than this part of a median day are taken for mistyped."""

_DAYS_OF_A_WEEK: Final = 7
_FIRST_OF_WEEKEND: Final = 5
"""Saturday, as ``date.weekday`` counts."""


@dataclass(frozen=True, kw_only=True)
class Days:
    """The days of some rows.

    Attributes
    ----------
    name_by_text
        Name of the day of each text.
    complete
        Days whose labels are complete, in order.
    stray
        Newest dates that are too far from the others, with too few rows, to show that time has passed.
    missing
        Dates without rows between dates with rows.
    """

    name_by_text: Mapping[str, str] = field(default_factory=dict)
    complete: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def days_of(rows: Mapping[str, int], column: str, matured: int, counted: Collection[str]) -> Days:
    """Name the days of a column, and find those whose labels are complete.

    Days are dates without their time, numbers without a superfluous fraction, or texts that differ in their
    digits only, such as 2026-W07.

    Parameters
    ----------
    rows
        Number of rows by text of the column.
    matured
        Days after which labels are complete; for keys that are no dates, the number of newest keys that wait.
    counted
        Names of days that were counted before, which must be of the same kind.

    Raises
    ------
    DataError
        Some dates are among other keys, or the order of texts is not that of time.
    UsageError
        No date is so many days before the newest one.
    """
    key_by_text, counted_keys = _keys(list(rows), column), _keys(list(counted), column)
    kinds = {type(key) for key in [*key_by_text.values(), *counted_keys.values()]}
    if len(kinds) > 1:
        raise DataError(
            f"column '{column}' has '{next(iter(rows))}', and the state counts '{next(iter(counted))}'",
            expected="keys of one kind: dates, numbers or texts",
            remedy=words("convert the column, or name another --state FILE"),
        )
    names = {text: _name(key) for text, key in key_by_text.items()}
    ordered: list[Any] = sorted(set(key_by_text.values()))
    if not (ordered and isinstance(ordered[-1], date)):
        complete = ordered[: max(len(ordered) - matured, 0)]
        return Days(name_by_text=names, complete=tuple(map(_name, complete)))
    rows_of_day = dict.fromkeys(ordered, 0)
    for text, day in key_by_text.items():
        rows_of_day[day] += rows[text]
    usual = _before_stray(ordered, rows_of_day, matured) if matured else ordered
    first = _before_stray(usual[::-1], rows_of_day, _DAYS_OF_A_WEEK)[-1]
    last = _before(usual[-1], matured)
    return Days(
        name_by_text=names,
        complete=tuple(_name(day) for day in usual if day <= last),
        stray=tuple(map(_name, ordered[len(usual) :])),
        missing=tuple(map(_name, _missing(usual, first, list(counted_keys.values())))),
    )


def _before_stray(days: Sequence[date], rows: Mapping[date, int], gap: int) -> Sequence[date]:
    """Return the days up to a gap of more days after which, by too few rows, only mistyped days come.

    A row that is dated years ahead would let every day mature. The clock of the machine would tell it, but
    the same command would then count other days tomorrow. Days may be given from the newest on.
    """
    counts = [rows[day] for day in days]
    after = np.cumsum(counts[::-1])[::-1]  # rows of a day and of all that follow
    median = float(np.median(counts))
    for position in range(1, len(days)):
        is_apart = abs((days[position] - days[position - 1]).days) > gap
        if is_apart and _STRAY_PARTS * after[position] < median:
            return days[:position]
    return days


def _missing(days: Sequence[date], first: date, counted: Sequence[Any]) -> list[date]:
    """Return the days of the calendar that lack from the first or from counted days on; none if most do.

    Weekends count only if some have rows.
    """
    known = {*days, *counted}
    begin = max((day for day in counted if day <= days[-1]), default=first)
    calendar = [begin + timedelta(days=number) for number in range((days[-1] - begin).days + 1)]
    if all(day.weekday() < _FIRST_OF_WEEKEND for day in known):
        calendar = [day for day in calendar if day.weekday() < _FIRST_OF_WEEKEND]
    missing = [day for day in calendar if day not in known]
    return missing if 2 * len(missing) < len(calendar) else []


def are_dates(texts: Collection[str]) -> bool:
    """Whether texts are dates, such as 2026-03-31, with or without a time of day."""
    return bool(texts) and all(date_of(text) is not None for text in texts)


def names_of_days(texts: Sequence[str], column: str) -> dict[str, str]:
    """Name the days of a column, as ``days_of`` does."""
    return {text: _name(key) for text, key in _keys(texts, column).items()}


def _keys(texts: Sequence[str], column: str) -> Mapping[str, date | Decimal | str]:
    """Return what the texts are sorted by: all dates, all numbers, or themselves."""
    dates = {text: day for text in texts if (day := date_of(text)) is not None}
    if len(dates) == len(texts):
        return dates
    written = [text for text in dates if not text.isdigit()]
    if written:
        other = next(text for text in texts if text not in dates)
        raise DataError(
            f"column '{column}' has '{other}' beside '{written[0]}'",
            expected="dates such as 2026-03-31, or other keys alone",
            remedy="convert the column",
        )
    numbers = {text: number for text in texts if (number := _number(text)) is not None}
    if len(numbers) == len(texts):
        return numbers
    patterns = {_DIGIT.sub("0", text): text for text in texts}
    unsorted = next((text for text in texts if _YEAR_LAST.match(text)), None)
    if unsorted is not None or len(patterns) > 1:
        several = " and ".join(f"'{text}'" for text in sorted(patterns.values())[:2])
        raise DataError(
            f"column '{column}' has {several if unsorted is None else repr(unsorted)}",
            expected="dates such as 2026-03-31 or 31.03.2026, or keys of one form, such as 2026-W07",
            remedy="convert the column, since these texts do not sort as their days do",
        )
    return {text: text for text in texts}


_DIGIT: Final = re.compile(r"\d", re.ASCII)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _LARGEST_EXPONENT else None


def _name(key: date | Decimal | str) -> str:
    if isinstance(key, date):
        return key.isoformat()
    return key if isinstance(key, str) else f"{key.normalize():f}"


def _before(newest: date, matured: int) -> date:
    """Return the day that is ``matured`` days earlier."""
    try:
        return newest - timedelta(days=matured)
    except OverflowError:
        raise UsageError(
            words("--matured {} with days up to {}", matured, newest),
            expected="the days after which labels are complete",
            remedy="give fewer days",
        ) from None

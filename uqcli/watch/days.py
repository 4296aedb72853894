"""Days of a watch: dates, or other keys that sort, each counted once when its labels are complete."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from uqcli.base.errors import DataError, UsageError

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)|\d{8}$")
_LARGEST_EXPONENT: Final = 30


class Days(NamedTuple):
    """The days of some rows.

    Attributes
    ----------
    names
        Name of each text: dates without their time, numbers without a superfluous fraction.
    mature
        Names of the days to count, in order.
    """

    names: dict[str, str]
    mature: tuple[str, ...]


def days_of(texts: Sequence[str], column: str, matured: int, counted: Collection[str]) -> Days:
    """Name the days of a column, and find those whose labels are complete.

    Parameters
    ----------
    matured
        Days after which labels are complete; for keys that are no dates, the number of newest keys that wait.
    counted
        Names of days that were counted before, which must be of the same kind.

    Raises
    ------
    DataError
        Some keys are dates and others are not.
    UsageError
        No date is that many days before the newest one.
    """
    key_by_text = _keys(texts, column)
    kinds = {type(key) for key in [*key_by_text.values(), *_keys(list(counted), column).values()]}
    if len(kinds) > 1:
        raise DataError(
            f"column '{column}' has '{texts[0]}', and the state counts '{next(iter(counted))}'",
            expected="keys of one kind: dates, numbers or texts",
            remedy="convert the column, or name another --state FILE",
        )
    names = {text: _name(key) for text, key in key_by_text.items()}
    ordered: list[Any] = sorted(set(key_by_text.values()))
    if ordered and isinstance(ordered[-1], date):
        last = _before(ordered[-1], matured)
        ordered = [day for day in ordered if day <= last]
    else:
        ordered = ordered[: max(len(ordered) - matured, 0)]
    return Days(names, tuple(map(_name, ordered)))


def are_dates(texts: Collection[str]) -> bool:
    """Whether texts are dates, such as 2026-03-31, with or without a time of day."""
    return bool(texts) and all(_date(text) is not None for text in texts)


def _keys(texts: Sequence[str], column: str) -> Mapping[str, date | Decimal | str]:
    """Return what the texts are sorted by: all dates, all numbers, or themselves."""
    dates = {text: day for text in texts if (day := _date(text)) is not None}
    if len(dates) == len(texts):
        return dates
    written = [text for text in dates if "-" in text]
    if written:
        other = next(text for text in texts if text not in dates)
        raise DataError(
            f"column '{column}' has '{other}' beside '{written[0]}'",
            expected="dates such as 2026-03-31, or other keys alone",
            remedy="convert the column",
        )
    numbers = {text: number for text in texts if (number := _number(text)) is not None}
    return numbers if len(numbers) == len(texts) else {text: text for text in texts}


def _date(text: str) -> date | None:
    if not _DATE.match(text):
        return None
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


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
            f"--matured {matured} with days up to {newest}",
            expected="the days after which labels are complete",
            remedy="give fewer days",
        ) from None

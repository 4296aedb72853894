"""Calendar periods of a history, and which of them a rule can be fitted before.

Days are numbered from the first day of the history on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from enum import StrEnum, auto
from typing import Final

from uqcli.base.dates import date_of
from uqcli.base.errors import UsageError, words
from uqcli.base.records import dataclass

MONTH, WEEK, QUARTER = "month", "week", "quarter"

_MONTHS_FROM: Final = 181
"""Days from which months are the default: half a year is at least as long."""

_TOGETHER: Final = 28
"""Days that short periods are judged together for; an interval by days needs more than a week has."""

_SHORT: Final = 10
"""Days below which periods are short."""

_MOST_DAYS: Final = 36_500
"""Days that a length may have: a hundred years."""


class Standing(StrEnum):
    """Whether a period is counted, and why not."""

    COUNTED = auto()
    FIT_ONLY = auto()
    """It is before the first rule."""

    SEEN = auto()
    """The model has seen its rows."""

    EMPTY = auto()
    PARTIAL = auto()
    """The history begins or ends within it."""

    @property
    def why(self) -> str:
        """Say why a period is not counted, after its name."""
        return {
            Standing.COUNTED: "counted",
            Standing.FIT_ONLY: "before the first fit",
            Standing.SEEN: "seen by the model",
            Standing.EMPTY: "without rows",
            Standing.PARTIAL: "not whole in this history",
        }[self]


@dataclass(frozen=True, kw_only=True)
class Period:
    """A calendar period by its number, from its first to its last day, and what it counts for."""

    number: int
    name: str
    first: date
    last: date
    standing: Standing = Standing.COUNTED

    @property
    def days(self) -> int:
        """Number of its calendar days."""
        return (self.last - self.first).days + 1


def days_from(option: str, text: str, least: int = 0, expected: str = "a number of days, such as 30d") -> int:
    """Parse a number of days, such as 180d."""
    match = re.fullmatch(r"(\d{1,6}) ?d?", text.strip(), re.IGNORECASE | re.ASCII)
    if match is None or not least <= int(match[1]) <= _MOST_DAYS:
        raise UsageError(words("{} '{}'", option, text), expected=expected)
    return int(match[1])


def date_from(option: str, text: str) -> date:
    """Parse a date."""
    found = date_of(text)
    if found is None:
        raise UsageError(words("{} '{}'", option, text), expected="a date, such as 2026-06-30")
    return found


def length_from(option: str, text: str) -> str:
    """Check the length of periods: a word, or a number of days such as 30d, which is returned as that."""
    word = text.strip().lower()
    if word in (MONTH, WEEK, QUARTER):
        return word
    days = days_from(option, word, 1, expected="month, week, quarter, or days such as 30d")
    return f"{days}d"


def usual_length(first: date, last: date) -> str:
    """Return the length of periods for a history from its first to its last day."""
    return MONTH if (last - first).days + 1 >= _MONTHS_FROM else WEEK


def periods_of(every: str, first: date, last: date) -> list[Period]:
    """Return the periods that the days of a history are in, in order.

    Examples
    --------
    >>> [period.name for period in periods_of("month", date(2025, 12, 30), date(2026, 1, 2))]
    ['2025-12', '2026-01']
    >>> [str(period.last) for period in periods_of("10d", date(2026, 1, 1), date(2026, 1, 11))]
    ['2026-01-10', '2026-01-20']
    """
    found, start = list[Period](), _start(every, first)
    while start <= last:
        following = _following(every, start)
        end = following - timedelta(days=1) if following > start else date.max
        found.append(Period(number=len(found), name=_name(every, start), first=start, last=end))
        if following <= start:
            break
        start = following
    return found


def _start(every: str, day: date) -> date:
    """Return the first day of the period that the first day of a history is in."""
    match every:
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case "week":
            return day - timedelta(days=min(day.weekday(), (day - date.min).days))
        case _:
            return day


def _following(every: str, start: date) -> date:
    """Return the first day of the next period; that of this one if no date is later than its end."""
    months = {MONTH: 1, QUARTER: 3}.get(every, 0)
    try:
        if months:
            year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
            return date(year, month + 1, 1)
        return start + timedelta(days=7 if every == WEEK else int(every.removesuffix("d")))
    except (OverflowError, ValueError):
        return start


def _name(every: str, start: date) -> str:
    match every:
        case "month":
            return f"{start:%Y-%m}"
        case "quarter":
            return f"{start:%Y}-Q{(start.month + 2) // 3}"
        case "week":
            year, week, _ = start.isocalendar()
            return f"{year}-W{week:02}"
        case _:
            return start.isoformat()


def noun_of(every: str) -> str:
    """Return what one period is called.

    >>> noun_of("month"), noun_of("30d")
    ('month', 'period')
    """
    return every if every in (MONTH, WEEK, QUARTER) else "period"


@dataclass(frozen=True, kw_only=True)
class Window:
    """Days that a rule is fitted on, from the first up to the end, which is not among them."""

    first: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """Periods of a history, and the days on which the rule of each start is fitted.

    ``fit`` is the number of days of a window; 0 for all days before. ``delay`` is the number of days until
    the label of a row is there.
    """

    every: str
    first: date
    last: date
    periods: Sequence[Period]
    fit: int = 0
    delay: int = 0

    @property
    def days(self) -> int:
        """Number of calendar days of the history."""
        return (self.last - self.first).days + 1

    @property
    def starts(self) -> list[int]:
        """Number of the first day of each period within the history."""
        return [max(self.day(period.first), 0) for period in self.periods]

    def day(self, when: date) -> int:
        """Return the number of a day; those before the history are negative."""
        return (when - self.first).days

    def window_before(self, start: date) -> Window:
        """Return the days whose labels are there at the start of a period, as many as a rule is fitted on."""
        end = self.day(start) - self.delay
        return Window(first=end - self.fit if self.fit else 0, end=end)

    @property
    def first_fitted(self) -> int:
        """Number of the first period whose window is whole, or has the days of a period; else that of all."""
        for period in self.periods[1:]:
            window = self.window_before(period.first)
            needed = self.fit or self.periods[period.number - 1].days
            if window.first >= 0 and window.end - window.first >= needed:
                return period.number
        return len(self.periods)

    @property
    def counted(self) -> list[Period]:
        """Periods that are counted."""
        return [period for period in self.periods if period.standing is Standing.COUNTED]

    @property
    def together(self) -> int:
        """Number of counted periods that are judged together: one, or several short ones."""
        days = self.counted[0].days if self.counted else _SHORT
        return -(-_TOGETHER // days) if days < _SHORT else 1

    def spans(self) -> Iterator[list[Period]]:
        """Yield the counted periods that are judged together, in order; a rest of too few is left out."""
        counted, together = self.counted, self.together
        for start in range(0, len(counted) - together + 1, together):
            yield counted[start : start + together]

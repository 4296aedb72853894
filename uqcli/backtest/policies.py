"""Policies: which of the fitted rules decides in each period, and what that flags day by day."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Final, TypeAlias

from uqcli.backtest.history import History
from uqcli.backtest.periods import Calendar, Window
from uqcli.backtest.windows import DayCounts, WindowRule, featured
from uqcli.base.records import dataclass
from uqcli.watch.replay import first_alarm


class PolicyKind(StrEnum):
    """When a rule is replaced, the simplest policy first."""

    FIRST = "first"
    """Never."""

    AFTER_ALARM = "after_alarm"
    """At the start of the period after an alarm of ``watch``."""

    EACH = "each_period"
    """At the start of each period."""

    CAPACITY = "capacity"
    """There is no rule: the first rows of each group are flagged."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A period of a policy: the number of the period whose rule decides, -1 for none.

    ``found`` is whether a rule was found for the period itself, and ``alarm`` the day number of the alarm
    that is raised in it, -1 for none.
    """

    period: int
    rule: int
    found: bool = True
    alarm: int = -1


Alarms: TypeAlias = Callable[[int, int], int]
"""Day number on which the alarm of a rule is raised, from the first day of a period on; -1 for none."""


def steps_of(
    kind: PolicyKind,
    periods: Sequence[int],
    fits: Mapping[int, WindowRule],
    alarms: Alarms,
    calendar: Calendar,
) -> list[Step]:
    """Return the steps of a policy over its periods, in order.

    Where no rule is found the last one stays; before the first one is found, none decides.
    """
    steps: list[Step] = []
    current, alarm = -1, -1
    for period in periods:
        start = calendar.day(calendar.periods[period].first)
        end = start + calendar.periods[period].days
        found = fits[period].rule is not None
        is_due = kind is PolicyKind.EACH or (kind is PolicyKind.AFTER_ALARM and 0 <= alarm < start)
        if found and (current < 0 or is_due):
            current, alarm = period, -1
            if kind is PolicyKind.AFTER_ALARM:
                alarm = alarms(current, start)
        raised = alarm if start <= alarm < end else -1
        steps.append(Step(period=period, rule=current, found=found, alarm=raised))
    return steps


def alarm_of(history: History, fit: WindowRule, calendar: Calendar, start: int) -> int:
    """Return the day number on which ``watch`` raises its first alarm of a rule, -1 if it does not.

    The rule is watched day by day from a day on, and each day is counted when its labels are there.
    """
    assert fit.rule is not None
    dated, length = history.labelled, calendar.days
    at = dated.on(Window(first=start, end=length))
    rows = featured(fit.rule, dated, at)
    if not len(rows):
        return -1
    days = [str(calendar.first + timedelta(days=day)) for day in range(length)]
    column = str(history.roles.cluster)
    day = first_alarm(fit.rule, column, rows, partial(dated.by_day, at), days)
    return day if day < 0 else day + calendar.delay


def counts_on(
    steps: Sequence[Step], fits: Mapping[int, WindowRule], nothing: DayCounts, calendar: Calendar
) -> DayCounts:
    """Return what a policy flags day by day."""
    total = nothing
    for step in steps:
        if step.rule >= 0:
            start = calendar.day(calendar.periods[step.period].first)
            total = total.until(start, fits[step.rule].counts)
    return total


PLAIN: Final = "0"
"""Margin of a rule that meets its target on the days of its window, and no more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Policy:
    """A policy with the margin of its rules: its steps, and what it flagged day by day."""

    kind: PolicyKind
    margin: str
    steps: Sequence[Step]
    counts: DayCounts
    fits: Mapping[int, WindowRule]

    @property
    def without_rule(self) -> int:
        """Number of periods for which no rule was found."""
        return sum(not step.found for step in self.steps)

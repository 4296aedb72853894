"""A watch of past days at once: on which of them the first alarm would have been raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from uqcli.base import defaults
from uqcli.base.counts import Ints
from uqcli.base.rows import Rows
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.engines.request import Roles
from uqcli.watch.counts import outcomes
from uqcli.watch.measure import new_state, with_alarms
from uqcli.watch.promises import promises_of
from uqcli.watch.state import BatchCounts, SavedBatch, WatchParameters


def first_alarm(
    rule: BoundaryArtifact, column: str, rows: Rows, by_day: Callable[[Ints], Ints], days: Sequence[str]
) -> int:
    """Return the index of the day that raises the first alarm of a watch with its defaults; -1 for none.

    Parameters
    ----------
    column
        Column of the day, by which the rule may know how its calibration rows depend on each other.
    rows
        Labelled rows since the rule is in use, shape (n,).
    by_day
        Adds up whole numbers of the rows by day: from shape (n,) to shape (days,).
    days
        Names of the days, in order; those without rows are not counted.
    """
    parameters = WatchParameters(
        delta=defaults.WATCH_DELTA, run_length=defaults.RUN_LENGTH, bound=None, day=column, matured=0
    )
    promises = promises_of(rule, None, parameters.risk(), column)
    weight, masks = rows.weights(), outcomes(rule, promises, rows, Roles(numbers={}))
    present = np.flatnonzero(by_day(weight))
    counts = [(by_day(weight * (tried & kept)), by_day(weight * tried)) for tried, kept in masks]
    batches = [
        SavedBatch(
            day=days[day],
            counts=[BatchCounts(successes=int(kept[day]), trials=int(tried[day])) for kept, tried in counts],
        )
        for day in present.tolist()
    ]
    state = new_state(parameters, promises, columns={}, artifact="", batches=batches)
    raised = (
        days.index(at)
        for promise in with_alarms(state, promises, known=0).promises
        for at in (promise.alarmed_at, promise.changed_at)
        if at
    )
    return min(raised, default=-1)

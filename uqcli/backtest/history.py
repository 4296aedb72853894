"""Labelled rows of a history, read once, in the order of their days."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl

from uqcli.backtest.periods import Window
from uqcli.base.counts import Bools, Ints
from uqcli.base.errors import Opt, words
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.engines.columns import key_named_by
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.engines.protocol import SourceSummary
from uqcli.engines.refusals import NoDayError, no_weight
from uqcli.engines.request import DataRequest, Roles, in_memory
from uqcli.rules.labelled import source_of
from uqcli.rules.saved import Source

_EPOCH: Final = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, kw_only=True, eq=False)
class DatedRows:
    """Rows in the order of their days; of a day in that of the inputs.

    ``start`` has the first row of each calendar day from the first one of the history on, and the number of
    rows at its end; shape (days + 1,). ``names`` are the texts of the groups, by key column.
    """

    rows: Rows
    start: Ints
    names: Mapping[str, Sequence[str]]

    def on(self, window: Window) -> slice:
        """Return the rows of some days."""
        first, end = (min(max(day, 0), len(self.start) - 1) for day in (window.first, window.end))
        return slice(int(self.start[first]), int(self.start[end]))

    @cached_property
    def day(self) -> Ints:
        """Number of the day of each row; shape (n,)."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def by_day(self, rows: slice, counted: Ints | Bools) -> Ints:
        """Add up a whole number of each of some rows, of whole days, by day; shape (days,)."""
        sums: Ints = np.zeros(len(self.start) - 1, dtype=np.int64)
        days = np.flatnonzero(
            (np.diff(self.start) > 0) & (self.start[:-1] >= rows.start) & (self.start[1:] <= rows.stop)
        )
        if counted.dtype == np.bool_:  # few rows are flagged, so that to list them takes less than to add all
            chosen = np.flatnonzero(counted) + rows.start
            sums[days] = np.diff(np.searchsorted(chosen, np.append(self.start[days], rows.stop)))
        elif len(days):
            sums[days] = np.add.reduceat(counted, self.start[days] - rows.start, dtype=np.int64)
        return sums

    @property
    def all(self) -> slice:
        """All rows."""
        return slice(0, len(self.rows))

    @cached_property
    def number(self) -> Ints:
        """Number of the rows of each day, by weight; shape (days,)."""
        return self.by_day(self.all, self.rows.weights())

    @cached_property
    def positives(self) -> Ints:
        """Number of the positive ones of them."""
        return self.by_day(self.all, self.rows.times(self.rows.labels.astype(np.int64)))


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """A history from its first to its last day.

    ``labelled`` has its rows with a label, and ``every`` all of them, which may be the same. ``roles`` are
    the columns as they were read.
    """

    first: date
    last: date
    labelled: DatedRows
    every: DatedRows
    source: Source
    roles: Roles

    def window(self, window: Window) -> DataRequest:
        """Return the request for the labelled rows of some days, whose label is 0 or 1."""
        part = self._frame[self.labelled.on(window)]
        roles = replace(self.roles, keys=(), cluster=None, days=False, turned=False)
        return DataRequest(inputs=in_memory(part), roles=roles)

    @cached_property
    def _frame(self) -> pl.DataFrame:
        """The labelled rows, with their columns' own names."""
        rows, roles, names = self.labelled.rows, self.roles, self.labelled.names
        columns: dict[str, Any] = {roles.numbers[role]: values for role, values in rows.numbers.items()}
        assert roles.label is not None
        columns[roles.label] = rows.labels.astype(np.int8)
        if roles.weight is not None:
            columns[roles.weight] = rows.weights()
        if roles.by is not None:
            columns[roles.by] = pl.Series(names[roles.by])[rows.groups[roles.by]]
        offset = self.first.toordinal() - _EPOCH
        columns[str(roles.cluster)] = pl.Series(self.labelled.day + offset, dtype=pl.Int32).cast(pl.Date)
        return pl.DataFrame(columns)


def read_history(data: DataRequest) -> History:
    """Read labelled rows, keyed by day; all rows are read once more if some without a label are left out.

    A column of other texts than dates is a FormError.
    """
    with reusable_streams(), key_named_by(data.roles.cluster, Opt("day")), _naming_the_day():
        labelled = _Read.of(data)
        summary, roles = labelled.summary, labelled.roles
        every = labelled
        if summary.unlabelled:
            every = _Read.of(
                replace(data, roles=replace(roles, label=None), positive_value=None, labels=None)
            )
    days = [*labelled.days, *every.days]
    first, last = date.fromordinal(int(min(days))), date.fromordinal(int(max(days)))
    in_order = labelled.in_order(first, last)
    return History(
        first=first,
        last=last,
        labelled=in_order,
        every=in_order if every is labelled else every.in_order(first, last),
        source=source_of(summary),
        roles=roles,
    )


@contextmanager
def _naming_the_day() -> Iterator[None]:
    """Let the error of a text that is no date name the option of the column."""
    try:
        yield
    except NoDayError as error:
        error.reword(error.words[0], words("convert the column, or name one of dates with --day"))
        raise


@dataclass(frozen=True, kw_only=True, eq=False)
class _Read:
    """Rows as they were read, with the ordinal of each day that their codes name."""

    rows: Rows
    days: Ints
    names: Mapping[str, Sequence[str]]
    summary: SourceSummary
    roles: Roles

    @classmethod
    def of(cls, data: DataRequest) -> _Read:
        """Read the rows of a request; those of weight 0 are left out."""
        batches, parts = open_engine(data.engine).batches(data), []
        for rows in batches:
            weight = rows.usable().weight
            parts.append(rows.usable() if weight is None else rows.usable().select(weight > 0))
        rows = Rows.joined(parts)
        if not len(rows):
            raise no_weight()
        names = {key: sorted(levels, key=levels.__getitem__) for key, levels in batches.levels.items()}
        days = [date.fromisoformat(text).toordinal() for text in names[str(batches.roles.cluster)]]
        return cls(
            rows=rows,
            days=np.array(days, dtype=np.int64),
            names=names,
            summary=batches.summary,
            roles=batches.roles,
        )

    def in_order(self, first: date, last: date) -> DatedRows:
        """Return the rows in the order of their days, which are numbered from the first one."""
        column = str(self.roles.cluster)
        day = self.days[self.rows.groups[column]] - first.toordinal()
        if (np.diff(day) < 0).any():
            order = np.argsort(day, kind="stable")
            rows, day = self.rows.select(order), day[order]
        else:
            rows = self.rows
        start = np.searchsorted(day, np.arange((last - first).days + 2))
        return DatedRows(rows=rows, start=start, names=self.names)

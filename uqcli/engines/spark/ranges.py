"""Counts of ranges of values on a cluster: cells, opened where a question needs it.

All rows are counted in many cells, whose counts alone come here. A question names the cells inside which its
answer lies; their values alone are brought together. What is left are counts that answer the question as if
every distinct value had been pooled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from uqcli.counts import Bools, Floats, Ints, RangeCounts, ValueCounts, joined_sums, merge
from uqcli.defaults import ROWS_PER_PART
from uqcli.engines.protocol import Partition, Unsettled
from uqcli.engines.spark.cells import Counter, ExpressionCounter, FunctionCounter
from uqcli.engines.spark.check import CheckedFrame
from uqcli.engines.spark.pooling import (
    MOST_VALUES,
    counting_frame,
    no_counts,
    parts_of,
    pooled,
    pooled_by,
    require_same,
    sums_of,
)
from uqcli.engines.spark.read import Frame
from uqcli.engines.spark.session import spark_errors

CELLS = 1 << 17
"""Cells of all bins together: so many rows come here from a counting, of five numbers each."""

LEAST_CELLS = 64
"""Cells of a bin however many bins there are."""

_SURELY = 1.25
"""So many times what Spark counts as distinct, to within 5 % as a rule, there may be in truth."""


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """Counts of one set of rows: of cells, and of single values where these were opened.

    Attributes
    ----------
    cell : int64, shape (m,)
        Ascending; the cells that hold rows.
    count, positives : int64, shape (m,)
    low, high : float64, shape (m,)
        The least and the largest value.
    opened : bool, shape (m,)
    inside
        The values in the opened cells.
    sums : int64, shape (2, amounts, m), or None
        See ``ValueCounts``.
    """

    cell: Ints
    count: Ints
    positives: Ints
    low: Floats
    high: Floats
    opened: Bools
    inside: ValueCounts
    sums: Ints | None

    @cached_property
    def _closed(self) -> Ints:
        return np.flatnonzero(~self.opened)

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(np.concatenate([self.low[self._closed], self.inside.value]), kind="stable")

    def counts(self) -> RangeCounts:
        """As answers see them."""
        closed, inside, order = self._closed, self.inside, self._order
        single = self.low[closed] == self.high[closed]
        sums = None if self.sums is None else joined_sums([self.sums[..., closed], inside.sums])
        return RangeCounts(
            value=np.concatenate([self.low[closed], inside.value])[order],
            count=np.concatenate([self.count[closed], inside.count])[order],
            positives=np.concatenate([self.positives[closed], inside.positives])[order],
            exact=np.concatenate([single, np.ones(len(inside.value), dtype=np.bool_)])[order],
            sums=None if sums is None else sums[..., order],
        )

    def wanted(self, mask: Bools) -> Ints:
        """Places of closed cells of several values among those that a mask over ``counts`` names."""
        place = np.concatenate([self._closed, np.full(len(self.inside.value), -1)])[self._order]
        named = place[mask]
        named = named[named >= 0]
        return np.sort(named[self.low[named] < self.high[named]])

    def with_open(self, cells: Ints, inside: ValueCounts) -> _Counts:
        """With further cells opened, whose values these are."""
        opened = self.opened | np.isin(self.cell, cells)
        return replace(self, opened=opened, inside=merge([self.inside, inside]))


def count_ranges(
    checked: CheckedFrame, role: str, by: Partition, unsettled: Unsettled, *, expressions: bool
) -> tuple[RangeCounts, ...]:
    """Counts of a column in each part, and last of all rows, exact wherever a question needs it.

    Parameters
    ----------
    expressions
        Whether the cluster's workers run no functions.
    """
    number = parts_of(checked, by)
    if checked.rows <= max(ROWS_PER_PART, number * LEAST_CELLS):
        return RangeCounts.of_parts(pooled_by(checked, role, by))
    size = max(LEAST_CELLS, CELLS // number)
    counter: Counter = (ExpressionCounter if expressions else FunctionCounter).over(
        checked.spans[role], size, number, list(checked.amounts)
    )
    distinct = int(_SURELY * checked.spans[role].distinct) * number
    with spark_errors("count the rows"):
        rows = counting_frame(checked, role, by)
        parts = _first(rows, counter, number)
        require_same(checked, sum(int(part.count.sum()) for part in parts))
        while True:
            counts = [part.counts() for part in (*parts, _whole(parts))]
            *masks, of_whole = unsettled(counts)
            flags = _flags(parts, masks, _whole(parts), of_whole)
            if not any(len(each) for each in flags):
                return tuple(counts)
            parts = _opened(rows, counter, parts, flags, distinct)


def _first(rows: Frame, counter: Counter, parts: int) -> list[_Counts]:
    """Nothing opened."""
    table = counter.counted(rows).toArrow()
    columns = [table.column(name).to_numpy() for name in ("cell", "n", "p", "low", "high")]
    order = np.argsort(columns[0])
    cell, count, positives, low, high = (each[order] for each in columns)
    sums = sums_of(table, counter.amounts)
    sums = None if sums is None else sums[..., order]
    cuts = np.searchsorted(cell, np.arange(1, parts) * counter.size).tolist()
    return [
        _Counts(
            cell=cell[part] % counter.size,
            count=count[part].astype(np.int64),
            positives=positives[part].astype(np.int64),
            low=low[part],
            high=high[part],
            opened=np.zeros(len(part), dtype=np.bool_),
            inside=no_counts(len(counter.amounts)),
            sums=None if sums is None else sums[..., part],
        )
        for part in np.split(np.arange(len(cell)), cuts)
    ]


def _whole(parts: Sequence[_Counts]) -> _Counts:
    """All bins together: a cell is open where it is in any bin that holds rows of it."""
    if len(parts) == 1:
        return parts[0]
    cell = np.concatenate([part.cell for part in parts])
    opened = np.unique(np.concatenate([part.cell[part.opened] for part in parts]))
    distinct, place = np.unique(cell, return_inverse=True)
    sums = np.zeros((2, len(distinct)), dtype=np.int64)
    low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
    for row, name in enumerate(("count", "positives")):
        np.add.at(sums[row], place, np.concatenate([getattr(part, name) for part in parts]))
    amounts = joined_sums([part.sums for part in parts])
    if amounts is not None:
        totals = np.zeros((*amounts.shape[:2], len(distinct)), dtype=np.int64)
        for at in np.ndindex(*amounts.shape[:2]):
            np.add.at(totals[at], place, amounts[at])
    np.minimum.at(low, place, np.concatenate([part.low for part in parts]))
    np.maximum.at(high, place, np.concatenate([part.high for part in parts]))
    return _Counts(
        cell=distinct,
        count=sums[0],
        positives=sums[1],
        low=low,
        high=high,
        opened=np.isin(distinct, opened),
        inside=merge([part.inside for part in parts]),
        sums=None if amounts is None else totals,
    )


def _flags(parts: Sequence[_Counts], masks: Sequence[Bools], whole: _Counts, of_whole: Bools) -> list[Ints]:
    """Cells to open, of each bin the same: only then do the bins' values make up those of all rows."""
    wanted = [part.cell[part.wanted(mask)] for part, mask in zip(parts, masks, strict=True)]
    cells = np.unique(np.concatenate([*wanted, whole.cell[whole.wanted(of_whole)]]))
    return [np.intersect1d(cells, part.cell[~part.opened], assume_unique=True) for part in parts]


def _opened(
    rows: Frame, counter: Counter, parts: Sequence[_Counts], flags: Sequence[Ints], distinct: int
) -> list[_Counts]:
    """Open cells, as many at once as may come here of their values, of which there are so many at most."""
    size = np.zeros(counter.size, dtype=np.int64)
    for part, cells in zip(parts, flags, strict=True):
        held = np.isin(part.cell, cells)
        size[part.cell[held]] += part.count[held]
    # each pass reads all rows again: where few values are shared by many of them, one will do; half of what
    # may come is asked for at once, as the last cell of a pass goes beyond it
    rounds = np.cumsum(size) // (MOST_VALUES // 2) if distinct > MOST_VALUES else np.zeros_like(size)
    opened = list(parts)
    for number in np.unique(rounds[size > 0]).tolist():
        now = [cells[rounds[cells] == number] for cells in flags]
        flagged = np.zeros((len(parts), counter.size), dtype=np.bool_)
        for mask, cells in zip(flagged, now, strict=True):
            mask[cells] = True
        most = min(distinct, int(size[rounds == number].sum()))
        found = pooled(counter.opened(rows, flagged.ravel()), len(parts), counter.amounts, most=most)
        opened = [part.with_open(*each) for part, *each in zip(opened, now, found, strict=True)]
    return opened

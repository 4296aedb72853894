"""Counts of value ranges in bounded memory: a histogram of keys, refined where a query needs it.

A first pass counts all rows in many key ranges. A query names the ranges that may contain its answer. If they
hold too many rows, the largest are split, all rows are counted again, and the query is repeated. Otherwise
their rows are collected and pooled exactly. The resulting counts answer the query as if every distinct value
had been pooled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from uqcli.base.counts import Bools, Ints, RangeCounts, Sums, joined_sums, selected_sums
from uqcli.base.defaults import COLLECTED_ROWS, ROWS_PER_PART, ROWS_PER_STEP
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.running.memory import rows_at_once
from uqcli.engines import refusals
from uqcli.engines.local.count.keys import ColumnSummary, between
from uqcli.engines.local.count.part import Part
from uqcli.engines.local.count.pooling import KeyCounts, KeyRows, keys_by_part, merged, pooled, pooled_by
from uqcli.engines.local.count.rows import CountableRows
from uqcli.engines.protocol import Partition, RangeQuery
from uqcli.kernels.keys import keys_of, values_of
from uqcli.kernels.pooling import Keys, assign_parts, assign_splits, count_parts, count_rows, unsigned_of

CELLS = 1 << 20
"""Total number of ranges over all groups; their counts roughly fit into the CPU cache."""

MIN_RANGES = 256
"""Minimum number of ranges per group."""

MIN_PARTS = 16
"""Minimum number of subranges when a range is split."""

_PARTS_PER_RANGE = 32
"""Average number of parts per equal-width range."""

_MAX_COMPARED_RUNS = 8
"""Number of runs of ranges up to which comparing keys is faster than computing range numbers."""

_MAX_SHIFT = 63
"""Binary logarithm of the largest range width."""

_BYTES_COLLECTED = 64
"""Memory of a row whose range is opened: its key where it was read and sorted, and its counts."""

_MAX_ROUNDS = 256
"""Rounds after which a query must have its answer: a key is split into parts at most sixteen times."""

_TAIL_SHARE = 1e-4
"""Fraction of the rows at either end that share one range."""


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """Equal-width key ranges, each subdivided into parts of about equal counts.

    The outermost ranges extend to the ends.

    Attributes
    ----------
    low
        Lower end of the first range at full width.
    shift
        Binary logarithm of the range width.
    first, fine : int64, shape (ranges,)
        Index of the first part of each range, and binary logarithm of its part width.
    """

    low: int
    shift: int
    first: Ints
    fine: Ints
    smallest_key: int
    width: np.dtype[np.signedinteger]

    @classmethod
    def over(cls, column: ColumnSummary, max_parts: int) -> Ranges:
        """Build at most ``max_parts`` parts, which are narrow where the column's values are dense."""
        inner = np.quantile(column.sample, [_TAIL_SHARE, 1 - _TAIL_SHARE], method="nearest")
        smallest_key, low, high = column.keys_of(np.array([column.low, *inner])).tolist()
        shift, most = 0, max(2, max_parts // _PARTS_PER_RANGE)
        while shift < _MAX_SHIFT and ((high - low) >> shift) + 2 > most:
            shift += 1
        size = min(most, ((high - low) >> shift) + 2)
        coarse = np.arange(size)
        whole = cls(
            low=low, shift=shift, first=coarse, fine=coarse * 0 + shift, smallest_key=low, width=column.width
        )
        sampled = np.bincount(whole.indices_of(column.keys_of(column.sample)), minlength=size)
        sampled[-1] = 0  # everything beyond the sample
        share = 2 * max_parts * sampled / max(1, sampled.sum())  # doubled, as powers of 2 fall short
        parts = np.full(size, max_parts)
        while parts.sum() > max_parts:
            share *= 0.9
            bits = np.minimum(np.log2(1 + share).astype(np.int64), shift)
            parts = 1 << bits
        return cls(
            low=low,
            shift=shift,
            first=np.cumsum(parts) - parts,
            fine=shift - bits,
            smallest_key=smallest_key,
            width=column.width,
        )

    @cached_property
    def size(self) -> int:
        """Number of parts."""
        return int(self.first[-1]) + 1

    def indices_of(self, keys: Keys) -> Ints:
        """Return the part index of each key; int64."""
        index = np.empty(len(keys), dtype=np.int64)
        assign_parts.run(len(keys) // ROWS_PER_STEP, keys, self.low, self.shift, self.first, self.fine, index)
        return index

    def count(self, keys: Keys, cuts: Ints, totals: Ints) -> None:
        """Add the number of keys of each group in each part to totals, of shape (groups * parts,)."""
        work, numbers = len(keys) // ROWS_PER_STEP, (self.low, self.shift, self.first, self.fine, self.size)
        count_parts.run(work, keys, cuts, *numbers, totals)

    @cached_property
    def starts(self) -> Keys:
        """Smallest key of each part."""
        parts = np.diff(self.first, append=self.size)
        part_in_range = np.arange(self.size) - np.repeat(self.first, parts)
        narrow = np.float32 if self.width == np.int32 else np.float64
        beyond = int(keys_of(np.array([np.inf], dtype=narrow))[0])  # first key beyond the finite numbers
        begin = [
            min(part_in_range << self.shift, beyond - self.low) for part_in_range in range(len(self.first))
        ]
        offset = np.repeat(np.array(begin, dtype=np.uint64), parts)
        offset += (part_in_range << np.repeat(self.fine, parts)).astype(np.uint64)
        offset = np.minimum(offset, np.uint64(beyond - self.low))
        keys: Keys = (offset + np.array(self.low).view(np.uint64)).view(np.int64).astype(self.width)
        keys[0] = self.smallest_key
        return keys


@dataclass(frozen=True, kw_only=True)
class _Split:
    """Split of some ranges into equal-width parts; empty ranges are removed.

    Attributes
    ----------
    parts : int64, shape (ranges,)
        Number of parts of each range: 0 if empty, 1 if not split.
    start, shift : shape (ranges,)
        Smallest key and binary logarithm of the part width; undefined for other ranges.
    """

    parts: Ints
    start: Keys
    shift: Ints

    @classmethod
    def from_ranges(cls, ranges: _SplitRanges, nonempty: Bools, to_split: Bools, max_parts: int) -> _Split:
        """Split ranges into at most ``max_parts`` parts in total.

        Parameters
        ----------
        nonempty, to_split : bool, shape (ranges,)
            Non-empty ranges, and those to split, none of which is a single key.
        """
        size = max(MIN_PARTS, max_parts // int(np.count_nonzero(to_split)))
        shift, parts = np.zeros(len(nonempty), dtype=np.int64), nonempty.astype(np.int64)
        for index in np.flatnonzero(to_split).tolist():
            last = int(ranges.ends[index]) - int(ranges.starts[index])
            shift[index] = (last // size).bit_length()
            parts[index] = (last >> int(shift[index])) + 1
        return cls(parts=parts, start=ranges.starts, shift=shift)

    @cached_property
    def _first(self) -> Ints:
        return np.cumsum(self.parts) - self.parts

    def update(self, keys: Keys, index: Ints) -> None:
        """Replace the range index of each key."""
        assign_splits.run(
            len(keys) // ROWS_PER_STEP, keys, self._first, self.parts, self.start, self.shift, index
        )

    def cut(self, ranges: _SplitRanges) -> _SplitRanges:
        """Return the ranges after the split."""
        unsigned = unsigned_of(ranges.starts)
        starts, ends, shifts = (
            np.repeat(values, self.parts) for values in (ranges.starts, ranges.ends, self.shift)
        )
        part_in_range = np.arange(len(starts)) - np.repeat(self._first, self.parts)
        begin = starts.view(unsigned) + (part_in_range.astype(unsigned) << shifts.astype(unsigned))
        last = begin + (np.left_shift(unsigned(1), shifts.astype(unsigned)) - unsigned(1))
        unsplit = np.repeat(self.parts, self.parts) == 1
        is_last = part_in_range == np.repeat(self.parts, self.parts) - 1
        return replace(
            ranges,
            starts=begin.view(starts.dtype),
            ends=np.where(unsplit | is_last, ends, last.view(ends.dtype)),
            splits=(*ranges.splits, self),
        )


@dataclass(frozen=True, kw_only=True)
class _SplitRanges:
    """Ranges after successive splits.

    Attributes
    ----------
    starts, ends : shape (size,)
        Smallest and largest key of each range.
    """

    whole: Ranges
    starts: Keys
    ends: Keys
    splits: tuple[_Split, ...] = ()

    @classmethod
    def from_ranges(cls, whole: Ranges) -> _SplitRanges:
        """Return the initial ranges without splits."""
        starts = whole.starts
        greatest = np.array([np.iinfo(starts.dtype).max], dtype=starts.dtype)
        return cls(whole=whole, starts=starts, ends=np.concatenate([starts[1:] - 1, greatest]))

    @property
    def size(self) -> int:
        """Number of ranges."""
        return len(self.starts)

    def indices_of(self, keys: Keys) -> Ints:
        """Return the range index of each key; int64."""
        index = self.whole.indices_of(keys)
        for split in self.splits:
            split.update(keys, index)
        return index


@dataclass(frozen=True, kw_only=True)
class _RangesOfGroup:
    """Counts of one group of rows by range, and by key in opened ranges.

    Attributes
    ----------
    count, positives : int64, shape (ranges,)
    sums : int64, shape (2, ranges) of each amount
    opened : bool, shape (ranges,)
    inside
        Counts of the keys in the opened ranges.
    """

    ranges: _SplitRanges
    count: Ints
    positives: Ints
    sums: Sums
    opened: Bools
    inside: KeyCounts

    @cached_property
    def closed(self) -> Ints:
        """Indices of non-empty ranges that are not opened."""
        return np.flatnonzero((self.count > 0) & ~self.opened)

    @cached_property
    def _keys(self) -> Keys:
        return np.concatenate([self.ranges.starts[self.closed], self.inside.key])

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self._keys, kind="stable")

    def counts(self) -> RangeCounts:
        """Return the counts in the form that queries use."""
        closed, order = self.closed, self._order
        exact = np.arange(len(order)) >= len(closed)
        sums = joined_sums([selected_sums(self.sums, closed), self.inside.sums])
        return RangeCounts(
            value=values_of(self._keys[order]),
            last=values_of(np.concatenate([self.ranges.ends[closed], self.inside.key])[order]),
            count=np.concatenate([self.count[closed], self.inside.count])[order],
            positives=np.concatenate([self.positives[closed], self.inside.positives])[order],
            exact=exact[order],
            sums=selected_sums(sums, order),
        )

    def selected_ranges(self, mask: Bools) -> Bools:
        """Return the closed ranges selected by a mask over ``counts``; bool, shape (ranges,)."""
        range_index = np.concatenate([self.closed, np.full(len(self.inside.key), -1)])[self._order]
        selected_indices = range_index[mask]
        selected = np.zeros(self.ranges.size, dtype=np.bool_)
        selected[selected_indices[selected_indices >= 0]] = True
        return selected

    def with_open(self, more: Bools, inside: KeyCounts) -> _RangesOfGroup:
        """Open further ranges; ``inside`` contains at least their keys."""
        if not more.any():
            return self
        here = more[self.ranges.indices_of(inside.key)]
        return replace(self, opened=self.opened | more, inside=merged([self.inside, inside.select(here)]))

    def with_single(self, single: Bools, key: Keys) -> _RangesOfGroup:
        """Open ranges whose rows all have a single key; shapes (ranges,)."""
        more = single & ~self.opened
        nonempty = np.flatnonzero(more & (self.count > 0))
        inside = KeyCounts(
            key=key[nonempty],
            count=self.count[nonempty],
            positives=self.positives[nonempty],
            sums=selected_sums(self.sums, nonempty),
        )
        return self.with_open(more, inside)


def count_ranges(rows: CountableRows, role: str, by: Partition, query: RangeQuery) -> tuple[RangeCounts, ...]:
    """Return the counts of a column in each group, then of all rows (see ``Table.range_counts``)."""
    parts = rows.parts(by)
    if rows.size <= max(ROWS_PER_PART, parts * MIN_RANGES):
        return RangeCounts.from_parts(pooled_by(rows, role, by))
    column = rows.column(role)
    total = Ranges.over(column, max(MIN_RANGES, CELLS // max(4, parts)))
    counter = _Counter(role=role, by=by, parts=parts, ranges=_SplitRanges.from_ranges(total))
    tables = _first(rows, counter)
    for _ in range(_MAX_ROUNDS):
        counts = list(parallel_map(_RangesOfGroup.counts, tables))
        masks = query(counts)
        selected = [table.selected_ranges(mask) for table, mask in zip(tables, masks, strict=True)]
        if not any(mask.any() for mask in selected):
            return tuple(counts)
        counter, tables = _opened(rows, counter, tables, selected)
    raise refusals.inputs_changed()  # else each round opens or splits a range


@dataclass(frozen=True, kw_only=True)
class _Counter:
    """Counts rows by group and range."""

    role: str
    by: Partition
    parts: int
    ranges: _SplitRanges

    def add(self, totals: Ints, part: Part) -> None:
        """Add a part's rows to the totals.

        Parameters
        ----------
        totals : int64, shape (1 + amounts, 2, parts, ranges)
            Counts, then amounts; of negative and of positive rows.
        """
        keys = part.keys[self.role]
        if not part.weight and not part.amounts and not self.ranges.splits:
            self.ranges.whole.count(keys, part.cuts, totals.reshape(-1))
            return
        range_index = self.ranges.indices_of(keys)
        columns = (*part.weight, *part.amounts.values())
        for group_index, sides in enumerate(part.sides()):
            for label, rows in enumerate(sides):
                inside, cells = range_index[rows], totals[:, label, group_index]
                if not part.weight:
                    count_rows.run(len(inside) // ROWS_PER_STEP, inside, cells[0])
                for total, amount in zip(cells[len(cells) - len(columns) :], columns, strict=True):
                    np.add.at(total, inside, amount[rows])

    def inside(self, part: Part, flags: Bools, runs: Ints) -> list[KeyRows]:
        """Return the keys of the rows in flagged ranges, by group.

        Parameters
        ----------
        runs : int64, shape (runs, 2)
            First index and end of each run of flagged ranges.
        """
        if len(runs) <= _MAX_COMPARED_RUNS:
            part = part.select(np.flatnonzero(self._between(part.keys[self.role], runs)))
        range_index = self.ranges.indices_of(part.keys[self.role])
        is_flagged = np.empty(part.rows, dtype=np.bool_)
        for flagged, sides in zip(flags, part.sides(), strict=True):
            for rows in sides:
                is_flagged[rows] = flagged[range_index[rows]]
        return keys_by_part(part.select(np.flatnonzero(is_flagged)), self.role)

    def _between(self, keys: Keys, runs: Ints) -> Bools:
        """Whether each key is in one of a few runs of ranges, of shape (runs, 2)."""
        inside = np.zeros(len(keys), dtype=np.bool_)
        for first, stop in runs.tolist():
            inside |= between(keys, self.ranges.starts[first], self.ranges.ends[stop - 1])
        return inside


def _first(rows: CountableRows, counter: _Counter) -> list[_RangesOfGroup]:
    """Count all ranges, none opened."""
    amounts = len(rows.request.roles.amounts)
    shape = 1 + amounts, 2, counter.parts, counter.ranges.size
    idle: list[Ints] = []  # thread-local totals

    def add(part: Part) -> None:
        try:
            totals = idle.pop()
        except IndexError:
            totals = np.zeros(shape, dtype=np.int64)
        counter.add(totals, part)
        idle.append(totals)

    for _ in rows.each(add, (counter.role,), counter.by):
        pass
    tables = idle.pop()
    for totals in idle:
        tables += totals
    tables[:, 0] += tables[:, 1]  # from negative and positive to all and positive
    none = np.empty(0, dtype=np.int64)
    inside = KeyCounts(
        key=none.astype(counter.ranges.starts.dtype),
        count=none,
        positives=none,
        sums=(np.empty((2, 0), dtype=np.int64),) * amounts,
    )
    return [
        _RangesOfGroup(
            ranges=counter.ranges,
            count=part_table[0, 0],
            positives=part_table[0, 1],
            sums=tuple(part_table[1:]),
            opened=np.zeros(counter.ranges.size, dtype=np.bool_),
            inside=inside,
        )
        for part_table in (*np.moveaxis(tables, 2, 0), tables.sum(axis=2))
    ]


def _opened(
    rows: CountableRows, counter: _Counter, tables: Sequence[_RangesOfGroup], selected: Sequence[Bools]
) -> tuple[_Counter, list[_RangesOfGroup]]:
    """Open ranges, or split the largest if their rows exceed the memory limit."""
    most = rows_at_once(COLLECTED_ROWS, _BYTES_COLLECTED)
    size, flags = _ranges_to_open(tables, selected)
    if size.sum() > most:  # a value shared by many rows needs no collecting
        single, key = _single_keys(rows, counter)
        tables = [table.with_single(single, key) for table in tables]
        size, flags = _ranges_to_open(tables, selected)
    if size.sum() > most:
        large = size > most // np.count_nonzero(size)
        return _refined(rows, counter, tables, large)

    runs = np.flatnonzero(np.diff(flags.any(axis=0), prepend=False, append=False)).reshape(-1, 2)

    def inside(part: Part) -> list[KeyRows]:
        return counter.inside(part, flags, runs)

    collected = list(rows.each(inside, (counter.role,), counter.by))
    width = counter.ranges.starts.dtype
    pooled_keys = [pooled(parts, width) for parts in zip(*collected, strict=True)]
    *bins, total = tables
    for table, flagged, keys in zip(bins, flags, pooled_keys, strict=True):
        _require_same((table.count[flagged].sum(), table.positives[flagged].sum()), keys)
    bins = [table.with_open(*opening) for table, *opening in zip(bins, flags, pooled_keys, strict=True)]
    total = total.with_open(selected[-1] & ~total.opened, merged([table.inside for table in bins]))
    return counter, [*bins, total]


def _require_same(counted: tuple[int, int], keys: KeyCounts) -> None:
    """Refuse keys of other rows than those that were counted."""
    if counted != (keys.count.sum(), keys.positives.sum()):
        raise refusals.inputs_changed()


def _refined(
    rows: CountableRows, counter: _Counter, tables: Sequence[_RangesOfGroup], large: Bools
) -> tuple[_Counter, list[_RangesOfGroup]]:
    """Split ranges, and count their rows again."""
    split = _Split.from_ranges(counter.ranges, tables[-1].count > 0, large, CELLS // max(4, counter.parts))
    finer = replace(counter, ranges=split.cut(counter.ranges))
    recounted = _first(rows, finer)
    for old, new in zip(tables, recounted, strict=True):
        for before, after in ((old.count, new.count), (old.positives, new.positives)):
            total = np.append(0, np.cumsum(after))[np.append(0, np.cumsum(split.parts))]
            if not np.array_equal(np.diff(total), before):
                raise refusals.inputs_changed()
    return finer, [
        replace(new, opened=np.repeat(old.opened, split.parts), inside=old.inside)
        for old, new in zip(tables, recounted, strict=True)
    ]


def _ranges_to_open(tables: Sequence[_RangesOfGroup], selected: Sequence[Bools]) -> tuple[Ints, Bools]:
    """Count rows in the ranges to open, and mark these by group; shapes (ranges,) and (bins, ranges)."""
    *bins, _ = tables
    *bin_masks, total_mask = selected
    flags = np.stack(
        [(mask | total_mask) & ~table.opened for mask, table in zip(bin_masks, bins, strict=True)]
    )
    return np.where(flags, np.stack([table.count for table in bins]), 0).sum(axis=0), flags


def _single_keys(rows: CountableRows, counter: _Counter) -> tuple[Bools, Keys]:
    """Return the mask of ranges with a single key, and that key; shapes (ranges,)."""
    ranges = counter.ranges
    if ranges.splits:  # after splits, a range may be one key wide
        return ranges.starts == ranges.ends, ranges.starts
    key = np.zeros(ranges.size, dtype=ranges.starts.dtype)
    single = np.zeros(ranges.size, dtype=np.bool_)
    column = rows.column(counter.role)
    sample = column.keys_of(column.sample)
    range_index = ranges.indices_of(sample)
    key[range_index], single[range_index] = sample, True  # any row will do

    def compare(part: Part) -> None:
        keys = part.keys[counter.role]
        range_index = ranges.indices_of(keys)
        single[range_index[keys != key[range_index]]] = False

    for _ in rows.each(compare, (counter.role,), counter.by):
        pass
    return single, key

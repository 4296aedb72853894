"""Sums over labelled rows by the decisions of rules, for all rows and for groups, as the rows were drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeVar

import numpy as np

from uqcli.base.amounts import units as amount_units
from uqcli.base.counts import Bools, Ints, run_starts
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import UNITS, WeightSums
from uqcli.base.sampling_weights import units as weight_units
from uqcli.base.whole_numbers import product
from uqcli.boundary.rule import groups_of
from uqcli.boundary.search.constraint import Constraint
from uqcli.estimates.design import (
    CLEARED,
    ClusteredRows,
    Decisions,
    Design,
    IndependentRows,
    Key,
    WeightedRows,
)
from uqcli.estimates.survey import SAMPLING_WEIGHT, check_weights
from uqcli.estimates.value import Amounts, ClusterAmounts, Moments, RowAmounts
from uqcli.kernels.pooling import count_rows
from uqcli.kernels.units import Numbering, UnitTable
from uqcli.reports.document import in_order

S = TypeVar("S")

_ZONES = CLEARED + 1
_CLUSTER_BITS: Final = 32
"""Bits of the number of a cluster beside that of a group, which is -1 for rows of no group."""

_MOST_CODES = 100_000
"""Numbers of decisions up to which they are looked up in a table."""


_MOST_RULES = 39
"""Rules up to which the number of the decisions and a label is below 2**63."""


def code_of(zones: Sequence[Ints]) -> Ints:
    """Number the decisions of all rules together; int64, of many rules ``object``, shape (n,)."""
    if len(zones) > _MOST_RULES:
        first, last = (code_of(part) for part in (zones[:-_MOST_RULES], zones[-_MOST_RULES:]))
        whole: Ints = first.astype(object) * _ZONES**_MOST_RULES + last
        return whole
    code, *others = zones
    for zone in others:
        code = code * _ZONES + zone
    return code


def decisions_of(code: int, rules: int) -> Decisions:
    """Return the decisions with a number."""
    return tuple(code // _ZONES**power % _ZONES for power in reversed(range(rules)))


def _counted(code: Ints) -> tuple[Ints, Ints]:
    """Return the distinct codes in order, and their numbers of rows."""
    counts = np.zeros(int(code.max(initial=-1)) + 1, dtype=np.int64)
    count_rows.run(len(code) // ROWS_PER_STEP, code, counts)
    codes = np.flatnonzero(counts)
    return codes, counts[codes]


class Units:
    """What rows are summed up by: a group, a cluster of dependent rows, or a cluster within a group."""

    def __init__(self, by: str | None, cluster: str | None) -> None:
        self.by, self.cluster = by, cluster
        self._pairs = Numbering()

    def of(self, rows: Rows) -> Ints | None:
        """Return the number of the unit of each row, shape (n,); None if there is only one."""
        if self.by is None:
            return None if self.cluster is None else rows.groups[self.cluster]
        group = groups_of(rows, self.by)
        if self.cluster is None:
            return group
        unit, _ = self._pairs.of((group << _CLUSTER_BITS) + rows.groups[self.cluster])
        return unit.astype(np.int64)

    def group_and_cluster(self, size: int) -> tuple[Ints, Ints]:
        """Return the group and the cluster of the first units, shape (size,) each."""
        nothing, number = np.zeros(size, dtype=np.int64), np.arange(size)
        if self.by is None:
            return nothing, number
        if self.cluster is None:
            return number, nothing
        pairs = self._pairs.values
        return pairs >> _CLUSTER_BITS, pairs & ((1 << _CLUSTER_BITS) - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class OrderedUnits:
    """Units of groups, by group and cluster: their places, groups and clusters; int64, shape (U,) each."""

    places: Ints
    group: Ints
    cluster: Ints

    @classmethod
    def of(cls, units: Units, present: Bools) -> OrderedUnits:
        """Sort those of the first units that are present, of shape (size,), and in a group."""
        group, cluster = units.group_and_cluster(len(present))
        with_rows = np.flatnonzero(present[: len(group)])
        places = with_rows[group[with_rows] >= 0]
        if units.by is not None and units.cluster is not None:
            places = places[np.argsort((group << _CLUSTER_BITS)[places] + cluster[places])]
        return cls(places=places, group=group[places], cluster=cluster[places])

    def of_group(self, index: int | None) -> tuple[Ints, Ints]:
        """Return the places of the units of a group, None for all, and the cluster of each."""
        if index is None:
            return self.places, self.cluster
        first, last = np.searchsorted(self.group, [index, index + 1])
        return self.places[first:last], self.cluster[first:last]


def _times(number: Ints, count: Ints | None) -> Ints:
    return number if count is None else product(number, count)


class DecisionTally:
    """Sums over rows by the decisions of all rules, label, group and cluster.

    A utility gives the gain and cost of each row.
    """

    def __init__(
        self, rules: int, units: Units, utility: Constraint | None = None, *, is_weighted: bool = False
    ) -> None:
        self._rules, self._units, self._utility, self._is_weighted = rules, units, utility, is_weighted
        self._columns: dict[int, int] = {}
        self._counts = UnitTable()
        self._weights, self._sums = UnitTable(), dict[tuple[int, int], WeightSums]()
        self._worth, self._moments = UnitTable(), dict[tuple[int, int], Moments]()

    @property
    def by(self) -> str | None:
        """Column of the groups; None for none."""
        return self._units.by

    @property
    def rows(self) -> int:
        """Rows so far, by weight."""
        return int(self._counts.sums.sum())

    @property
    def total(self) -> int:
        """Rows, or the sum of their sampling weights in units."""
        return sum(sums.total for sums in self._sums.values()) if self._is_weighted else self.rows

    def add(self, rows: Rows, zones: Sequence[Ints]) -> None:
        """Add rows, and the zone of each by each rule; no sampling weight is negative or too large."""
        self.prepare(rows, zones)()

    def prepare(self, rows: Rows, zones: Sequence[Ints]) -> Callable[[], None]:
        """Compute what needs no other rows, in any thread; return the function that adds it, in order."""
        if not len(rows):  # all rows of a batch may be dropped
            return lambda: None
        code = 2 * code_of(zones)
        code += rows.labels
        if not (self._units.by or self._units.cluster or self._is_weighted or rows.weight is not None) and (
            self._utility is None
        ):
            # decisions and labels alone need no column of each row
            codes, counts = np.unique(code, return_counts=True) if self._has_many_codes else _counted(code)
            return lambda: self._add_counts(codes, counts)
        return lambda: self._add(rows, code)

    def _add_counts(self, codes: Ints, counts: Ints) -> None:
        self.__dict__.pop("_ordered", None)
        self._counts.add(None, self._numbers(codes), counts)

    def _add(self, rows: Rows, code: Ints) -> None:
        self.__dict__.pop("_ordered", None)
        unit = self._units.of(rows)
        column = self._column(code)
        self._counts.add(unit, column, rows.weight)
        weight = None
        if self._is_weighted:
            check_weights(rows.numbers[SAMPLING_WEIGHT])
            weight = weight_units(rows.numbers[SAMPLING_WEIGHT])
            for key, places in self._parts(unit, column):
                count = None if rows.weight is None else rows.weight[places]
                more = WeightSums.of(weight[places], np.ones(len(places), dtype=np.bool_), count)
                self._sums[key] = self._sums.get(key, WeightSums()) + more
            if self._units.cluster is not None:
                self._weights.add(unit, column, _times(weight, rows.weight))
        if self._utility is not None:
            self._add_amounts(rows, unit, column, weight)

    def _add_amounts(self, rows: Rows, unit: Ints | None, column: Ints, weight: Ints | None) -> None:
        assert self._utility is not None  # there are amounts
        amounts = np.array(
            [amount_units(rows.numbers[role]) for role in self._utility.amounts], dtype=np.int64
        )
        value = self._utility.values(rows.labels, amounts.reshape(-1, len(rows)))
        if weight is not None:
            value = product(value, weight)
        if self._units.cluster is not None:
            self._worth.add(unit, column, _times(value, rows.weight))
            return
        for key, places in self._parts(unit, column):
            more = Moments.of(value[places], None if rows.weight is None else rows.weight[places])
            self._moments[key] = self._moments.get(key, Moments()) + more

    def _column(self, code: Ints) -> Ints:
        """Number the decisions and labels that occur."""
        if self._has_many_codes:
            codes, inverse = np.unique(code, return_inverse=True)
            return self._numbers(codes)[inverse]
        codes, _ = _counted(code)
        table = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
        table[codes] = self._numbers(codes)
        column: Ints = table[code]
        return column

    @property
    def _has_many_codes(self) -> bool:
        return bool(2 * _ZONES**self._rules > _MOST_CODES)

    def _numbers(self, codes: Ints) -> Ints:
        numbers = [self._columns.setdefault(code, len(self._columns)) for code in codes.tolist()]
        return np.array(numbers, dtype=np.int64)

    def _parts(self, unit: Ints | None, column: Ints) -> Iterator[tuple[tuple[int, int], Ints]]:
        """Yield group and column of the rows that have both, with their places."""
        index, columns = column, len(self._columns)
        if unit is not None and self._units.by is not None:
            group, _ = self._units.group_and_cluster(int(unit.max(initial=-1)) + 1)
            index = group[unit] * columns + column
        order = np.argsort(index, kind="stable")
        distinct, starts = np.unique(index[order], return_index=True)
        for number, places in zip(distinct.tolist(), np.split(order, starts[1:]), strict=True):
            yield divmod(number, columns), places

    def of_all(self, confidence: float, units: str) -> Design:
        """Return the design of all rows; ``units`` is what clusters are called."""
        return self._design(None, confidence, units)

    def by_group(self, levels: Mapping[str, int], confidence: float, units: str) -> dict[str, Design]:
        """Return the designs of groups with rows, by their names in order."""
        designs = {name: self._design(index, confidence, units) for name, index in levels.items()}
        return {name: designs[name] for name in in_order(designs) if designs[name].rows()}

    def amounts(self, confidence: float, index: int | None = None) -> Amounts | None:
        """Return the amounts of all rows or of a group; None if they were not read."""
        if self._utility is None:
            return None
        unit = self._utility.unit / (UNITS if self._is_weighted else 1)
        if self._units.cluster is None:
            parts: dict[Key, Moments] = {}
            for key, moments in self._of_group(self._moments, index):
                parts[key] = parts.get(key, Moments()) + moments
            return RowAmounts(confidence=confidence, unit=unit, parts=parts)
        return ClusterAmounts(
            confidence=confidence,
            unit=unit,
            sums=self._arrays(self._worth, index),
            counts=self._arrays(self._counts, index),
        )

    def _design(self, index: int | None, confidence: float, units: str) -> Design:
        sums: dict[Key, WeightSums] = {}
        for key, more in self._of_group(self._sums, index):
            sums[key] = sums.get(key, WeightSums()) + more
        if self._units.cluster is not None:
            return ClusteredRows(
                confidence=confidence,
                counts=self._arrays(self._counts, index),
                weights=self._arrays(self._weights, index) if self._is_weighted else None,
                sums=sums,
                units=units,
            )
        if self._is_weighted:
            return WeightedRows(confidence=confidence, sums=sums)
        places, _ = self._ordered.of_group(index)
        counts = self._counts.sums[places].sum(axis=0).tolist()
        return IndependentRows(
            confidence=confidence, counts={self._key(column): counts[column] for column in self._present()}
        )

    def _of_group(self, sums: Mapping[tuple[int, int], S], index: int | None) -> Iterator[tuple[Key, S]]:
        """Yield the sums of a group, or of all, with their decisions and label."""
        if index is None:
            yield from ((self._key(column), more) for (_, column), more in sums.items())
            return
        for column in self._present():
            if (index, column) in sums:
                yield self._key(column), sums[index, column]

    @cached_property
    def _ordered(self) -> OrderedUnits:
        """Units with rows."""
        return OrderedUnits.of(self._units, self._counts.sums.sum(axis=1) > 0)

    def _arrays(self, table: UnitTable, index: int | None) -> dict[Key, Ints]:
        """Return the sums of the clusters with rows, by decisions and label; shape (C,) each."""
        places, cluster = self._ordered.of_group(index)
        if index is None and self._units.by is not None:  # clusters may have rows in several groups
            order = np.argsort(cluster, kind="stable")
            starts = run_starts(cluster[order])
            columns = np.add.reduceat(table.sums[places[order]], starts, axis=0).T
        else:
            columns = table.sums[places].T
        return {
            self._key(column): np.ascontiguousarray(columns[column])
            for column in self._present()
            if column < len(columns)
        }

    def _present(self) -> range:
        return range(len(self._columns))

    def _key(self, column: int) -> Key:
        code = list(self._columns)[column]
        return decisions_of(code // 2, self._rules), bool(code % 2)

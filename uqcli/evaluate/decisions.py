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
    WeightedClusters,
    WeightedRows,
)
from uqcli.estimates.survey import SAMPLING_WEIGHT, check_weights
from uqcli.estimates.value import Amounts, ClusterAmounts, Moments, RowAmounts
from uqcli.kernels.pooling import count_rows
from uqcli.kernels.units import Numbering, UnitTable
from uqcli.reports.document import in_order

S = TypeVar("S", WeightSums, Moments)

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


Levels = Mapping[str, Mapping[str, int]]
"""Number of each text, for each key column."""


class Units:
    """What rows are summed up by: nothing, so that all rows are one unit."""

    has_clusters = False
    has_groups = False

    def again(self) -> Units:
        """Return the same, to be numbered anew."""
        return self

    def of(self, rows: Rows) -> Ints | None:  # noqa: ARG002
        """Return the number of the unit of each row, shape (n,); None if there is only one."""
        return None

    def groups_of(self, rows: Rows) -> Ints:
        """Return the group of each row, shape (n,)."""
        return np.zeros(len(rows), dtype=np.int64)

    def clusters_of(self, rows: Rows) -> Ints:
        """Return the cluster of each row, shape (n,)."""
        return np.zeros(len(rows), dtype=np.int64)

    def group_levels(self, levels: Levels) -> Mapping[str, int]:  # noqa: ARG002
        """Return the number of each group, by name; empty without a column of groups."""
        return {}

    def renumbered(self, cluster: Ints, own: Levels, other: Levels) -> Ints:  # noqa: ARG002
        """Return the numbers that clusters have among other rows, -1 for others; shape (n,)."""
        return cluster

    def group_and_cluster(self, size: int) -> tuple[Ints, Ints]:
        """Return the group and the cluster of the first units, shape (size,) each."""
        return np.zeros(size, dtype=np.int64), np.arange(size)

    def in_order(self, places: Ints, group: Ints, cluster: Ints) -> Ints:  # noqa: ARG002
        """Sort the places of some units, which have increased so far, by group and cluster."""
        return places


class _Clusters(Units):
    """A cluster of dependent rows."""

    has_clusters = True

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster

    def of(self, rows: Rows) -> Ints | None:
        return self.clusters_of(rows)

    def clusters_of(self, rows: Rows) -> Ints:
        return rows.groups[self._cluster]

    def renumbered(self, cluster: Ints, own: Levels, other: Levels) -> Ints:
        numbers, names = other[self._cluster], own[self._cluster]
        known = np.full(len(names), -1, dtype=np.int64)
        for name, number in names.items():
            known[number] = numbers.get(name, -1)
        result: Ints = known[cluster]
        return result


class _Groups(Units):
    """A group of rows."""

    has_groups = True

    def __init__(self, by: str) -> None:
        self._by = by

    def of(self, rows: Rows) -> Ints | None:
        return self.groups_of(rows)

    def groups_of(self, rows: Rows) -> Ints:
        return groups_of(rows, self._by)

    def group_levels(self, levels: Levels) -> Mapping[str, int]:
        return levels.get(self._by, {})

    def group_and_cluster(self, size: int) -> tuple[Ints, Ints]:
        return np.arange(size), np.zeros(size, dtype=np.int64)


class _ClustersOfGroups(_Clusters, _Groups):
    """A cluster of dependent rows within a group."""

    def __init__(self, by: str, cluster: str) -> None:
        self._by, self._cluster, self._pairs = by, cluster, Numbering()

    def again(self) -> Units:
        return _ClustersOfGroups(self._by, self._cluster)

    def of(self, rows: Rows) -> Ints | None:
        group, cluster = self.groups_of(rows), self.clusters_of(rows)
        unit, _ = self._pairs.of((group << _CLUSTER_BITS) + cluster)
        return unit.astype(np.int64)

    def group_and_cluster(self, size: int) -> tuple[Ints, Ints]:  # noqa: ARG002
        pairs = self._pairs.values
        return pairs >> _CLUSTER_BITS, pairs & ((1 << _CLUSTER_BITS) - 1)

    def in_order(self, places: Ints, group: Ints, cluster: Ints) -> Ints:
        ordered: Ints = places[np.argsort((group << _CLUSTER_BITS)[places] + cluster[places])]
        return ordered


def units_of(by: str | None, cluster: str | None) -> Units:
    """Return what rows are summed up by, from the columns of groups and of clusters."""
    if by is not None and cluster is not None:
        return _ClustersOfGroups(by, cluster)
    if by is not None:
        return _Groups(by)
    return Units() if cluster is None else _Clusters(cluster)


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
        places = units.in_order(places, group, cluster)
        return cls(places=places, group=group[places], cluster=cluster[places])

    def of_group(self, index: int) -> tuple[Ints, Ints]:
        """Return the places of the units of a group, and the cluster of each."""
        first, last = np.searchsorted(self.group, [index, index + 1])
        return self.places[first:last], self.cluster[first:last]


class _Everything:
    """All rows."""

    def sums(self, sums: Mapping[tuple[int, int], S], columns: range) -> Iterator[tuple[int, S]]:  # noqa: ARG002
        """Yield the sums by group and column, with their column."""
        yield from ((column, more) for (_, column), more in sums.items())

    def units(self, ordered: OrderedUnits) -> Ints:
        """Return the places of units."""
        return ordered.places

    def by_cluster(self, sums: Ints, ordered: OrderedUnits) -> Ints:
        """Add up sums of units by cluster, which may have rows in several groups; shape (columns, C)."""
        order = np.argsort(ordered.cluster, kind="stable")
        starts = run_starts(ordered.cluster[order])
        by_cluster: Ints = np.add.reduceat(sums[ordered.places[order]], starts, axis=0).T
        return by_cluster


class _Group(_Everything):
    """The rows of a group."""

    def __init__(self, index: int) -> None:
        self._index = index

    def sums(self, sums: Mapping[tuple[int, int], S], columns: range) -> Iterator[tuple[int, S]]:
        for column in columns:
            if (self._index, column) in sums:
                yield column, sums[self._index, column]

    def units(self, ordered: OrderedUnits) -> Ints:
        return ordered.of_group(self._index)[0]

    def by_cluster(self, sums: Ints, ordered: OrderedUnits) -> Ints:
        return sums[self.units(ordered)].T


_EVERYTHING: Final = _Everything()


class DecisionTally:
    """Sums over rows by the decisions of all rules, label, group and cluster.

    A utility, if there is one, gives the gain and cost of each row.
    """

    def __init__(
        self, rules: int, units: Units, utility: Sequence[Constraint] = (), *, is_weighted: bool = False
    ) -> None:
        self._rules, self._units, self._utility, self._is_weighted = rules, units, utility, is_weighted
        self._columns: dict[int, int] = {}
        self._counts = UnitTable()
        self._weights, self._sums = UnitTable(), dict[tuple[int, int], WeightSums]()
        self._worth, self._moments = UnitTable(), dict[tuple[int, int], Moments]()

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
        has_units = self._units.has_groups or self._units.has_clusters
        if not (has_units or self._is_weighted or rows.weight is not None or self._utility):
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
        if self._is_weighted:
            check_weights(rows.numbers[SAMPLING_WEIGHT])
            weight = weight_units(rows.numbers[SAMPLING_WEIGHT])
            for key, places in self._parts(unit, column):
                ones = np.ones(len(places), dtype=np.bool_)
                more = WeightSums.of(weight[places], ones, rows.weight_of(places))
                self._sums[key] = self._sums.get(key, WeightSums()) + more
            if self._units.has_clusters:
                self._weights.add(unit, column, rows.times(weight))
        for utility in self._utility:
            self._add_values(rows, unit, column, self._values(utility, rows))

    def _values(self, utility: Constraint, rows: Rows) -> Ints:
        """Return the value of flagging each row, times its sampling weight."""
        amounts = np.array([amount_units(rows.numbers[role]) for role in utility.amounts], dtype=np.int64)
        value = utility.values(rows.labels, amounts.reshape(-1, len(rows)))
        return product(value, weight_units(rows.numbers[SAMPLING_WEIGHT])) if self._is_weighted else value

    def _add_values(self, rows: Rows, unit: Ints | None, column: Ints, value: Ints) -> None:
        if self._units.has_clusters:
            self._worth.add(unit, column, rows.times(value))
            return
        for key, places in self._parts(unit, column):
            more = Moments.of(value[places], rows.weight_of(places))
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
        if unit is not None and self._units.has_groups:
            group, _ = self._units.group_and_cluster(int(unit.max(initial=-1)) + 1)
            index = group[unit] * columns + column
        order = np.argsort(index, kind="stable")
        distinct, starts = np.unique(index[order], return_index=True)
        for number, places in zip(distinct.tolist(), np.split(order, starts[1:]), strict=True):
            yield divmod(number, columns), places

    def of_all(self, confidence: float, units: str) -> Design:
        """Return the design of all rows; ``units`` is what clusters are called."""
        return self._design(_EVERYTHING, confidence, units)

    def by_group(self, levels: Mapping[str, int], confidence: float, units: str) -> dict[str, Design]:
        """Return the designs of groups with rows, by their names in order."""
        designs = {name: self._design(_Group(index), confidence, units) for name, index in levels.items()}
        return {name: designs[name] for name in in_order(designs) if designs[name].rows()}

    def amounts(self, confidence: float) -> Sequence[Amounts]:
        """Return the amounts of all rows; none if they were not read."""
        return self._amounts(_EVERYTHING, confidence)

    def amounts_of_group(self, index: int, confidence: float) -> Sequence[Amounts]:
        """Return the amounts of a group; none if they were not read."""
        return self._amounts(_Group(index), confidence)

    def _amounts(self, rows: _Everything, confidence: float) -> Sequence[Amounts]:
        units = [utility.unit / (UNITS if self._is_weighted else 1) for utility in self._utility]
        if not self._units.has_clusters:
            parts = self._added(self._moments, rows, Moments())
            return [RowAmounts(confidence=confidence, unit=unit, parts=parts) for unit in units]
        return [
            ClusterAmounts(
                confidence=confidence,
                unit=unit,
                sums=self._arrays(self._worth, rows),
                counts=self._arrays(self._counts, rows),
            )
            for unit in units
        ]

    def _design(self, rows: _Everything, confidence: float, units: str) -> Design:
        sums = self._added(self._sums, rows, WeightSums())
        if self._units.has_clusters:
            counts = self._arrays(self._counts, rows)
            if not self._is_weighted:
                return ClusteredRows(confidence=confidence, counts=counts, units=units)
            weights = self._arrays(self._weights, rows)
            return WeightedClusters(
                confidence=confidence, counts=counts, weights=weights, sums=sums, units=units
            )
        if self._is_weighted:
            return WeightedRows(confidence=confidence, sums=sums)
        totals = self._counts.sums[rows.units(self._ordered)].sum(axis=0).tolist()
        return IndependentRows(
            confidence=confidence, counts={self._key(column): totals[column] for column in self._present()}
        )

    def _added(self, sums: Mapping[tuple[int, int], S], rows: _Everything, nothing: S) -> dict[Key, S]:
        """Add up the sums of some rows by their decisions and label."""
        added: dict[Key, S] = {}
        for column, more in rows.sums(sums, self._present()):
            key = self._key(column)
            added[key] = added.get(key, nothing) + more
        return added

    @cached_property
    def _ordered(self) -> OrderedUnits:
        """Units with rows."""
        return OrderedUnits.of(self._units, self._counts.sums.sum(axis=1) > 0)

    def _arrays(self, table: UnitTable, rows: _Everything) -> dict[Key, Ints]:
        """Return the sums of the clusters with rows, by decisions and label; shape (C,) each."""
        columns = rows.by_cluster(table.sums, self._ordered)
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

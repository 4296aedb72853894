"""Sums over labelled rows by the decisions of rules, for all rows and for groups, as the rows were drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from uqcli.base.amounts import units as amount_units
from uqcli.base.counts import Bools, Ints
from uqcli.base.defaults import ROWS_PER_STEP
from uqcli.base.rows import Rows
from uqcli.base.sampling_weights import UNITS, WeightSums
from uqcli.base.sampling_weights import units as weight_units
from uqcli.base.whole_numbers import fitting, largest, product
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
from uqcli.reports.document import in_order

_ZONES = CLEARED + 1
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
        self._pairs: dict[tuple[int, int], int] = {}

    def of(self, rows: Rows) -> Ints | None:
        """Return the number of the unit of each row, shape (n,); None if there is only one."""
        if self.by is None:
            return None if self.cluster is None else rows.groups[self.cluster]
        group = groups_of(rows, self.by)
        if self.cluster is None:
            return group
        distinct, unit = np.unique(np.stack([group, rows.groups[self.cluster]]), axis=1, return_inverse=True)
        pairs = zip(*distinct.tolist(), strict=True)
        numbers = np.array([self._pairs.setdefault(pair, len(self._pairs)) for pair in pairs], dtype=np.int64)
        result: Ints = numbers[unit.reshape(-1)]
        return result

    def group_and_cluster(self, size: int) -> tuple[Ints, Ints]:
        """Return the group and the cluster of the first units, shape (size,) each."""
        nothing, number = np.zeros(size, dtype=np.int64), np.arange(size)
        if self.by is None:
            return nothing, number
        if self.cluster is None:
            return number, nothing
        pairs = np.array(list(self._pairs), dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


class Table:
    """Sums of whole numbers by unit and column; it grows as both are met.

    They are int64, and Python's integers (``object``) once all that was added might exceed 64 bits.
    """

    def __init__(self) -> None:
        self.sums: Ints = np.zeros((1, 1), dtype=np.int64)
        self._most = 0

    def add(self, unit: Ints | None, column: Ints, number: Ints | None) -> None:
        """Add a number of each row, or 1, to a unit and a column; arrays of shape (n,)."""
        if not len(column):
            return
        if unit is None and number is None:
            counts = np.bincount(column)
            self._reach(0, len(counts) - 1)
            self.sums[0, : len(counts)] += counts
            return
        unit = np.zeros(len(column), dtype=np.int64) if unit is None else unit
        self._reach(int(unit.max()), int(column.max()))
        self._most += len(column) * (1 if number is None else largest(number))
        self.sums = self.sums.astype(fitting(self._most), copy=False)
        place = unit * self.sums.shape[1] + column
        np.add.at(self.sums.reshape(-1), place, 1 if number is None else number)

    def _reach(self, unit: int, column: int) -> None:
        """Make room, twice as much as there is if there is not enough."""
        missing = [
            max(0, last + 1 - size) and max(last + 1 - size, size)
            for last, size in zip((unit, column), self.sums.shape, strict=True)
        ]
        if any(missing):
            self.sums = np.ascontiguousarray(np.pad(self.sums, [(0, more) for more in missing]))


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
        self._counts = Table()
        self._weights, self._sums = Table(), dict[tuple[int, int], WeightSums]()
        self._worth, self._moments = Table(), dict[tuple[int, int], Moments]()

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
            return lambda: self._counts.add(None, self._numbers(codes), counts)
        return lambda: self._add(rows, code)

    def _add(self, rows: Rows, code: Ints) -> None:
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
        group, cluster = self._units.group_and_cluster(len(self._counts.sums))
        return self._design(None, group >= 0, cluster, confidence, units)

    def by_group(self, levels: Mapping[str, int], confidence: float, units: str) -> dict[str, Design]:
        """Return the designs of groups with rows, by their names in order."""
        group, cluster = self._units.group_and_cluster(len(self._counts.sums))
        designs = {
            name: self._design(index, group == index, cluster, confidence, units)
            for name, index in levels.items()
        }
        return {name: designs[name] for name in in_order(designs) if designs[name].rows()}

    def amounts(self, confidence: float, index: int | None = None) -> Amounts | None:
        """Return the amounts of all rows or of a group; None if they were not read."""
        if self._utility is None:
            return None
        unit = self._utility.unit / (UNITS if self._is_weighted else 1)
        if self._units.cluster is None:
            parts: dict[Key, Moments] = {}
            for (group, column), moments in self._moments.items():
                if index in (None, group):
                    key = self._key(column)
                    parts[key] = parts.get(key, Moments()) + moments
            return RowAmounts(confidence=confidence, unit=unit, parts=parts)
        group_of, cluster = self._units.group_and_cluster(len(self._counts.sums))
        inside = group_of >= 0 if index is None else group_of == index
        return ClusterAmounts(
            confidence=confidence,
            unit=unit,
            sums=self._arrays(self._worth, inside, cluster),
            counts=self._arrays(self._counts, inside, cluster),
        )

    def _design(
        self, index: int | None, inside: Bools, cluster: Ints, confidence: float, units: str
    ) -> Design:
        sums: dict[Key, WeightSums] = {}
        for (group, column), more in self._sums.items():
            if index in (None, group):
                key = self._key(column)
                sums[key] = sums.get(key, WeightSums()) + more
        if self._units.cluster is not None:
            return ClusteredRows(
                confidence=confidence,
                counts=self._arrays(self._counts, inside, cluster),
                weights=self._arrays(self._weights, inside, cluster) if self._is_weighted else None,
                sums=sums,
                units=units,
            )
        if self._is_weighted:
            return WeightedRows(confidence=confidence, sums=sums)
        counts = self._counts.sums[inside].sum(axis=0).tolist()
        return IndependentRows(
            confidence=confidence, counts={self._key(column): counts[column] for column in self._present()}
        )

    def _arrays(self, table: Table, inside: Bools, cluster: Ints) -> dict[Key, Ints]:
        """Return the sums of the clusters with rows, by decisions and label; shape (C,) each."""
        sums = table.sums[: len(inside)]
        inside = inside & (self._counts.sums[: len(inside)].sum(axis=1) > 0)
        present, number = np.unique(cluster[inside], return_inverse=True)
        added = np.zeros((len(present), sums.shape[1]), dtype=sums.dtype)
        np.add.at(added, number, sums[inside])
        return {self._key(column): added[:, column] for column in self._present() if column < added.shape[1]}

    def _present(self) -> range:
        return range(len(self._columns))

    def _key(self, column: int) -> Key:
        code = list(self._columns)[column]
        return decisions_of(code // 2, self._rules), bool(code % 2)

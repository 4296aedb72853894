"""The engine of one machine: polars and Arrow readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from uqcli.counts import Bools, Feature, Floats, Ints, RangeCounts, ValueCounts
from uqcli.engines.local.check.batches import LocalBatches, opened
from uqcli.engines.local.check.features import whole_feature
from uqcli.engines.local.count.isotonic import isotonic_by
from uqcli.engines.local.count.kept import KeptRows
from uqcli.engines.local.count.keys import values_of
from uqcli.engines.local.count.ranges import count_ranges, pooled_by
from uqcli.engines.protocol import (
    ApplyFacts,
    ApplyRequest,
    CheckedRows,
    Groups,
    LabelledRows,
    SourceFacts,
    Unsettled,
)
from uqcli.engines.request import DataRequest, FeatureRequest

Value = TypeVar("Value", np.bool_, np.int64)


class LocalTable:
    """Rows counted in memory that does not grow with the files (see uqcli.engines.protocol.Table)."""

    def __init__(self, request: DataRequest) -> None:
        self._rows = KeptRows(request)

    @property
    def facts(self) -> SourceFacts:
        """What was read."""
        return self._rows.facts

    def edges(self, role: str, ranks: Callable[[int], Ints]) -> ValueCounts:
        """Counts of a column, exact at some ranks."""

        def unsettled(counts: Sequence[RangeCounts]) -> list[Bools]:
            return [each.holding(ranks(each.rows)) for each in counts]

        return count_ranges(self._rows, role, np.empty(0), unsettled)[0].counts

    def counted(self, by: Floats, unsettled: Unsettled) -> tuple[RangeCounts, ...]:
        """Counts of the scores in each uncertainty bin, and last of all rows together."""
        return count_ranges(self._rows, "score", by, unsettled)

    def pooled(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Exact tie-pooled counts of the scores in each uncertainty bin."""
        return pooled_by(self._rows, "score", by)

    def isotonic(self, by: Floats) -> tuple[ValueCounts, ...]:
        """Blocks of the isotonic fit to the scores of each uncertainty bin, and last of all rows."""
        return isotonic_by(self._rows, "score", by)

    def rows(self) -> LabelledRows:
        """Every row of positive weight, in any order."""
        parts = list(self._rows.each(lambda part: part, ("score", "uncertainty")))
        weight = _join([part.weight for part in parts])
        positive = [np.arange(part.rows) >= part.negatives for part in parts]
        return LabelledRows(
            numbers={
                role: np.concatenate([values_of(part.keys[role]) for part in parts]) for role in parts[0].keys
            },
            positive=np.concatenate(positive),
            weight=weight,
            facts=self.facts,
        )


class LocalEngine:
    """Reads files on this machine, batch by batch."""

    def table(self, request: DataRequest) -> LocalTable:
        """Rows to be counted."""
        return LocalTable(request)

    def rows(self, request: DataRequest) -> LabelledRows:
        """Read the score, uncertainty, label and weight of every row.

        Raises
        ------
        DataError
            An input cannot be read, a column is missing, a value is unusable, or no row is left.
        """
        reader = self.batches(request)
        batches = list(reader)
        roles = reader.roles
        return LabelledRows(
            numbers={
                role: np.concatenate([rows.numbers[role] for rows in batches]) for role in roles.all_numbers()
            },
            positive=_join([rows.positive for rows in batches]),
            label_class=_join([rows.label_class for rows in batches]),
            classes=tuple(roles.classes),
            weight=_join([rows.weight for rows in batches]),
            groups={column: _groups(batches, column, reader.levels[column]) for column in roles.keys},
            features={
                each.name: _known_feature(batches, each)
                if each.known
                else whole_feature([rows.raw[each.name] for rows in batches], text=each.text)
                for each in roles.features
            },
            unnormalised=reader.unnormalised,
            facts=reader.facts,
        )

    def batches(self, request: DataRequest) -> LocalBatches:
        """Stream checked rows; unusable ones are left out."""
        return LocalBatches(request)

    def stream(self, request: ApplyRequest) -> ApplyFacts:
        """Stream files through a model (see uqcli.engines.local.write.streaming)."""
        from uqcli.engines.local.write.streaming import stream_through

        with opened(request.data) as (sources, roles):
            return stream_through(sources, replace(request, data=replace(request.data, roles=roles)))


def _join(
    parts: Sequence[np.ndarray[Any, np.dtype[Value]] | None],
) -> np.ndarray[Any, np.dtype[Value]] | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if given else None


def _known_feature(batches: Sequence[CheckedRows], request: FeatureRequest) -> Feature:
    value = np.concatenate([rows.features[request.name] for rows in batches])
    return Feature(levels=request.levels, value=value)


def _groups(batches: Sequence[CheckedRows], column: str, levels: Mapping[str, int]) -> Groups:
    """Rows by group, the groups sorted by name, without those that only dropped rows had."""
    number = np.concatenate([rows.keys[column] for rows in batches])
    used = np.bincount(number, minlength=len(levels)) > 0
    names = sorted(name for name, level in levels.items() if used[level])
    rank = np.zeros(len(levels), dtype=np.int64)
    rank[[levels[name] for name in names]] = np.arange(len(names))
    return Groups(names=tuple(names), number=rank[number])

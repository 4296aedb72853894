"""The engine of one machine: polars and Arrow readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from uqcli.counts import Feature
from uqcli.engines.inputs import resolve_inputs
from uqcli.engines.local.checks import RowChecker
from uqcli.engines.local.columns import require_columns
from uqcli.engines.local.failures import reading
from uqcli.engines.local.features import whole_feature
from uqcli.engines.local.sources import Source, open_sources
from uqcli.engines.protocol import ApplyFacts, ApplyRequest, CheckedRows, Groups, LabelledRows, SourceFacts
from uqcli.engines.request import DataRequest, FeatureRequest, Roles
from uqcli.errors import DataError

Value = TypeVar("Value", np.bool_, np.int64)


class LocalEngine:
    """Reads files on this machine, batch by batch."""

    def labelled_rows(self, request: DataRequest) -> LabelledRows:
        """Read the score, uncertainty, label and weight of every row.

        Raises
        ------
        DataError
            An input cannot be read, a column is missing, a value is unusable, or no row is left.
        """
        reader = self.checked_batches(request)
        batches = list(reader)
        roles = reader.roles
        positive = _join([rows.positive for rows in batches])
        label_class = _join([rows.label_class for rows in batches])
        return LabelledRows(
            numbers={
                role: np.concatenate([rows.numbers[role] for rows in batches]) for role in roles.all_numbers()
            },
            positive=positive,
            label_class=label_class,
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
            facts=SourceFacts(
                rows=sum(len(rows.valid) for rows in batches),
                positives=None if positive is None else int(np.count_nonzero(positive)),
                dropped=reader.dropped,
                columns=roles.named(),
            ),
        )

    def checked_batches(self, request: DataRequest) -> LocalBatches:
        """Stream checked rows; unusable ones are left out."""
        return LocalBatches(request)

    def apply(self, request: ApplyRequest) -> ApplyFacts:
        """Stream files through a model (see uqcli.engines.streaming)."""
        from uqcli.engines.local.streaming import stream_through

        with _sources(request.data) as (sources, roles):
            return stream_through(sources, replace(request, data=replace(request.data, roles=roles)))


class LocalBatches:
    """Usable rows of a request, in order."""

    def __init__(self, request: DataRequest) -> None:
        self._request = request
        self.roles = request.roles
        self.dropped = 0
        self.levels: Mapping[str, Mapping[str, int]] = {}
        self.unnormalised = 0.0

    def __iter__(self) -> Iterator[CheckedRows]:
        """Read batch by batch.

        Raises
        ------
        DataError
            At the end: what made rows unusable, or that none is left.
        """
        request = self._request
        with _sources(request) as (sources, roles):
            self.roles = roles
            checker = RowChecker(
                roles=roles, positive_value=request.positive_value, on_invalid=request.on_invalid
            )
            columns = roles.columns()
            for source in sources:
                for batch in source.batches(columns):
                    with reading(source.file):
                        rows = checker.check(batch)
                    yield rows.usable()
        checker.finish()
        self.dropped = checker.invalid
        self.levels, self.unnormalised = checker.levels, checker.unnormalised
        if checker.rows == checker.invalid:
            dropped = f" ({checker.invalid} were dropped)" if checker.invalid else ""
            raise DataError(f"no rows to work on{dropped}", expected="at least one row of data")


@contextmanager
def _sources(request: DataRequest) -> Iterator[tuple[tuple[Source, ...], Roles]]:
    """Open the inputs, and check that each has every needed column."""
    with ExitStack() as stack:
        files = resolve_inputs(request.inputs, request.read)
        sources = stack.enter_context(open_sources(files, request.read))
        roles = request.roles.expanded(sources[0].columns, sources[0].file.name)
        for source in sources:
            require_columns(source, roles)
        yield sources, roles


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

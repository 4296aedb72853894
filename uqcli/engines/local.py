"""The engine of one machine: polars and Arrow readers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from uqcli.engines.checks import CheckedRows, RowChecker
from uqcli.engines.columns import Roles, require_columns
from uqcli.engines.failures import reading
from uqcli.engines.inputs import resolve_inputs
from uqcli.engines.protocol import ApplyFacts, ApplyRequest, DataRequest, LabelledRows, SourceFacts
from uqcli.engines.sources import Source, open_sources
from uqcli.errors import DataError

Number = TypeVar("Number", np.float64, np.int64)


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
        roles = request.roles
        positive = np.concatenate([rows.positive for rows in batches if rows.positive is not None])
        return LabelledRows(
            score=np.concatenate([rows.score for rows in batches]),
            uncertainty=_join([rows.uncertainty for rows in batches])
            if "uncertainty" in roles.numbers
            else None,
            positive=positive,
            weight=_join([rows.weight for rows in batches]) if roles.weight else None,
            facts=SourceFacts(
                rows=len(positive),
                positives=int(np.count_nonzero(positive)),
                dropped=reader.dropped,
                columns=roles.named(),
            ),
        )

    def checked_batches(self, request: DataRequest) -> LocalBatches:
        """Stream checked rows; unusable ones are left out."""
        return LocalBatches(request)

    def apply(self, request: ApplyRequest) -> ApplyFacts:
        """Stream files through a model (see uqcli.engines.streaming)."""
        from uqcli.engines.streaming import stream_through

        with _sources(request.data) as (sources, roles):
            return stream_through(sources, replace(request, data=replace(request.data, roles=roles)))


class LocalBatches:
    """Usable rows of a request, in order."""

    def __init__(self, request: DataRequest) -> None:
        self._request = request
        self.dropped = 0

    def __iter__(self) -> Iterator[CheckedRows]:
        """Read batch by batch.

        Raises
        ------
        DataError
            At the end: what made rows unusable, or that none is left.
        """
        request = self._request
        with _sources(request) as (sources, roles):
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
        if checker.rows == checker.invalid:
            dropped = f" ({checker.invalid} were dropped)" if checker.invalid else ""
            raise DataError(f"no rows to work on{dropped}", expected="at least one row of data")


@contextmanager
def _sources(request: DataRequest) -> Iterator[tuple[tuple[Source, ...], Roles]]:
    """Open the inputs, and check that each has every needed column."""
    with ExitStack() as stack:
        files = resolve_inputs(request.inputs, request.read)
        sources = stack.enter_context(open_sources(files, request.read))
        roles = request.roles.expanded(sources[0])
        for source in sources:
            require_columns(source, roles)
        yield sources, roles


def _join(parts: list[np.ndarray[Any, np.dtype[Number]] | None]) -> np.ndarray[Any, np.dtype[Number]]:
    return np.concatenate([part for part in parts if part is not None])

"""Output of the commands that add columns, and what their reports say of their input."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from uqcli.base.options import RowOutput
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, StreamRequest, StreamSummary
from uqcli.engines.request import DataRequest


def stream(
    data: DataRequest,
    added: AddedColumns,
    output: RowOutput,
    only: str | None = None,
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> StreamSummary:
    """Add columns to the rows of the inputs.

    ``only`` is the added column that selects the rows to write; None for all. Rows outside the ranges of
    numbers, by role, are counted.
    """
    return open_engine(data.engine).stream(
        StreamRequest(data=data, added=added, output=output, only=only, ranges=ranges)
    )


class WrittenRows(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs: rows written, rows dropped, column names by role."""

    rows: int
    dropped: int
    columns: dict[str, str]

"""Output options shared by the commands that add columns."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from uqcli.choices import FileFormat
from uqcli.engines.inputs import format_of
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, Destination, StreamRequest, StreamSummary
from uqcli.engines.request import DataRequest
from uqcli.records import dataclass


@dataclass(frozen=True, kw_only=True)
class RowsOutput(Destination):
    """Output of rows and options for its columns.

    Attributes
    ----------
    prefix
        Prefix of the added columns' names.
    overwrite
        Whether to replace existing columns of these names.
    union
        Whether inputs may differ in their other columns.
    """

    prefix: str = ""
    overwrite: bool = False
    union: bool = False

    @property
    def supports_lists(self) -> bool:
        """Whether a column may contain lists."""
        return format_of(self.target, self.file_format) is not FileFormat.CSV


def stream(
    data: DataRequest,
    added: AddedColumns,
    output: RowsOutput,
    only: str | None = None,
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> StreamSummary:
    """Add columns to the rows of the inputs.

    Parameters
    ----------
    only
        Added column that selects the rows to write; None for all rows.
    ranges
        Ranges of numbers by role, outside which rows are counted.

    Raises
    ------
    UsageError, DataError
        The rows cannot be read, or the output cannot be written.
    """
    return open_engine(data.engine).stream(
        StreamRequest(
            data=data,
            added=added,
            output=output,
            overwrite=output.overwrite,
            union=output.union,
            only=only,
            ranges=ranges,
        )
    )

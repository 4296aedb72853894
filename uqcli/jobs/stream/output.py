"""Where rows go that pass through: what commands that add columns have in common."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.choices import FileFormat
from uqcli.engines.inputs import format_of
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, Destination, StreamFacts, StreamRequest
from uqcli.engines.request import DataRequest


@dataclass(frozen=True, kw_only=True)
class RowsOutput(Destination):
    """Where rows go, and what becomes of their columns.

    Attributes
    ----------
    prefix
        Put before the added columns' names.
    overwrite
        Whether existing columns of those names are replaced.
    union
        Whether inputs may differ in other columns.
    """

    prefix: str = ""
    overwrite: bool = False
    union: bool = False

    @property
    def lists(self) -> bool:
        """Whether a column may hold lists."""
        return format_of(self.place, self.file_format) is not FileFormat.CSV


def stream(data: DataRequest, added: AddedColumns, output: RowsOutput) -> StreamFacts:
    """Stream rows and add columns.

    Raises
    ------
    UsageError, DataError
        See the engine.
    """
    return open_engine(data.engine).stream(
        StreamRequest(data=data, added=added, output=output, overwrite=output.overwrite, union=output.union)
    )

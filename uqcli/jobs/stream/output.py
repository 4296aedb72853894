"""Where rows go that pass through: what commands that add columns have in common."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.choices import FileFormat
from uqcli.engines.inputs import format_of
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, ApplyFacts, ApplyRequest
from uqcli.engines.request import DataRequest
from uqcli.files import STDIO, Held


@dataclass(frozen=True, kw_only=True)
class RowsOutput:
    """Where rows go, and what becomes of their columns.

    Attributes
    ----------
    place
        Path, or ``-`` for standard output.
    file_format
        None means what the place's name says.
    prefix
        Put before the added columns' names.
    overwrite
        Whether existing columns of those names are replaced.
    union
        Whether inputs may differ in other columns.
    held
        Where a regular file waits for its commit; None lets it take its place at once.
    """

    place: str = STDIO
    file_format: FileFormat | None = None
    prefix: str = ""
    overwrite: bool = False
    union: bool = False
    held: Held | None = None

    @property
    def lists(self) -> bool:
        """Whether a column may hold lists."""
        return format_of(self.place, self.file_format) is not FileFormat.CSV


def stream(data: DataRequest, added: AddedColumns, output: RowsOutput) -> ApplyFacts:
    """Stream rows and add columns.

    Raises
    ------
    UsageError, DataError
        See the engine.
    """
    return open_engine(data.engine).stream(
        ApplyRequest(
            data=data,
            added=added,
            output=output.place,
            output_format=output.file_format,
            overwrite=output.overwrite,
            union=output.union,
            held=output.held,
        )
    )

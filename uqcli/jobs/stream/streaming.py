"""What all commands that add columns to rows have in common."""

from __future__ import annotations

from dataclasses import dataclass

from uqcli.choices import EngineName, FileFormat, OnInvalid
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import AddedColumns, ApplyFacts, ApplyRequest
from uqcli.engines.request import DataRequest, ReadOptions, Roles
from uqcli.files import Held


@dataclass(frozen=True, kw_only=True)
class Streaming:
    """Where rows come from and go to.

    Attributes
    ----------
    output
        Path, or ``-`` for standard output.
    prefix
        Put before the added columns' names.
    overwrite
        Whether existing columns of those names are replaced.
    union
        Whether inputs may differ in other columns.
    held
        Where a regular file waits for its commit; None lets it take its place at once.
    """

    inputs: tuple[str, ...]
    output: str
    output_format: FileFormat | None = None
    read: ReadOptions = ReadOptions()
    on_invalid: OnInvalid = OnInvalid.ERROR
    prefix: str = ""
    overwrite: bool = False
    union: bool = False
    engine: EngineName = EngineName.POLARS
    held: Held | None = None

    def through(self, roles: Roles, added: AddedColumns) -> ApplyFacts:
        """Stream the rows and add columns.

        Raises
        ------
        UsageError, DataError
            See the engine.
        """
        data = DataRequest(inputs=self.inputs, roles=roles, read=self.read, on_invalid=self.on_invalid)
        return open_engine(self.engine).stream(
            ApplyRequest(
                data=data,
                added=added,
                output=self.output,
                output_format=self.output_format,
                overwrite=self.overwrite,
                union=self.union,
                held=self.held,
            )
        )

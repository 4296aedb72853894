"""One input as batches of rows, whatever its format.

Fitting asks for a few columns and gets polars frames; applying asks for everything and gets blocks
that can be written again as they were: text for CSV and JSON lines, Arrow record batches otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from uqcli.counts import Bools
from uqcli.defaults import ROWS_PER_BATCH
from uqcli.engines.inputs import Origin
from uqcli.running.progress import tell

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from uqcli.engines.local.read.csv_text import CsvBlock
    from uqcli.engines.local.read.json_lines import JsonBlock

Block: TypeAlias = "CsvBlock | JsonBlock | pa.RecordBatch"
"""Rows as they stand in an input."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows of one input.

    Attributes
    ----------
    frame
        The columns asked for.
    short : bool, shape (rows,), or None
        Rows with fewer fields than the header (CSV only).
    first_row
        Position of the first row in its input, from 0.
    cut
        Whether the last row has no line end, as where a file was cut off (CSV only).
    """

    frame: pl.DataFrame
    short: Bools | None
    first_row: int
    origin: Origin
    cut: bool = False

    def after(self, start: int) -> Batch:
        """Without the rows before a position in the input."""
        early = start - self.first_row
        if early <= 0:
            return self
        short = None if self.short is None else self.short[early:]
        return replace(self, frame=self.frame[early:], short=short, first_row=start)

    def column(self, name: str) -> pl.Series:
        """One of the columns, without its name: polars reads a name such as ``^a$`` as a pattern."""
        return self.frame.get_column(name).alias("")

    def place(self, at: int) -> str:
        """Where one of its rows is found, as messages say it."""
        return self.origin.place(self.first_row + at)


def tell_of_reading(sources: Sequence[OpenedInput], number: int, rows: int) -> None:
    """Say how far the reading of inputs is, in the one of some number."""
    tell("reading", rows, "rows", (number + sources[number].share) / len(sources))


class OpenedInput(Protocol):
    """One opened input."""

    @property
    def origin(self) -> Origin:
        """The input."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""

    @property
    def share(self) -> float:
        """About how much of it the last reading has passed, from 0 to 1."""

    def rows_expected(self) -> int | None:
        """About how many rows it has; None where only reading it tells."""

    def batches(self, columns: Sequence[str], start: int = 0, most: int = ROWS_PER_BATCH) -> Iterator[Batch]:
        """Rows in order, of some columns, from the row at position ``start`` on.

        Parameters
        ----------
        most
            About how many at a time, where the format leaves the choice.
        """

    def blocks(self) -> Iterator[Block]:
        """Rows in order, of all columns, as they stand in the input."""

"""Interface of an opened input, independent of its format.

Fits request a few columns as polars frames. ``apply`` requests blocks that can be written again verbatim:
text for CSV and JSON lines, Arrow record batches otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from uqcli.base.counts import Bools
from uqcli.base.defaults import ROWS_PER_BATCH
from uqcli.base.records import dataclass
from uqcli.base.running.progress import report_progress
from uqcli.engines.inputs import Origin

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from uqcli.engines.local.read.csv_text import CsvBlock
    from uqcli.engines.local.read.json_lines import JsonBlock

Block: TypeAlias = "CsvBlock | JsonBlock | pa.RecordBatch"
"""Rows in the form of their input."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows of one input.

    Attributes
    ----------
    short : bool, shape (rows,), or None
        Rows with fewer fields than the header (CSV only).
    first_row
        Position of the first row in its input, 0-based.
    cut
        Whether the last row lacks a line end, as in a truncated file (CSV only).
    decimal
        Decimal mark of numbers (CSV only).
    footer
        Text of the last row if it is a line that programs write after the rows, such as ``(2000 rows)``, or
        ``Ctrl-Z`` (CSV only).
    """

    frame: pl.DataFrame
    short: Bools | None
    first_row: int
    origin: Origin
    cut: bool = False
    decimal: str | None = None
    footer: str | None = None

    def after(self, start: int) -> Batch:
        """Drop the rows before a position in the input."""
        early = start - self.first_row
        if early <= 0:
            return self
        short = None if self.short is None else self.short[early:]
        return replace(self, frame=self.frame[early:], short=short, first_row=start)

    def before(self, end: int) -> Batch:
        """Drop the rows from a position in the input on."""
        rows = max(0, end - self.first_row)
        if rows >= self.frame.height:
            return self
        short = None if self.short is None else self.short[:rows]
        return replace(self, frame=self.frame[:rows], short=short, cut=False, footer=None)

    def column(self, name: str) -> pl.Series:
        """Return a column without its name, since polars reads a name such as ``^a$`` as a pattern."""
        return self.frame.get_column(name).alias("")

    def pointed(self, text: pl.Series) -> pl.Series:
        """Return texts of numbers with a decimal point; a point in a number with a comma makes it none."""
        if self.decimal != ",":
            return text
        return text.str.replace_many([",", "."], [".", ","])

    def location(self, row: int) -> str:
        """Describe the location of a row for messages."""
        return self.origin.location(self.first_row + row)


def report_reading(sources: Sequence[OpenedInput], input_index: int, rows: int) -> None:
    """Report the progress of reading, within the input at a given index."""
    report_progress("reading", rows, "rows", (input_index + sources[input_index].share) / len(sources))


class OpenedInput(Protocol):
    """An opened input."""

    @property
    def origin(self) -> Origin:
        """The input."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""

    @property
    def share(self) -> float:
        """Approximate fraction that the last pass has read, from 0 to 1."""

    def rows_expected(self) -> int | None:
        """Estimate the number of rows; None if unknown before reading."""

    def batches(
        self, columns: Sequence[str], start: int = 0, max_rows: int = ROWS_PER_BATCH
    ) -> Iterator[Batch]:
        """Iterate over selected columns, from row ``start`` on.

        Parameters
        ----------
        max_rows
            Approximate number of rows per batch, if the format leaves a choice.
        """

    def blocks(self) -> Iterator[Block]:
        """Iterate over all columns, in the form of the input."""

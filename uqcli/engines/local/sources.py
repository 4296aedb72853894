"""One input as batches of rows, whatever its format.

Fitting asks for a few columns and gets polars frames; applying asks for everything and gets blocks
that can be written again as they were: text for CSV, Arrow record batches otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeAlias, cast

import polars as pl

from uqcli.choices import FileFormat
from uqcli.counts import Bools
from uqcli.defaults import ROWS_PER_BATCH
from uqcli.engines.inputs import InputFile
from uqcli.engines.local.csv_text import CsvBlock, CsvDialect, CsvHeader, read_blocks, read_header
from uqcli.engines.local.failures import reading
from uqcli.engines.local.metadata import with_text_only
from uqcli.engines.local.streams import bytes_of, copied, open_stream
from uqcli.engines.request import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa

Numbered: TypeAlias = "tuple[int, pa.RecordBatch]"
"""Rows with the position of the first in their file."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows of one file.

    Attributes
    ----------
    frame
        The columns asked for.
    short : bool, shape (rows,), or None
        Rows with fewer fields than the header (CSV only).
    first_row
        Position of the first row in its file, from 0.
    """

    frame: pl.DataFrame
    short: Bools | None
    first_row: int
    file: InputFile

    def after(self, start: int) -> Batch:
        """Without the rows before a position in the file."""
        early = start - self.first_row
        if early <= 0:
            return self
        short = None if self.short is None else self.short[early:]
        return Batch(frame=self.frame[early:], short=short, first_row=start, file=self.file)


class OpenedInput(Protocol):
    """One opened input."""

    file: InputFile

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""

    def batches(self, columns: Sequence[str], start: int = 0, most: int = ROWS_PER_BATCH) -> Iterator[Batch]:
        """Rows in order, of some columns, from the row at position ``start`` on.

        Parameters
        ----------
        most
            About how many at a time, where the format leaves the choice.
        """

    def blocks(self) -> Iterator[CsvBlock | pa.RecordBatch]:
        """Rows in order, of all columns, as they stand in the file."""


@contextmanager
def open_sources(files: Sequence[InputFile], options: ReadOptions) -> Iterator[tuple[OpenedInput, ...]]:
    """Open inputs for one reading; spooled copies go when the block ends."""
    with ExitStack() as stack:
        yield tuple(_open(file, options, stack) for file in files)


def _open(file: InputFile, options: ReadOptions, stack: ExitStack) -> OpenedInput:
    if file.regular and file.format is FileFormat.CSV:
        return CsvSource(file, options)
    if file.regular:
        return ColumnarSource(file, cast(Path, file.path))
    found, stream = open_stream(file, stack)
    if found.format is FileFormat.CSV:
        return CsvSource(found, options, stream)
    with reading(found):
        return ColumnarSource(found, copied(stream, stack))


class CsvSource:
    """A CSV file, or a stream that is read once."""

    def __init__(self, file: InputFile, options: ReadOptions, stream: BinaryIO | None = None) -> None:
        self.file = file
        self._options = options
        self._stream = stream
        self._rest = b""

    @cached_property
    def dialect(self) -> CsvDialect:
        """Column names and delimiter."""
        with reading(self.file):
            if self._stream is None:
                with bytes_of(self.file) as stream:
                    header = self._header(stream)
            else:
                header = self._header(self._stream)
                self._rest = header.rest
        return CsvDialect(
            name=self.file.name,
            columns=header.columns,
            delimiter=self.file.delimiter,
            header=header.text,
            line_end=header.line_end,
            null_values=self._options.null_values,
        )

    def _header(self, stream: BinaryIO) -> CsvHeader:
        return read_header(stream, self.file.name, self.file.delimiter)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return self.dialect.columns

    def batches(self, columns: Sequence[str], start: int = 0, most: int = ROWS_PER_BATCH) -> Iterator[Batch]:
        """Rows in order, of some columns, as text, from the row at position ``start`` on."""
        del most  # blocks of text are equally long
        for block in self.blocks():
            if block.first_row + block.rows > start:
                batch = Batch(
                    frame=block.values(columns), short=block.short, first_row=block.first_row, file=self.file
                )
                yield batch.after(start)

    def blocks(self) -> Iterator[CsvBlock]:
        """Records in order, as text."""
        dialect = self.dialect
        with reading(self.file):
            if self._stream is not None:
                yield from read_blocks(self._stream, self._rest, dialect)
                return
            with bytes_of(self.file) as stream:
                yield from read_blocks(stream, self._header(stream).rest, dialect)


class ColumnarSource:
    """A Parquet or Arrow file, or a spooled copy of a stream."""

    def __init__(self, file: InputFile, path: Path) -> None:
        self.file = file
        self._path = path

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        with reading(self.file):
            return tuple(self.arrow_schema.names)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Column names and types, with the file's own metadata."""
        with reading(self.file):
            if self.file.format is FileFormat.PARQUET:
                import pyarrow.parquet as pq

                return with_text_only(pq.read_schema(self._path))
            with self._open_arrow() as batches:
                return with_text_only(batches.schema)

    def batches(self, columns: Sequence[str], start: int = 0, most: int = ROWS_PER_BATCH) -> Iterator[Batch]:
        """Rows in order, of some columns, from the row at position ``start`` on."""
        with reading(self.file):
            for row, record in self._record_batches(list(dict.fromkeys(columns)), start, most):
                if row + len(record) > start:
                    frame = cast(pl.DataFrame, pl.from_arrow(record))
                    batch = Batch(frame=frame, short=None, first_row=row, file=self.file)
                    yield batch.after(start)

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Rows in order, of all columns."""
        for _, batch in self._record_batches(None, 0, ROWS_PER_BATCH):
            yield batch

    def _record_batches(self, columns: list[str] | None, start: int, most: int) -> Iterator[Numbered]:
        """Rows in order, with the position of the first in the file; some before ``start`` may come, too.

        A damaged file never reaches code that trusts it and would end the process.
        """
        with reading(self.file):
            batches = self._of_parquet if self.file.format is FileFormat.PARQUET else self._of_arrow
            for row, batch in batches(columns, start, most):
                wanted = batch if columns is None else batch.select(columns)
                wanted.validate(full=True)
                schema = with_text_only(wanted.schema)
                # the same object where nothing is left out
                if schema is not wanted.schema:
                    wanted = wanted.from_arrays(wanted.columns, schema=schema)
                yield row, wanted

    def _of_parquet(self, columns: list[str] | None, start: int, most: int) -> Iterator[Numbered]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(self._path, pre_buffer=False) as parquet:  # buffers grow with the file
            groups = [parquet.metadata.row_group(each).num_rows for each in range(parquet.num_row_groups)]
            row = first = 0
            while start and first < len(groups) and row + groups[first] <= start:
                row += groups[first]
                first += 1
            left = None if first == 0 else list(range(first, len(groups)))
            yield from _numbered(parquet.iter_batches(batch_size=most, row_groups=left, columns=columns), row)

    def _of_arrow(self, columns: list[str] | None, start: int, most: int) -> Iterator[Numbered]:
        del columns, start, most  # all are mapped, none is read; the file says what a batch is
        with self._open_arrow() as batches:
            yield from _numbered(batches, 0)

    @contextmanager
    def _open_arrow(self) -> Iterator[_ArrowBatches]:
        """Open the Arrow file or stream format, whichever the first bytes tell."""
        import pyarrow as pa

        with pa.memory_map(str(self._path), "r") as mapped:
            if mapped.size() >= 6 and mapped.read(6) == b"ARROW1":
                reader = pa.ipc.open_file(mapped)
                yield _ArrowBatches(reader.schema, map(reader.get_batch, range(reader.num_record_batches)))
            else:
                mapped.seek(0)
                stream = pa.ipc.open_stream(mapped)
                yield _ArrowBatches(stream.schema, iter(stream))


def _numbered(batches: Iterable[pa.RecordBatch], row: int) -> Iterator[Numbered]:
    for batch in batches:
        yield row, batch
        row += len(batch)


class _ArrowBatches:
    """A schema and its record batches."""

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self.schema = schema
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._batches

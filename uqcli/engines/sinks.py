"""Writing rows as CSV, Parquet or Arrow to any stream of bytes."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol, cast

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from uqcli.choices import FileFormat
from uqcli.counts import Bools
from uqcli.engines.csv_text import CsvBlock
from uqcli.engines.inputs import facts_of_name
from uqcli.errors import DataError
from uqcli.files import open_output


class Sink(Protocol):
    """Takes tables of one schema, in order."""

    def write(self, table: pa.Table) -> None:
        """Append rows."""


class CsvSink:
    """Writes CSV; records that come from CSV of the same form are copied as text."""

    def __init__(self, stream: BinaryIO, schema: pa.Schema, delimiter: str) -> None:
        self._stream = stream
        self.delimiter = delimiter
        header = io.StringIO(newline="")
        csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
        stream.write(header.getvalue().encode())

    def write(self, table: pa.Table) -> None:
        """Append rows.

        Raises
        ------
        DataError
            A column holds lists or structs, which CSV cannot.
        """
        frame = cast(pl.DataFrame, pl.from_arrow(table))
        try:
            text = frame.write_csv(include_header=False, separator=self.delimiter)
        except pl.exceptions.ComputeError as error:
            raise DataError(
                f"these rows cannot be written as CSV: {error}", remedy="use --output-format parquet"
            ) from error
        self._stream.write(text.encode())

    def write_records(self, block: CsvBlock, added: pl.DataFrame, kept: Bools | None) -> None:
        """Append records as they stand, the added fields before each line end.

        Parameters
        ----------
        added
            One row for each record; nulls are empty fields.
        kept : bool, shape (rows,), or None
            Records to write; None for all.
        """
        records, line_ends = _split_records(block)
        fields = [pl.col(name).cast(pl.String).fill_null("") for name in added.columns]
        tail = added.select(pl.concat_str(*fields, separator=self.delimiter)).to_series()
        filling = _missing_delimiters(block, self.delimiter)
        tails = (filling + self.delimiter + tail).to_arrow().cast(pa.large_binary())
        lines = pc.binary_join_element_wise(records, tails, line_ends, pa.scalar(b"", pa.large_binary()))
        if kept is not None:
            lines = lines.filter(pa.array(kept))
        offsets = np.frombuffer(lines.buffers()[1], dtype=np.int64)[
            lines.offset : lines.offset + len(lines) + 1
        ]
        if len(lines):
            self._stream.write(memoryview(lines.buffers()[2])[int(offsets[0]) : int(offsets[-1])])


def _split_records(block: CsvBlock) -> tuple[pa.LargeBinaryArray, pa.LargeBinaryArray]:
    """The text of each record, and of its line end."""
    bounds = np.empty(2 * block.rows + 1, dtype=np.int64)
    bounds[0:-1:2], bounds[1::2], bounds[-1] = block.starts, block.ends, len(block.text)
    pieces = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), 2 * block.rows, [None, pa.py_buffer(bounds), pa.py_buffer(block.text)]
    )
    even = np.arange(0, 2 * block.rows, 2)
    return pieces.take(pa.array(even)), pieces.take(pa.array(even + 1))


def _missing_delimiters(block: CsvBlock, delimiter: str) -> pl.Series:
    """Delimiters that short records lack, so that added fields fall under their header."""
    missing = len(block.dialect.columns) - block.fields
    if not missing.any():
        return pl.Series([""]).new_from_index(0, block.rows)
    return pl.Series([delimiter * count for count in missing.tolist()], dtype=pl.String)


class ParquetSink:
    """Writes Parquet, one row group for each table."""

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        self._writer.write_table(table)


class ArrowSink:
    """Writes the Arrow file format."""

    def __init__(self, writer: pa.ipc.RecordBatchFileWriter) -> None:
        self._writer = writer

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        self._writer.write_table(table)


@contextmanager
def open_sink(output: str, output_format: FileFormat, schema: pa.Schema, delimiter: str) -> Iterator[Sink]:
    """Open a place for rows; a regular file appears only when the block ends well.

    Raises
    ------
    DataError
        The place cannot be written.
    """
    with open_output(output) as stream:
        if output_format is FileFormat.CSV:
            with _compressed(stream, facts_of_name(output).compression) as text:
                yield CsvSink(text, schema, delimiter)
        elif output_format is FileFormat.PARQUET:
            with pq.ParquetWriter(stream, schema) as parquet:
                yield ParquetSink(parquet)
        else:
            with pa.ipc.new_file(stream, schema) as arrow:
                yield ArrowSink(arrow)


class _LeftOpen:
    """A stream that stays open when a compressor on top of it is closed."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write
        self.flush = stream.flush

    def close(self) -> None:
        """Leave closing to the owner of the stream."""


@contextmanager
def _compressed(stream: BinaryIO, compression: str | None) -> Iterator[BinaryIO]:
    if compression == "gzip":
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif compression == "zstd":
        with pa.CompressedOutputStream(_LeftOpen(stream), "zstd") as packed:
            yield cast(BinaryIO, packed)
    else:
        yield stream

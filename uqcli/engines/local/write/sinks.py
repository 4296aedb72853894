"""Write rows as CSV, JSON lines, Parquet or Arrow to a binary stream."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import compress
from typing import BinaryIO, Final, TypeAlias, cast

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from uqcli.base.choices import FileFormat
from uqcli.base.counts import Bools
from uqcli.base.defaults import DECIMAL, ROWS_PER_BATCH
from uqcli.base.errors import DataError, words
from uqcli.base.files import AT_ONCE, AtOnce
from uqcli.base.running.concurrency import Threads
from uqcli.base.running.messages import caution
from uqcli.base.wording import printable
from uqcli.engines.inputs import inferred_format
from uqcli.engines.local.arrow import arrow_of, bytes_of, frame_of
from uqcli.engines.local.read.csv_text import CsvBlock, csv_record
from uqcli.engines.local.read.json_lines import JsonBlock
from uqcli.engines.local.read.sizes import row_bytes
from uqcli.stores.output import open_output

_GZIP_LEVEL: Final = 1
"""Level of compression: the highest takes ten times as long, for files a tenth smaller."""

_BYTES_PER_GROUP: Final = 1 << 26
"""Bytes of a row group from which it is written with fewer rows; no option changes them, nor the output."""


class CsvSink:
    """Writes CSV; fields from CSV of the same delimiter are copied verbatim.

    The names of the added columns are appended to the header of the input; None to write a new one.
    """

    def __init__(
        self,
        stream: BinaryIO,
        names: Sequence[str],
        *,
        delimiter: str,
        line_end: bytes = b"\n",
        header: bytes | None = None,
        added: int = 0,
        decimal: str = DECIMAL,
    ) -> None:
        self._stream = stream
        self._names = tuple(names)
        self.delimiter, self._line_end, self._decimal = delimiter, line_end, decimal
        self._between = bytes_of(delimiter.encode())
        if header is None:
            stream.write(self._record(self._names))
        else:
            stream.write(header + delimiter.encode() + self._record(self._names[-added:]))

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        text = frame_of(table).write_csv(
            include_header=False,
            separator=self.delimiter,
            line_terminator=self._line_end.decode(),
            decimal_comma=self._decimal == ",",
        )
        self._stream.write(text.encode())

    def write_block(self, block: CsvBlock, added: pl.DataFrame, kept_rows: Bools | None) -> None:
        """Append records, with each added field in its column; nulls become empty fields.

        Added fields have one row per record. The mask of shape (rows,) has the records to write; None for
        all.
        """
        import pyarrow.compute as pc  # a tenth of a small job

        new = {name: self._as_bytes(added[name]) for name in added.columns}
        if block.short is None and (*block.dialect.columns, *new) == self._names:
            fields = [block.records(), *new.values()]
        else:
            old = dict(zip(block.dialect.columns, block.raw_fields(), strict=True))
            empty = arrow_of(pl.repeat(b"", block.rows, dtype=pl.Binary, eager=True))
            fields = [(old | new).get(name, empty) for name in self._names]
        records = pc.binary_join_element_wise(*fields, self._between)
        records = pc.binary_join_element_wise(records, block.line_ends(), bytes_of(b""))
        _write_bytes(self._stream, records if kept_rows is None else records.filter(arrow_of(kept_rows)))

    def _record(self, names: Sequence[str]) -> bytes:
        return csv_record(names, self.delimiter) + self._line_end

    def _as_bytes(self, column: pl.Series) -> pa.LargeBinaryArray:
        """Return the fields of a column, empty for null; texts are quoted as polars does."""
        text = column.cast(pl.String)
        if column.dtype.is_float() and self._decimal != DECIMAL:
            text = text.str.replace(DECIMAL, self._decimal, literal=True)
        if column.dtype == pl.String or self.delimiter == self._decimal:
            text = _quoted(text, self.delimiter)
        return text.fill_null("").to_arrow().cast(pa.large_binary())


def _quoted(text: pl.Series, delimiter: str) -> pl.Series:
    """Quote the texts that would not be read back as they are."""
    needed = text.str.contains_any([delimiter, '"', "\n", "\r"]) | (text == "")
    quoted = '"' + text.str.replace_all('"', '""', literal=True) + '"'
    return quoted.zip_with(needed.fill_null(value=False), text)


def _write_bytes(stream: BinaryIO, values: pa.LargeBinaryArray) -> None:
    """Write the values' bytes contiguously."""
    if len(values):
        _, offsets, content = values.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64)[[values.offset, values.offset + len(values)]]
        stream.write(memoryview(content)[int(bounds[0]) : int(bounds[1])])


class JsonSink:
    """Writes JSON lines; records from JSON lines keep their text."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        frame = frame_of(table)
        for name, kind in frame.schema.items():
            if "Binary" in str(kind):  # also nested: polars panics on binary
                raise DataError(
                    f"column '{name}' holds bytes, which JSON lacks",
                    expected="strings or numbers",
                    remedy=words("choose another --output-format, or leave the column out"),
                )
        for name in frame.columns:
            if _has_other_than_finite(frame.get_column(name).alias("")):  # a name such as ^a$ is a pattern
                caution(
                    "null-in-json",
                    f"column '{printable(name)}' has NaN or infinite numbers, written as null in JSON.",
                )
        self._stream.write(
            frame.write_ndjson().encode()
        )  # polars would turn a closed pipe into its own error

    def write_block(
        self, block: JsonBlock, added: pl.DataFrame, kept_rows: Bools | None, *, overwrite: bool
    ) -> None:
        """Append records with the added keys at the end, or in place of the old ones if ``overwrite``.

        Added keys have one row per record. The mask of shape (rows,) has the records to write; None for all.
        """
        tails = added.write_ndjson().encode().split(b"\n")
        records = block.text.split(b"\n")
        if not overwrite:
            block.require_without(added.columns)
        elif block.may_have(added.columns):
            merged = [_merged(*pair, added.columns) for pair in zip(records, tails, strict=True)]
            records, tails = [record for record, _ in merged], [tail for _, tail in merged]
        heads = (record[:-1].rstrip() for record in records)
        lines = (
            head + (b"," if len(head) > 1 and len(tail) > 2 else b"") + tail[1:] + b"\n"
            for head, tail in zip(heads, tails, strict=True)
            if head
        )
        self._stream.write(b"".join(lines if kept_rows is None else compress(lines, kept_rows.tolist())))


def _has_other_than_finite(column: pl.Series) -> bool:
    """Whether a column of floating-point numbers, or of lists of them, has NaN or an infinity."""
    while isinstance(column.dtype, pl.List | pl.Array):
        column = column.explode()
    return column.dtype.is_float() and not column.is_finite().all()


def _merged(record: bytes, tail: bytes, keys: Sequence[str]) -> tuple[bytes, bytes]:
    """Replace the values of existing keys in a record; return it and what is left to append."""
    if not record or set(keys).isdisjoint(json.loads(record)):
        return record, tail
    try:
        texts = {**msgspec.json.decode(record, type=_TEXTS), **msgspec.json.decode(tail, type=_TEXTS)}
    except msgspec.DecodeError as error:
        raise DataError(
            f"cannot replace a value in a record: {error}",
            remedy=words("give --prefix P instead of --overwrite"),
        ) from error
    return msgspec.json.encode(texts), b"{}"


_TEXTS = dict[str, msgspec.Raw]


class ColumnarSink:
    """Writes Parquet or Arrow in row groups of so many rows or bytes, whatever the input batches.

    A thread writes a group while the next one is read and decided.
    """

    def __init__(self, writer: pq.ParquetWriter | pa.ipc.RecordBatchFileWriter) -> None:
        self._writer = writer
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        self._thread = Threads(max_workers=1)
        self._writing: Future[None] | None = None

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        for batch in table.to_batches():
            left, sizes = batch, row_bytes(batch)
            while left.num_rows:
                ends = np.cumsum(sizes)
                fitting = int(np.searchsorted(ends, _BYTES_PER_GROUP - self._bytes)) + 1
                rows = min(fitting, ROWS_PER_BATCH - self._rows, left.num_rows)
                self._waiting.append(left.slice(0, rows))
                self._rows, self._bytes = self._rows + rows, self._bytes + int(ends[rows - 1])
                left, sizes = left.slice(rows), sizes[rows:]
                if self._rows >= ROWS_PER_BATCH or self._bytes >= _BYTES_PER_GROUP:
                    self._flush()

    def finish(self) -> None:
        """Write the remaining rows."""
        if self._rows:
            self._flush()
        self._settle()

    def stop(self) -> None:
        """Wait for the thread, whether it succeeded or not."""
        self._thread.shutdown(wait=True)

    def _settle(self) -> None:
        """Wait for the group being written and raise its error."""
        if self._writing is not None:
            try:
                self._writing.result()
            except pa.ArrowNotImplementedError as error:
                raise _not_writable(error) from error

    def _flush(self) -> None:
        group = pa.Table.from_batches(self._waiting).combine_chunks()
        self._waiting, self._rows, self._bytes = [], 0, 0
        self._settle()
        self._writing = self._thread.submit(self._writer.write_table, group)


Sink: TypeAlias = CsvSink | JsonSink | ColumnarSink
"""Writes tables of one schema, in order."""


@contextmanager
def open_sink(
    output: str,
    output_format: FileFormat,
    schema: pa.Schema,
    csv: Callable[[BinaryIO, Sequence[str]], CsvSink],
    queue: AtOnce = AT_ONCE,
) -> Iterator[Sink]:
    """Open an output for rows; a regular file appears, or is queued, only if the block succeeds.

    ``csv`` makes the sink of CSV from a stream and the names of all columns.
    """
    with open_output(output, queue) as stream:
        if output_format is FileFormat.CSV:
            with _compressed(stream, inferred_format(output).compression) as text:
                yield csv(text, schema.names)
        elif output_format is FileFormat.JSONL:
            with _compressed(stream, inferred_format(output).compression) as text:
                yield JsonSink(text)
        elif output_format is FileFormat.PARQUET:
            texts = [_path_of_texts(field) for field in schema if _holds_texts(field.type)]
            with _parquet_writer(stream, schema, texts) as parquet:
                yield from _columnar(parquet)
        else:
            with pa.ipc.new_file(stream, schema) as arrow:
                yield from _columnar(arrow)


def _columnar(writer: pq.ParquetWriter | pa.ipc.RecordBatchFileWriter) -> Iterator[ColumnarSink]:
    rows = ColumnarSink(writer)
    try:
        yield rows
        rows.finish()
    finally:
        rows.stop()


def _parquet_writer(stream: BinaryIO, schema: pa.Schema, texts: list[str]) -> pq.ParquetWriter:
    """Open a writer with dictionaries for texts only: numbers seldom repeat, and theirs would take long."""
    try:
        return pq.ParquetWriter(stream, schema, compression="zstd", use_dictionary=texts or False)
    except pa.ArrowNotImplementedError as error:
        raise _not_writable(error) from error


def _not_writable(error: pa.ArrowNotImplementedError) -> DataError:
    return DataError(
        f"cannot write the rows: {error}",
        expected="column types that the format supports",
        remedy=words("choose another --output-format"),
    )


def _holds_texts(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_large_list(kind) or pa.types.is_list(kind) else kind
    return bool(pa.types.is_large_string(inner) or pa.types.is_string(inner) or pa.types.is_dictionary(inner))


def _path_of_texts(field: pa.Field) -> str:
    is_list = pa.types.is_large_list(field.type) or pa.types.is_list(field.type)
    return f"{field.name}.list.element" if is_list else str(field.name)


class _LeftOpen:
    """A stream that stays open when a compressor on top of it is closed."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write
        self.flush = stream.flush

    def close(self) -> None:
        """Do nothing: the owner of the stream closes it."""


@contextmanager
def _compressed(stream: BinaryIO, compression: str) -> Iterator[BinaryIO]:
    if compression == "gzip":
        with gzip.GzipFile(
            filename="", fileobj=stream, mode="wb", mtime=0, compresslevel=_GZIP_LEVEL
        ) as packed:
            yield cast(BinaryIO, packed)
    elif compression == "zstd":
        with pa.CompressedOutputStream(_LeftOpen(stream), "zstd") as packed:
            yield cast(BinaryIO, packed)
    else:
        yield stream

"""Read JSON lines: selected columns as text, or whole records verbatim."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, Final

import polars as pl

from uqcli.base.defaults import ROWS_PER_BATCH
from uqcli.base.errors import DataError
from uqcli.engines.inputs import InputFile, require_text
from uqcli.engines.local.arrow import table_of
from uqcli.engines.local.read.csv_text import BOM
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.json_lines import JsonBlock, read_json_blocks
from uqcli.engines.local.read.partitioned import (
    keys_beside,
    require_equal_keys,
    rows_with_keys,
    schema_with_keys,
    with_keys,
)
from uqcli.engines.local.read.source import Batch
from uqcli.engines.local.read.streams import bytes_of, filled, lines_expected, size_of
from uqcli.engines.request import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD_RECORDS: Final = 1000
"""Number of first records whose keys define the columns."""

_HEAD_BYTES: Final = 1 << 20
_MAX_HEAD_BYTES: Final = 16 << 20


class JsonSource:
    """A file of JSON lines, or a stream that can be read once."""

    def __init__(self, file: InputFile, options: ReadOptions, stream: BinaryIO | None = None) -> None:
        self.origin = file
        self._options = options
        self._stream = stream
        self._rest = b""
        self.share = 0.0

    @property
    def columns(self) -> tuple[str, ...]:
        """Keys of the first thousand records in order of appearance, then the partition columns."""
        return (*self._names, *self.keys)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Keys and types of the first thousand records, null without a value; partition columns come last."""
        return schema_with_keys(table_of(self._beginning).schema, self.keys)

    @cached_property
    def keys(self) -> dict[str, str | None]:
        """Partition columns."""
        return keys_beside(self.origin, self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        with reading(self.origin):
            return self._first.keys(_HEAD_RECORDS)

    @cached_property
    def _beginning(self) -> pl.DataFrame:
        with reading(self.origin):
            return self._first.beginning(_HEAD_RECORDS).clear()

    @cached_property
    def _schema(self) -> pa.Schema:
        """Keys and types of the records; a key without a value yet is text."""
        return table_of(self._beginning.with_columns(pl.col(pl.Null).cast(pl.String))).schema

    @property
    def _first(self) -> JsonBlock:
        if self.is_empty:
            raise DataError(f"{self.origin.display_name} is empty", expected="one JSON object per line")
        return next(read_json_blocks(io.BytesIO(self._head), b"", self.origin.name, ()))

    @property
    def is_empty(self) -> bool:
        """Whether there are no records."""
        return not self._head.removeprefix(BOM).strip()

    @cached_property
    def _head(self) -> bytes:
        """First complete lines; those of a stream are kept for the reading that follows."""
        with reading(self.origin):
            if self._stream is None:
                with bytes_of(self.origin) as stream:
                    text = _beginning(stream)
            else:
                text = self._rest = _beginning(self._stream)
        require_text(text, self.origin.name)
        return text[: text.rfind(b"\n") + 1] or text

    def rows_expected(self) -> int | None:
        """Estimate the number of rows from the length of the first lines."""
        return None if self._stream is not None else lines_expected(self.origin)

    def batches(
        self, columns: Sequence[str], start: int = 0, max_rows: int = ROWS_PER_BATCH
    ) -> Iterator[Batch]:
        """Iterate over selected columns as text, from row ``start`` on."""
        del max_rows  # text blocks have a fixed size
        for block in self.blocks():
            if block.first_row + block.rows > start:
                yield self.batch(block, columns).after(start)

    def batch(self, block: JsonBlock, columns: Sequence[str]) -> Batch:
        """Return the selected columns of a block, as text."""
        file_columns = [name for name in dict.fromkeys(columns) if name not in self.keys]
        twice = [name for name in self.origin.keys if name not in self.keys]
        values = block.values(list(dict.fromkeys([*file_columns, *twice])))
        require_equal_keys(self.origin, values)
        frame = with_keys(values, block.rows, self.keys, columns)
        return Batch(frame=frame, short=None, first_row=block.first_row, origin=self.origin)

    def with_keys(self, added: pl.DataFrame) -> pl.DataFrame:
        """Put the partition columns before the added columns."""
        return with_keys(added, added.height, self.keys, [*self.keys, *added.columns])

    def table(self, block: JsonBlock) -> pa.Table:
        """Return all columns of a block, typed like the first records; see JsonBlock.table."""
        return rows_with_keys(block.table(self._schema), self.keys)

    def blocks(self) -> Iterator[JsonBlock]:
        """Iterate over records as text."""
        _ = self._head  # reads the beginning of a stream first
        name, nulls = self.origin.name, self._options.null_values
        opened = bytes_of(self.origin) if self._stream is None else nullcontext(self._stream)
        size, done = size_of(self.origin), 0
        with reading(self.origin), opened as stream:
            for block in read_json_blocks(stream, self._rest, name, nulls):
                done += len(block.text)
                self.share = min(1.0, done / size)
                yield block


def _beginning(stream: BinaryIO) -> bytes:
    """Read enough lines to find the columns, or a number of bytes with at least one line."""
    text = b""
    while more := filled(stream, _HEAD_BYTES):
        text += more
        line_count = text.count(b"\n")
        if line_count >= _HEAD_RECORDS or (line_count and len(text) >= _MAX_HEAD_BYTES):
            break
    return text

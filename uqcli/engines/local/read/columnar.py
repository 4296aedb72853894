"""Read Parquet and Arrow: polars frames of selected columns, or Arrow record batches of all."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property, partial
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, cast

import polars as pl

from uqcli.base.defaults import ROWS_PER_BATCH
from uqcli.base.errors import DataError
from uqcli.base.running.machine import threads
from uqcli.base.running.memory import bytes_per_batch
from uqcli.engines.inputs import SIGNATURE_BYTES, InputFile, InputFrame
from uqcli.engines.local.arrow import frame_of, table_of
from uqcli.engines.local.read.batch import (
    Batch,
    keys_beside,
    require_equal_keys,
    rows_with_keys,
    schema_with_keys,
    with_keys,
)
from uqcli.engines.local.read.failures import reading
from uqcli.engines.local.read.sizes import (
    Leaf,
    chunk_bytes,
    dictionaries_in,
    leaves_of,
    longest_text,
    pieces_of,
)
from uqcli.engines.local.read.streams import copied
from uqcli.engines.protocol import FIRST_ROWS
from uqcli.stores.content import LocalFile, Seekable
from uqcli.stores.failures import Patience, patiently
from uqcli.stores.limits import GROUP_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

BatchAtRow: TypeAlias = "tuple[int, pa.RecordBatch]"
"""A record batch and the position of its first row in the file."""


RowGroups: TypeAlias = "tuple[int, list[int]]"
"""Consecutive row groups, and the position of their first row in the file."""

MAX_GROUP_ROWS: Final = 1 << 21
"""Rows of a row group up to which a thread reads it whole."""

_HEADER_BYTES: Final = 64
_CONTINUES, _NEXT_NUMBER = 0x80, 0x15
"""Bit of a byte after which a number goes on, and mark of a number in the next field."""

_BATCHES_OF_GROUP: Final = 4
"""Batches, by their bytes, of a row group up to which a thread reads it whole."""

_TRAILER_BYTES, _LENGTH_BYTES = 8, 4
"""Last bytes of a Parquet file: the length of the footer, and four letters."""

_LONG_BYTES: Final = 1 << 10
"""Bytes of a text from which it stays in the dictionary of its row group until its rows are needed."""

_LOOK: Final = {"buffer_size": 1 << 18, "pre_buffer": False}
"""Options of a reader that looks at the first rows only; else a whole column of a row group is read."""

_ENOUGH_GROUPS: Final = 4
"""Row groups that keep threads busier than one reader does that hands out batches of fewer groups."""


class ColumnarSource(ABC):
    """A Parquet or Arrow file, or a spooled copy of a stream."""

    def __init__(self, file: InputFile, content: Seekable, text_columns: Collection[str] = ()) -> None:
        """Note the columns whose long texts stay in a dictionary, since rows only refer to them."""
        self.origin = file
        self._content = content
        self._text_columns = frozenset(text_columns) - set(file.keys)
        self._longest: dict[tuple[int, int], int] = {}
        self.share = 0.0

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        with reading(self.origin):
            return tuple(self.arrow_schema.names)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Schema with the file's metadata; partition columns come last."""
        return schema_with_keys(self._schema, self._keys)

    @cached_property
    def _keys(self) -> dict[str, str | None]:
        return keys_beside(self.origin, self._schema.names)

    @cached_property
    def _schema(self) -> pa.Schema:
        with reading(self.origin):
            return _with_text_only(self._schema_of_file())

    @abstractmethod
    def _schema_of_file(self) -> pa.Schema: ...

    @abstractmethod
    def rows_expected(self) -> int | None:
        """Read the row count; None if the whole file would have to be fetched for it."""

    @property
    def is_empty(self) -> bool:
        """Whether a file has no rows; it is not fetched to see it."""
        return self.rows_expected() == 0

    def batches(
        self,
        columns: Sequence[str],
        start: int = 0,
        max_rows: int = ROWS_PER_BATCH,
        groups: RowGroups | None = None,
    ) -> Iterator[Batch]:
        """Iterate over batches of the selected columns, from row ``start`` on; of some row groups only."""
        file_columns = [name for name in dict.fromkeys(columns) if name not in self._keys]
        with reading(self.origin):
            for row, record in self._record_batches(file_columns, start, max_rows, groups):
                if row + len(record) > start:
                    file_frame = frame_of(record)
                    require_equal_keys(self.origin, file_frame)
                    frame = with_keys(file_frame, len(record), self._keys, columns)
                    batch = Batch(frame=frame, short=None, first_row=row, origin=self.origin)
                    yield batch.after(start)

    @property
    def _is_remote(self) -> bool:
        """Whether each read of it is a request."""
        return not isinstance(self._content, LocalFile)

    def copied(self, stack: ExitStack) -> Self:
        """Return it as a file of this machine: an object is copied until the stack ends."""
        if not self._is_remote:
            return self
        with reading(self.origin), self._content.opened() as stream:
            content = LocalFile.from_path(copied(stream, stack))
        return type(self)(self.origin, content, self._text_columns)

    @property
    def path(self) -> Path:
        """Path of a file of this machine."""
        return cast(LocalFile, self._content).path

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Iterate over record batches of all columns."""
        twice = [name for name in self.origin.keys if name not in self._keys]
        for _, batch in self._record_batches(None, 0, ROWS_PER_BATCH):
            if twice:
                require_equal_keys(self.origin, frame_of(batch.select(twice)))
            yield rows_with_keys(batch, self._keys)

    def _record_batches(
        self, columns: list[str] | None, start: int, max_rows: int, groups: RowGroups | None = None
    ) -> Iterator[BatchAtRow]:
        """Iterate over record batches with their first position, possibly beginning before ``start``.

        Each batch is validated first, since code that trusts a damaged file could crash the process.
        """
        with reading(self.origin):
            batches = self._stored(columns, start, max_rows, groups)
            folded = self._text_columns if columns is not None else ()
            for first_row, batch in batches:
                selected = batch if columns is None else batch.select(columns)
                selected.validate(full=True)
                schema = _with_text_only(selected.schema)
                # keep the same object if nothing is left out
                if schema is not selected.schema:
                    selected = selected.from_arrays(selected.columns, schema=schema)
                pieces = pieces_of(selected, max_rows, bytes_per_batch(), folded)
                for row, piece in _at_rows(pieces, first_row):
                    yield row, self._unfolded(piece, folded)

    @abstractmethod
    def _stored(
        self, columns: list[str] | None, start: int, max_rows: int, groups: RowGroups | None
    ) -> Iterator[BatchAtRow]:
        """Iterate over batches of the file, possibly beginning before ``start``, or over those of groups."""

    def _unfolded(self, batch: pa.RecordBatch, folded: Collection[str]) -> pa.RecordBatch:
        """Return texts in the type of the schema that were read as a dictionary, but for folded columns."""
        import pyarrow as pa

        for index, field in enumerate(batch.schema):
            column = batch.column(index)
            if not pa.types.is_dictionary(field.type):
                continue
            kind = self._schema.field(field.name).type
            is_kept = field.name in folded and longest_text(column.dictionary) > _LONG_BYTES
            if field.type != kind and not is_kept:
                batch = batch.set_column(index, field.with_type(kind), column.cast(kind))
        return batch


class ParquetSource(ColumnarSource):
    """A Parquet file."""

    def _schema_of_file(self) -> pa.Schema:
        return self._metadata.schema.to_arrow_schema()

    def rows_expected(self) -> int:
        """Return the row count."""
        with reading(self.origin):
            return int(self._metadata.num_rows)

    def _stored(
        self, columns: list[str] | None, start: int, max_rows: int, groups: RowGroups | None
    ) -> Iterator[BatchAtRow]:
        if groups is None:
            return self._parquet_batches(columns, start, max_rows)
        return self._batches_of_groups(columns, max_rows, groups)

    def loads(
        self, columns: Sequence[str], start: int, max_rows: int
    ) -> Iterator[Callable[[], Iterator[Batch]]]:
        """Yield functions that load row groups, if it ``has_groups_for_threads``; see ``batches``."""
        first, row, size, groups = 0, 0, 0, list[int]()
        rows_in_all = max(1, sum(self._group_rows))
        for index, rows in enumerate(self._group_rows):
            groups.append(index)
            row += rows
            size += self._decoded_bytes(index, columns)
            if row - first >= max_rows or size >= bytes_per_batch() or index == len(self._group_rows) - 1:
                self.share = row / rows_in_all
                if row > start:
                    yield partial(self.batches, columns, start, max_rows, (first, groups))
                first, groups, size = row, [], 0

    @property
    def is_for_polars(self) -> bool:
        """Whether all its columns are in the file, of types that polars reads alike."""
        if self._keys:
            return False
        schema = self._metadata.schema
        kinds = {schema.column(index).physical_type for index in range(len(schema))}
        return "INT96" not in kinds  # times that polars reads otherwise

    def has_groups_for_threads(self, columns: Sequence[str]) -> bool:
        """Whether threads load row groups one by one: of a local file, small or with enough groups."""
        if not isinstance(self._content, LocalFile):
            return False
        with reading(self.origin):
            rows = self._group_rows
            is_shared = len(rows) >= min(threads(), _ENOUGH_GROUPS) or sum(rows) <= ROWS_PER_BATCH
            if not is_shared or max(rows, default=0) > MAX_GROUP_ROWS:
                return False
            sizes = (self._decoded_bytes(index, columns) for index in range(len(rows)))
            return max(sizes, default=0) <= _BATCHES_OF_GROUP * bytes_per_batch()

    @cached_property
    def _metadata(self) -> pq.FileMetaData:
        import pyarrow.parquet as pq

        with self._parquet_input() as source:
            metadata = patiently(lambda: pq.read_metadata(source))
        # a signature follows a footer that can be read though columns are encrypted, and pyarrow would
        # abort the process where it is asked about such a column
        footer_bytes = int.from_bytes(self._length_of_footer(), "little")
        if footer_bytes != metadata.serialized_size:
            raise OSError("it has encrypted metadata")
        return metadata

    def _length_of_footer(self) -> bytes:
        if isinstance(self._content, LocalFile):  # mapping it would take addresses of a limited process
            with self._content.opened() as file:
                file.seek(-_TRAILER_BYTES, os.SEEK_END)
                return file.read(_LENGTH_BYTES)
        with self._content.mapped() as handle:
            place = handle.size() - _TRAILER_BYTES
            return bytes(patiently(lambda: handle.read_at(_LENGTH_BYTES, place)))

    @property
    def row_bytes(self) -> float:
        """Mean size of a row of a Parquet file, uncompressed but encoded."""
        groups = [self._metadata.row_group(index) for index in range(self._metadata.num_row_groups)]
        size: int = sum(group.total_byte_size for group in groups)
        return size / max(1, int(self._metadata.num_rows))

    @property
    def has_long_texts(self) -> bool:
        """Whether a dictionary of a Parquet file holds long texts, to which any number of rows may refer."""
        groups = range(self._metadata.num_row_groups)
        return any(self._longest_in(group, leaf) > _LONG_BYTES for group in groups for leaf in self._leaves)

    def held(self) -> AbstractContextManager[Any]:
        """Hold the file open for a reader that opens its path by itself."""
        return self._parquet_input()

    def verify(self) -> None:
        """Verify the checksums of pages, if they have one, for a reader that does not."""
        if self._has_checksums():
            for _ in self._record_batches(None, 0, ROWS_PER_BATCH):
                pass

    def _has_checksums(self) -> bool:
        """Whether the first page of a local Parquet file has a checksum, as then all pages have one.

        In the header of a page, three numbers come before it: bytes of a field's mark and of a number.
        """
        if not isinstance(self._content, LocalFile) or not self._metadata.num_row_groups:
            return False
        chunk = self._metadata.row_group(0).column(0)
        places = [chunk.data_page_offset, chunk.dictionary_page_offset]
        with self._content.opened() as stream:
            stream.seek(min(place for place in places if place))
            header = stream.read(_HEADER_BYTES)
        position = 0
        for _ in range(3):
            position += 1
            while header[position] >= _CONTINUES:
                position += 1
            position += 1
        return header[position] == _NEXT_NUMBER

    @cached_property
    def _leaves(self) -> tuple[Leaf, ...]:
        return leaves_of(self._metadata)

    def _needed(self, columns: Sequence[str] | None) -> Sequence[Leaf]:
        if columns is None:
            return self._leaves
        names = set(columns)
        return [leaf for leaf in self._leaves if leaf.column in names]

    def _folded(self, columns: Sequence[str] | None, groups: Iterable[int]) -> list[str]:
        """Return the columns whose texts are read as a dictionary: of one text a row, and long ones.

        Of an object in a store all are, since to look at their texts would be a request for each.
        """
        return [
            leaf.column
            for leaf in self._needed(columns)
            if leaf.is_flat and any(self._longest_in(group, leaf) > _LONG_BYTES for group in groups)
        ]

    def _decoded_bytes(self, group: int, columns: Sequence[str] | None) -> int:
        """Return about how many bytes the rows of a row group take, with long texts in their dictionary."""
        row_group, size = self._metadata.row_group(group), 0
        for leaf in self._needed(columns):
            longest = self._longest_in(group, leaf)
            is_folded = leaf.is_flat and longest > _LONG_BYTES
            size += chunk_bytes(row_group, leaf, 0 if is_folded else longest)
        return size

    def _batch_rows(self, groups: Sequence[int], columns: Sequence[str] | None, max_rows: int) -> int:
        """Return the rows of a batch: as many as its bytes allow in each row group."""
        widest = max(
            (self._decoded_bytes(group, columns) / max(1, self._group_rows[group]) for group in groups),
            default=0.0,
        )
        return max(1, min(max_rows, int(bytes_per_batch() / max(1.0, widest))))

    def _longest_in(self, group: int, leaf: Leaf) -> int:
        """Return the bytes of the longest text of a dictionary, by its first row; 0 without one."""
        import pyarrow.parquet as pq

        row_group = self._metadata.row_group(group)
        if not leaf.has_dictionary(row_group):
            return 0
        if self._is_remote:
            return _LONG_BYTES + 1 if leaf.is_flat else 0
        if (group, leaf.index) not in self._longest:
            options = {"metadata": self._metadata, "read_dictionary": [leaf.path], **_LOOK}
            with self._parquet_input() as source, pq.ParquetFile(source, **options) as parquet:
                batches = parquet.iter_batches(1, row_groups=[group], columns=[leaf.path], use_threads=False)
                texts = next((text for batch in batches for text in dictionaries_in(batch.column(0))), None)
                known = 0 if texts is None else longest_text(texts)
            self._longest[group, leaf.index] = known or leaf.encoded_bytes(row_group)
        return self._longest[group, leaf.index]

    @cached_property
    def _group_rows(self) -> list[int]:
        return [self._metadata.row_group(index).num_rows for index in range(self._metadata.num_row_groups)]

    def _parquet_batches(self, columns: list[str] | None, start: int, max_rows: int) -> Iterator[BatchAtRow]:
        import pyarrow.parquet as pq

        is_remote, groups = self._is_remote, self._group_rows
        if max_rows <= FIRST_ROWS and not is_remote:  # the texts of row groups that follow are not looked at
            for index, end in enumerate(accumulate(groups)):
                yield from self._batches_of_groups(columns, max_rows, (end - groups[index], [index]))
            return
        # buffers grow with the size of a request: read part by part
        options = {**self._options(columns, range(len(groups))), "pre_buffer": is_remote}
        with (
            self._parquet_input() as source,
            pq.ParquetFile(source, metadata=self._metadata, **options) as parquet,
        ):
            row = first = 0
            while start and first < len(groups) and row + groups[first] <= start:
                row += groups[first]
                first += 1
            remaining_groups = list(range(first, len(groups)))
            max_rows = self._batch_rows(remaining_groups, columns, max_rows)
            fetches = (
                _groups_to_fetch(parquet.metadata, remaining_groups, columns)
                if is_remote
                else [remaining_groups if first else None]
            )
            options = {"batch_size": max_rows, "columns": columns}
            batches = (batch for groups in fetches for batch in _patient_batches(parquet, groups, options))
            rows = max(1, sum(groups))
            for first_row, batch in _at_rows(batches, row):
                self.share = (first_row + len(batch)) / rows
                yield first_row, batch

    @contextmanager
    def _parquet_input(self) -> Iterator[Any]:
        if isinstance(self._content, LocalFile):
            with self._content.held() as path:
                yield path
        else:
            with self._content.mapped() as handle:
                yield handle

    def _batches_of_groups(
        self, columns: list[str] | None, max_rows: int, groups: RowGroups
    ) -> Iterator[BatchAtRow]:
        import pyarrow.parquet as pq

        first_row, indices = groups
        options = {**self._options(columns, indices), **(_LOOK if max_rows <= FIRST_ROWS else {})}
        # other threads read other row groups
        with (
            self._parquet_input() as source,
            pq.ParquetFile(source, metadata=self._metadata, **options) as parquet,
        ):
            rows = self._batch_rows(indices, columns, max_rows)
            batches = parquet.iter_batches(rows, row_groups=indices, columns=columns, use_threads=False)
            yield from _at_rows(batches, first_row)

    def _options(self, columns: list[str] | None, groups: Iterable[int]) -> dict[str, Any]:
        """Return options of the reader: it verifies the checksums of pages that have one."""
        return {"page_checksum_verification": True, "read_dictionary": self._folded(columns, groups)}


class ArrowSource(ColumnarSource):
    """An Arrow file, or a file with an Arrow stream."""

    def _schema_of_file(self) -> pa.Schema:
        with self._open_arrow() as (schema, _):
            return schema

    def rows_expected(self) -> int | None:
        """Read the row count; None for an object in a store, which would have to be fetched whole."""
        if self._is_remote:
            return None
        with reading(self.origin), self._open_arrow() as (_, batches):
            return sum(map(len, batches))

    def _stored(
        self,
        columns: list[str] | None,
        start: int,  # noqa: ARG002
        max_rows: int,  # noqa: ARG002
        groups: RowGroups | None,  # noqa: ARG002
    ) -> Iterator[BatchAtRow]:
        with self._open_arrow(columns) as (_, batches):
            yield from _at_rows(batches, 0)

    @contextmanager
    def _open_arrow(
        self, columns: list[str] | None = None
    ) -> Iterator[tuple[pa.Schema, Iterable[pa.RecordBatch]]]:
        """Open the Arrow file or stream format, depending on the first bytes; yield its schema and batches.

        Local files are memory-mapped, so that unused columns are never read. From an object store only the
        requested columns of the file format are fetched; the stream format is fetched whole.
        """
        import pyarrow as pa

        options = None
        if self._is_remote and columns:
            indices = [index for index, name in enumerate(self._schema.names) if name in columns]
            options = pa.ipc.IpcReadOptions(included_fields=indices)
        with self._content.mapped() as mapped:
            head = patiently(lambda: mapped.read_at(SIGNATURE_BYTES, 0))
            if head.startswith(b"FEA1"):
                raise DataError(
                    f"{self.origin.display_name} is Feather of version 1",
                    expected="version 2",
                    remedy="write it again with pyarrow.feather.write_feather",
                )
            if head.startswith(b"ARROW1"):
                reader = patiently(lambda: pa.ipc.open_file(mapped, options=options))
                yield reader.schema, _record_batches_of(reader)
            else:
                stream = pa.ipc.open_stream(mapped)
                yield stream.schema, stream


def _record_batches_of(reader: pa.ipc.RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
    for index in range(reader.num_record_batches):
        yield patiently(lambda: reader.get_batch(index))  # noqa: B023  called at once


def _groups_to_fetch(
    metadata: pq.FileMetaData, groups: list[int], columns: list[str] | None
) -> Iterator[list[int]]:
    """Yield the row groups to fetch together: as many as the needed columns fit into ``GROUP_BYTES``."""
    fetched_together: list[int] = []
    total_size = 0
    for row_group in groups:
        group = metadata.row_group(row_group)
        chunks = [group.column(index) for index in range(group.num_columns)]
        size = sum(
            chunk.total_compressed_size
            for chunk in chunks
            if columns is None or chunk.path_in_schema.partition(".")[0] in columns
        )
        if fetched_together and total_size + size > GROUP_BYTES:
            yield fetched_together
            fetched_together, total_size = [], 0
        fetched_together.append(row_group)
        total_size += size
    if fetched_together:
        yield fetched_together


def _patient_batches(
    parquet: pq.ParquetFile, row_groups: list[int] | None, options: dict[str, Any]
) -> Iterator[pa.RecordBatch]:
    """Iterate over batches; where a store throttles one, they are read again from the first of the groups."""
    patience, done = Patience(), 0
    while True:
        try:
            for batch in islice(parquet.iter_batches(row_groups=row_groups, **options), done, None):
                done += 1
                yield batch
        except OSError as error:
            patience.wait(error)
        else:
            return


def _at_rows(batches: Iterable[pa.RecordBatch], row: int) -> Iterator[BatchAtRow]:
    for batch in batches:
        yield row, batch
        row += len(batch)


def _with_text_only(schema: pa.Schema) -> pa.Schema:
    """Drop metadata that is not text, on which polars would panic; return the same object if all is text."""
    import pyarrow as pa

    if _is_text(schema.metadata) and all(_is_text(field.metadata) for field in schema):
        return schema
    fields = [field if _is_text(field.metadata) else field.remove_metadata() for field in schema]
    return pa.schema(fields, metadata=schema.metadata if _is_text(schema.metadata) else None)


def _is_text(metadata: Mapping[bytes, bytes] | None) -> bool:
    try:
        for entry in (metadata or {}).items():
            b"".join(entry).decode()
    except UnicodeDecodeError:
        return False
    return True


_NOT_IN_ARROW: Final = (pl.Object, pl.Int128, pl.UInt128)
"""Types that Arrow lacks and that therefore never occur in files."""


class FrameSource:
    """A data frame, read like a Parquet file of the same columns; batches are views."""

    def __init__(self, origin: InputFrame) -> None:
        self.origin = origin
        self._frame = origin.frame
        self.share = 1.0  # in memory, so reading needs no progress

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(self._frame.columns)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Column names and types."""
        return self._arrow(self._frame.clear()).schema

    def rows_expected(self) -> int:
        """Return the number of rows."""
        return self._frame.height

    def batches(
        self, columns: Sequence[str], start: int = 0, max_rows: int = ROWS_PER_BATCH
    ) -> Iterator[Batch]:
        """Iterate over batches of the selected columns, from row ``start`` on."""
        frame = self._frame[list(dict.fromkeys(columns))]
        self._require_types(frame)
        for row in range(start, frame.height, max_rows):
            yield Batch(frame=frame[row : row + max_rows], short=None, first_row=row, origin=self.origin)

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Iterate over record batches of all columns."""
        for row in range(0, self._frame.height, ROWS_PER_BATCH):
            yield from self._arrow(self._frame[row : row + ROWS_PER_BATCH]).combine_chunks().to_batches()

    def _arrow(self, frame: pl.DataFrame) -> pa.Table:
        self._require_types(frame)
        with reading(self.origin):
            return table_of(frame)

    def _require_types(self, frame: pl.DataFrame) -> None:
        for name, kind in frame.schema.items():
            if kind in _NOT_IN_ARROW:
                raise DataError(
                    f"column '{name}' of {self.origin.display_name} holds {kind}",
                    expected="numbers of at most 64 bits, strings, booleans or times",
                    remedy="cast it to one of these",
                )

"""Sizes of rows in memory: a small file may hold a long text once, and refer to it in a million rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from uqcli.base.counts import Ints
from uqcli.base.records import dataclass
from uqcli.engines.local.arrow import bytes_of_texts, integers_of

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_WIDTHS: Final[Mapping[str, int]] = {
    **{"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
}
"""Bytes of a value by the physical type of its Parquet column."""

_TEXT, _END_BYTES = "BYTE_ARRAY", 4
"""Type of texts and bytes, and what such a value takes beside its content."""

_BITS: Final = 8
"""Bits of a byte."""


def pieces_of(
    batch: pa.RecordBatch, max_rows: int, max_bytes: int, folded: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Cut a batch into pieces of so many rows and bytes, of at least one row.

    The texts of a dictionary count in each row, except in the columns that stay ``folded``.
    """
    texts = {
        name: _lengths(column.dictionary)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
        if pa.types.is_dictionary(column.type) and name not in folded
    }
    rows = batch.num_rows
    most = batch.nbytes + rows * sum(int(lengths.max(initial=0)) for lengths in texts.values())
    if rows <= max_rows and most <= max_bytes:
        yield batch
        return
    ends = np.cumsum(row_bytes(batch, texts))
    start = 0
    while start < rows:
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + max_bytes, side="right"))
        stop = min(max(stop, start + 1), start + max_rows, rows)
        yield batch.slice(start, stop - start)
        start = stop


def row_bytes(batch: pa.RecordBatch, texts: Mapping[str, Ints] = MappingProxyType({})) -> Ints:
    """Return the bytes of each row; nested values count alike, and texts of a dictionary if they are given.

    They are given by the lengths of those of each column.
    """
    size, others = np.zeros(batch.num_rows, dtype=np.int64), 0
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in texts:
            size += np.append(texts[name], 0)[integers_of(column.indices, len(texts[name]))]
        elif is_text(column.type):
            size += _lengths(column)
        elif pa.types.is_dictionary(column.type):
            size += column.type.index_type.bit_width // _BITS
        elif pa.types.is_primitive(column.type):
            size += column.type.bit_width // _BITS
        else:
            others += column.nbytes
    sizes: Ints = size + -(-others // max(1, batch.num_rows))
    return sizes


def _lengths(texts: pa.Array) -> Ints:
    """Return the bytes of each text, and of its end; values of other types are short."""
    if not is_text(texts.type):
        return np.full(len(texts), _END_BYTES, dtype=np.int64)
    return bytes_of_texts(texts) + _END_BYTES


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are texts or bytes whose lengths Arrow can compute."""
    known = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_kind(kind) for is_kind in known)


def dictionaries_in(column: pa.Array) -> Iterator[pa.Array]:
    """Yield the dictionaries of texts in a column, also of nested ones."""
    if pa.types.is_dictionary(column.type):
        yield column.dictionary
    elif pa.types.is_struct(column.type):
        for index in range(column.type.num_fields):
            yield from dictionaries_in(column.field(index))
    elif pa.types.is_map(column.type):
        yield from dictionaries_in(column.keys)
        yield from dictionaries_in(column.items)
    elif column.type.num_fields:
        yield from dictionaries_in(column.values)


def longest_text(texts: pa.Array) -> int:
    """Return the bytes of the longest text."""
    return int(_lengths(texts).max(initial=0))


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """A column of a Parquet schema: the one at an index, with the path of its values in a column of the rows.

    ``width`` is the bytes of a value; None for texts.
    """

    index: int
    column: str
    path: str
    width: int | None

    @property
    def is_flat(self) -> bool:
        """Whether the column has one value in each row."""
        return self.path == self.column

    def values(self, group: pq.RowGroupMetaData) -> int:
        """Return the number of values in a row group."""
        return int(group.column(self.index).num_values)

    def encoded_bytes(self, group: pq.RowGroupMetaData) -> int:
        """Return the bytes of the values in a row group, before they were compressed."""
        return int(group.column(self.index).total_uncompressed_size)

    def has_dictionary(self, group: pq.RowGroupMetaData) -> bool:
        """Whether the values in a row group are texts of a dictionary."""
        return self.width is None and bool(group.column(self.index).has_dictionary_page)


def leaves_of(metadata: pq.FileMetaData) -> tuple[Leaf, ...]:
    """Return the columns of a Parquet schema, in order."""
    columns = [
        field.name for field in metadata.schema.to_arrow_schema() for _ in range(_leaves_in(field.type))
    ]
    leaves = []
    for index, column in enumerate(columns):
        schema = metadata.schema.column(index)
        width = _WIDTHS.get(schema.physical_type)
        if schema.physical_type != _TEXT and width is None:
            width = int(schema.length)
        leaves.append(Leaf(index=index, column=column, path=schema.path, width=width))
    return tuple(leaves)


def _leaves_in(kind: pa.DataType) -> int:
    """Return the number of columns in which Parquet stores a type."""
    if pa.types.is_dictionary(kind):
        return 1
    if isinstance(kind, pa.BaseExtensionType):
        return _leaves_in(kind.storage_type)
    return sum(_leaves_in(kind.field(index).type) for index in range(kind.num_fields)) or 1


def chunk_bytes(group: pq.RowGroupMetaData, leaf: Leaf, longest: int) -> int:
    """Return an upper limit of the bytes of the values in a row group, given the longest of a dictionary."""
    values = leaf.values(group)
    if leaf.width is not None:
        return values * leaf.width
    return values * _END_BYTES + max(leaf.encoded_bytes(group), values * longest)

"""Combine the columns of several inputs into one output schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.choices import FileFormat
from uqcli.base.counts import Floats
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.engines import refusals
from uqcli.engines.columns import require_same_columns
from uqcli.engines.local.arrow import joined_type, table_of
from uqcli.engines.local.read.csv_source import CsvSource
from uqcli.engines.local.read.csv_text import CsvBlock
from uqcli.engines.local.read.json_lines import JsonBlock, JsonSource
from uqcli.engines.local.read.open import Block, OpenedInput
from uqcli.engines.protocol import StreamRequest
from uqcli.engines.request import Roles

if TYPE_CHECKING:
    from uqcli.engines.local.read.columnar import ColumnarSource, FrameSource

_TYPES: Final = {
    "bool": pa.bool_(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "labels": pa.large_list(pa.large_string()),
    "text": pa.large_string(),
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Columns and types of CSV output, which keeps the texts of CSV.

    Added columns are last, or in place of the columns that they replace.
    """

    schema: pa.Schema
    added: tuple[str, ...]

    def table(self, source: OpenedInput, block: Block, rows: Rows, added: pl.DataFrame) -> pa.Table:
        """Convert one block of an input to the output schema."""
        part = self._arrow(source, block, rows)
        index_of = {name: index for index, name in enumerate(part.schema.names)}
        columns = []
        for field in self.schema:
            if field.name in self.added:
                columns.append(added[field.name].to_arrow())
            elif field.name in index_of:
                column = part.column(index_of[field.name])
                columns.append(self._typed(column, field.type, block))
            else:
                columns.append(pa.nulls(part.num_rows, field.type))
        return self._together(columns)

    def _typed(self, column: pa.Array, kind: pa.DataType, block: Block) -> pa.Array:
        return column if isinstance(block, CsvBlock) else _cast(column, kind)

    def _together(self, columns: list[pa.Array]) -> pa.Table:
        return pa.Table.from_arrays(columns, names=self.schema.names)

    def _arrow(self, source: OpenedInput, block: Block, rows: Rows) -> pa.Table | pa.RecordBatch:
        if isinstance(block, JsonBlock) and isinstance(source, JsonSource):
            return source.table(block)
        if not isinstance(block, CsvBlock):
            return block
        return table_of(self._frame(block, rows))

    def _frame(self, block: CsvBlock, rows: Rows) -> pl.DataFrame:  # noqa: ARG002
        return block.texts()


@dataclass(frozen=True, kw_only=True)
class TypedLayout(Layout):
    """Columns of an output with types: CSV columns of numeric roles become numbers, all others stay text."""

    roles: Roles

    def _typed(self, column: pa.Array, kind: pa.DataType, block: Block) -> pa.Array:  # noqa: ARG002
        return _cast(column, kind)

    def _together(self, columns: list[pa.Array]) -> pa.Table:
        return pa.Table.from_arrays(columns, schema=self.schema)

    def _frame(self, block: CsvBlock, rows: Rows) -> pl.DataFrame:
        # a column may have two roles
        role_by_column = {name: role for role, name in self.roles.all_numbers().items()}
        is_turned = self.roles.is_turned
        return block.texts().with_columns(
            _numeric_column(block, name, 0.0 - rows.numbers[role] if is_turned(role) else rows.numbers[role])
            for name, role in role_by_column.items()
        )


def _numeric_column(block: CsvBlock, name: str, value: Floats) -> pl.Series:
    """Return the numeric column that is null only where its CSV field is null."""
    column = pl.Series(name, value)
    if not np.isnan(value).any():
        return column
    text = block.values([name]).to_series().alias("").str.strip_chars()
    return column.set(text.is_null() | (text == "").fill_null(value=False), None)


def plan_layout(sources: Sequence[OpenedInput], request: StreamRequest, output_format: FileFormat) -> Layout:
    """Derive the output schema from all inputs, whose columns and types must agree."""
    # records that are copied may have any types
    copied = output_format is FileFormat.JSONL and all(isinstance(source, JsonSource) for source in sources)
    roles = request.data.roles
    schemas = [_schema(source, roles, copied=copied) for source in sources]
    replaced = request.added.types if request.output.overwrite else ()
    schema = _united(schemas, sources, union=request.output.union, replaced=replaced)
    schema = _with_types(schema, _without_view_values)
    if any(isinstance(source, JsonSource) for source in sources):
        schema = _with_types(schema, lambda kind: pa.large_string() if pa.types.is_null(kind) else kind)
    if output_format is FileFormat.ARROW:  # whose dictionaries cannot change between batches
        schema = _with_types(schema, lambda kind: kind.value_type if pa.types.is_dictionary(kind) else kind)
    for name, kind in request.added.types.items():
        schema = _with_added(schema, pa.field(name, _TYPES[kind]), overwrite=request.output.overwrite)
    if request.added.made_by:
        first = next(iter(request.added.types))
        made_by = {f"uqcli.{first}".encode(): request.added.made_by.encode()}
        schema = schema.with_metadata({**(schema.metadata or {}), **made_by})
    added = tuple(request.added.types)
    if output_format is FileFormat.CSV:
        return Layout(schema=schema, added=added)
    return TypedLayout(schema=schema, added=added, roles=roles)


def _with_added(schema: pa.Schema, field: pa.Field, *, overwrite: bool) -> pa.Schema:
    if field.name not in schema.names:
        return schema.append(field)
    if not overwrite:
        raise refusals.existing_column(field.name)
    return schema.set(schema.names.index(field.name), field)


def _schema(source: OpenedInput, roles: Roles, *, copied: bool) -> pa.Schema:
    """Return the columns of an input with their types; null for JSON keys that had no value yet."""
    repeated = {name for name, times in Counter(source.columns).items() if times > 1}
    if repeated:
        raise DataError(
            f"column names of {source.origin.display_name} are not unique: {', '.join(sorted(repeated))}",
            remedy="rename them",
        )
    if isinstance(source, CsvSource):
        numeric_columns = set(roles.all_numbers().values())
        return pa.schema(
            [
                (name, pa.float64() if name in numeric_columns else pa.large_string())
                for name in source.columns
            ]
        )
    typed = cast("ColumnarSource | FrameSource | JsonSource", source)
    if not copied:
        if isinstance(typed, JsonSource):
            typed.widen()
        return typed.arrow_schema
    try:
        return typed.arrow_schema
    except DataError:  # keys of several types are copied as they are
        return pa.schema([(name, pa.null()) for name in source.columns])


def _united(
    schemas: Sequence[pa.Schema], sources: Sequence[OpenedInput], *, union: bool, replaced: Collection[str]
) -> pa.Schema:
    """Join the columns of all inputs; the types of columns that are replaced do not matter."""
    first, names = schemas[0], [source.origin.display_name for source in sources]
    if len(schemas) == 1:
        return first
    if not union:
        require_same_columns([(name, schema.names) for name, schema in zip(names, schemas, strict=True)])
    fields: dict[str, list[tuple[str, pa.Field]]] = {}
    for schema, name in zip(schemas, names, strict=True):
        for field in schema:
            kind = pa.null() if field.name in replaced else field.type
            fields.setdefault(field.name, []).append((name, field.with_type(kind)))
    return pa.schema(
        [
            kept[0][1]
            .with_type(joined_type(column, [(name, field.type) for name, field in kept]))
            .with_nullable(len(kept) < len(schemas) or any(field.nullable for _, field in kept))
            for column, kept in fields.items()
        ],
        metadata=first.metadata,
    )


VIEW_REPLACEMENTS: Final = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Replacements of view types, which no writer supports as values of dictionaries, and no filter."""


def _without_view_values(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind) and kind.value_type in VIEW_REPLACEMENTS:
        return pa.dictionary(kind.index_type, VIEW_REPLACEMENTS[kind.value_type], kind.ordered)
    return kind


def _cast(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if column.type.equals(kind):
        return column
    return column.cast(_without_view_values(column.type)).cast(kind)


def _with_types(schema: pa.Schema, change: Callable[[pa.DataType], pa.DataType]) -> pa.Schema:
    fields = [field.with_type(change(field.type)) for field in schema]
    return pa.schema(fields, metadata=schema.metadata)

"""Add the partition columns of folder names to the rows of a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.engines.inputs import InputFile
from uqcli.engines.local.arrow import arrow_of, bytes_of

if TYPE_CHECKING:
    from uqcli.engines.local.read.csv_text import CsvBlock, CsvDialect

Keys = Mapping[str, str | None]
Records = TypeVar("Records", pa.RecordBatch, pa.Table)


def keys_beside(file: InputFile, columns: Sequence[str]) -> dict[str, str | None]:
    """Return the partition keys that are not columns of the file itself."""
    return {name: value for name, value in file.keys.items() if name not in columns}


def with_keys(frame: pl.DataFrame, rows: int, keys: Keys, columns: Sequence[str]) -> pl.DataFrame:
    """Return the columns in the requested order, partition columns filled with their text.

    Parameters
    ----------
    frame
        Columns of the file.
    rows
        Number of rows, since a frame without columns has none.
    """
    if not keys:
        return frame
    selected = dict.fromkeys(columns)
    return pl.DataFrame(
        {
            name: pl.repeat(keys[name], rows, dtype=pl.String, eager=True) if name in keys else frame[name]
            for name in selected
        }
    )


def schema_with_keys(schema: pa.Schema, keys: Keys) -> pa.Schema:
    """Append the partition columns to a schema."""
    for name in keys:
        schema = schema.append(pa.field(name, pa.large_string()))
    return schema


def rows_with_keys(rows: Records, keys: Keys) -> Records:
    """Append the partition columns to a record batch or table."""
    if not keys:
        return rows
    columns: list[Any] = [*rows.columns, *_texts(keys, rows.num_rows)]
    return type(rows).from_arrays(columns, schema=schema_with_keys(rows.schema, keys))


def _texts(keys: Keys, rows: int) -> list[Any]:
    return [pa.repeat(pa.scalar(value, pa.large_string()), rows) for value in keys.values()]


def dialect_with_keys(dialect: CsvDialect, keys: Keys) -> CsvDialect:
    """Append the partition columns to a CSV dialect."""
    header = dialect.header + _fields(dialect.delimiter, list(keys))
    return replace(dialect, columns=(*dialect.columns, *keys), header=header)


def block_with_keys(block: CsvBlock, dialect: CsvDialect, keys: Keys) -> CsvBlock:
    """Append the partition values to CSV records; short records are padded first.

    Parameters
    ----------
    dialect
        Dialect with the partition columns.
    """
    import pyarrow.compute as pc

    missing = len(block.dialect.columns) - block.fields
    fillings = [
        dialect.delimiter.encode() * missing_fields
        for missing_fields in range(int(missing.max(initial=0)) + 1)
    ]
    filling = arrow_of(pl.Series(fillings, dtype=pl.Binary)).take(arrow_of(missing))
    fields = bytes_of(_fields(dialect.delimiter, [value or "" for value in keys.values()]))
    records = pc.binary_join_element_wise(block.records(), filling, fields, bytes_of(b""))
    record_ends = np.cumsum(pc.binary_length(records).to_numpy(zero_copy_only=False)).astype(np.int64)
    line_end_sizes = pc.binary_length(block.line_ends()).to_numpy(zero_copy_only=False).astype(np.int64)
    shift = np.cumsum(line_end_sizes)
    records_with_ends = pc.binary_join_element_wise(records, block.line_ends(), bytes_of(b""))
    return replace(
        block,
        dialect=dialect,
        text=b"".join(records_with_ends.to_pylist()),
        starts=np.concatenate([[0], (record_ends + shift)[:-1]]).astype(np.int64),
        ends=record_ends + shift - line_end_sizes,
        fields=np.full(block.rows, len(dialect.columns), dtype=np.int64),
    )


def _fields(delimiter: str, values: Sequence[str]) -> bytes:
    """Format CSV fields with a leading delimiter, quoted if needed."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="").writerow(["", *values])
    return text.getvalue().encode()

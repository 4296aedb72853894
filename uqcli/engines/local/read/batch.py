"""Rows as they were read from an input, with the partition columns of its folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.counts import Bools
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.engines.inputs import InputFile, Origin
from uqcli.engines.local.arrow import arrow_of, bytes_of
from uqcli.engines.local.read.csv_text import csv_record

if TYPE_CHECKING:
    from uqcli.engines.local.read.csv_text import CsvBlock, CsvDialect


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows of one input, the first of which is at the 0-based position ``first_row``.

    The rest is known for CSV only: ``short`` marks rows with fewer fields than the header, shape (rows,).
    ``cut`` is whether the last row lacks a line end, as in a truncated file. ``decimal`` is the mark of
    numbers. ``footer`` is the text of the last row if it is a line that programs write after the rows, such
    as ``(2000 rows)``, or ``Ctrl-Z``.
    """

    frame: pl.DataFrame
    short: Bools | None
    first_row: int
    origin: Origin
    cut: bool = False
    decimal: str = ""
    footer: str = ""

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
        return replace(self, frame=self.frame[:rows], short=short, cut=False, footer="")

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


Keys = Mapping[str, str | None]
Records = TypeVar("Records", pa.RecordBatch, pa.Table)


def keys_beside(file: InputFile, columns: Sequence[str]) -> dict[str, str | None]:
    """Return the partition keys that are not columns of the file itself."""
    return {name: value for name, value in file.keys.items() if name not in columns}


def require_equal_keys(file: InputFile, frame: pl.DataFrame) -> None:
    """Check that columns read from a file that are also keys of its folders have the folders' values."""
    for name, value in file.keys.items():
        if name in frame.columns and not _all_equal(frame[name].alias(""), value):
            raise DataError(
                f"column '{name}' of {file.display_name} has other values than its folder '{name}={value}'",
                expected="one value of the column",
                remedy="rename the folder or the column",
            )


def _all_equal(column: pl.Series, value: str | None) -> bool:
    """Whether all values are that of a folder, by their texts, numbers or times."""
    if value is None or column.dtype == pl.Null:
        return value is None and column.null_count() == len(column)
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        return len(column) == 0
    text = column.cast(pl.String).str.strip_chars()
    equal = text.eq_missing(value)
    if column.dtype.is_temporal():
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):  # no such time
            time = pa.scalar(value).cast(column.to_arrow().type)
            equal |= column.eq_missing(pl.Series(pl.from_arrow(pa.array([time]))))
    else:
        numbers = pl.Series([value], dtype=pl.String).cast(pl.Float64, strict=False)
        if numbers.null_count() == 0:
            equal |= text.cast(pl.Float64, strict=False).eq_missing(numbers)
        equal |= text.str.to_lowercase().eq_missing(value.lower()) if value.lower() in _TRUTHS else False
    return bool(equal.all())


_TRUTHS: Final = ("true", "false")


def with_keys(frame: pl.DataFrame, rows: int, keys: Keys, columns: Sequence[str]) -> pl.DataFrame:
    """Return the columns in the requested order, partition columns filled with their text.

    The number of rows is given, since a frame without columns has none.
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
    """Append partition values to CSV records, for a dialect that has them; short records are padded first."""
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
    return csv_record(["", *values], delimiter)

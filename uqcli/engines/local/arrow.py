"""Convert between Arrow and polars; polars creates arrays, since pyarrow would import pandas."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.errors import DataError


def arrow_of(values: np.ndarray | pl.Series) -> pa.Array:
    """Convert to an Arrow array without copying; strings and binaries have 64-bit offsets."""
    series = values if isinstance(values, pl.Series) else pl.Series(values)
    array: Any = series.to_arrow(compat_level=pl.CompatLevel.oldest())
    return array


def table_of(frame: pl.DataFrame) -> pa.Table:
    """Convert to an Arrow table, of types that every version of Arrow has."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def bytes_of(value: bytes) -> pa.Scalar:
    """Return the binary scalar."""
    return arrow_of(pl.Series([value], dtype=pl.Binary))[0]


def frame_of(rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    """Convert to a polars frame; decimals of more than 38 digits become text.

    Raises
    ------
    DataError
        polars lacks the type of a column, and might panic when it converts it.
    """
    for index, field in enumerate(rows.schema):
        if pa.types.is_decimal256(field.type):
            text = rows.column(index).cast(pa.large_string())
            rows = rows.set_column(index, pa.field(field.name, text.type), text)
        elif _is_foreign(field.type):
            raise DataError(
                f"column '{field.name}' holds {field.type}",
                expected="numbers, strings, booleans or times",
                remedy="cast it to one of these, or leave the column out",
            )
    names = list(rows.schema.names)
    frame = cast(pl.DataFrame, pl.from_arrow(rows.rename_columns(list(map(str, range(len(names)))))))
    frame.columns = names  # polars would rename an empty name
    return frame


def _is_foreign(kind: pa.DataType) -> bool:
    """Whether polars lacks a type, or a type nested in it."""
    if pa.types.is_dictionary(kind):
        return _is_foreign(kind.value_type)
    foreign = (
        pa.types.is_decimal256,
        pa.types.is_union,
        pa.types.is_run_end_encoded,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
        pa.types.is_interval,
    )
    return any(is_type(kind) for is_type in foreign) or any(
        _is_foreign(kind.field(index).type) for index in range(kind.num_fields)
    )

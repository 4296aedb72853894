"""Convert between Arrow and polars, and find the types that columns of several inputs share.

polars creates arrays, since pyarrow would import pandas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final, cast

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.counts import Ints
from uqcli.base.errors import DataError


def arrow_of(values: np.ndarray | pl.Series) -> pa.Array:
    """Convert to an Arrow array without copying; strings and binaries have 64-bit offsets."""
    series = values if isinstance(values, pl.Series) else pl.Series(values)
    array: Any = series.to_arrow(compat_level=pl.CompatLevel.oldest())
    return array


def table_of(frame: pl.DataFrame) -> pa.Table:
    """Convert to an Arrow table, of types that every version of Arrow has."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def integers_of(array: pa.Array, missing: int) -> Ints:
    """Convert whole numbers, with one in place of nulls; int64, shape (n,)."""
    return _series_of(array).cast(pl.Int64).fill_null(missing).to_numpy()


def bytes_of_texts(texts: pa.Array) -> Ints:
    """Return the bytes of each text, 0 for null; int64, shape (n,)."""
    return _series_of(texts).cast(pl.Binary).bin.size("b").cast(pl.Int64).fill_null(0).to_numpy()


def _series_of(array: pa.Array) -> pl.Series:
    """Convert to a polars series as a column of rows: of an array alone, polars loads pyarrow's functions."""
    return frame_of(pa.RecordBatch.from_arrays([array], ["values"]))["values"]


def bytes_of(value: bytes) -> pa.Scalar:
    """Return the binary scalar."""
    return arrow_of(pl.Series([value], dtype=pl.Binary))[0]


def frame_of(rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    """Convert to a polars frame; decimals of more than 38 digits, and times at some offsets, become text.

    Types that polars lacks are refused, since it might panic when it converts them.
    """
    for index, field in enumerate(rows.schema):
        offset = _offset_of(field.type)
        if pa.types.is_decimal256(field.type) or offset is not None:
            column = rows.column(index)
            text = column.cast(pa.large_string()) if offset is None else _local_times(column, offset)
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


def is_readable(kind: pa.DataType) -> bool:
    """Whether columns of a type can become a polars frame."""
    try:
        frame_of(pa.schema([("", kind)]).empty_table())
    except (DataError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False
    return True


_UNITS: Final = ("s", "ms", "us", "ns")

TIME_FORMATS: Final = {unit: f"%Y-%m-%dT%H:%M:%S%.{3 * power}f" for power, unit in enumerate(_UNITS)}
"""Formats in which polars writes times to CSV, by their unit."""

_OFFSET: Final = re.compile(r"([+-])(\d\d):?(\d\d)")


def _offset_of(kind: pa.DataType) -> timedelta | None:
    """Return the fixed offset of times, such as +05:30, if polars lacks a time zone for it."""
    if not pa.types.is_timestamp(kind) or (match := _OFFSET.fullmatch(kind.tz or "")) is None:
        return None
    try:
        pl.from_arrow(pa.nulls(0, kind))
    except pl.exceptions.PolarsError:
        sign = -1 if match[1] == "-" else 1
        return sign * timedelta(hours=int(match[2]), minutes=int(match[3]))
    return None


def _local_times(column: pa.Array | pa.ChunkedArray, offset: timedelta) -> pa.Array:
    """Format times as polars does at an offset that it knows: local times with the offset."""
    frame = frame_of(pa.table({"": column.cast(pa.timestamp(column.type.unit))}))
    unit = cast(pl.Datetime, frame.dtypes[0]).time_unit
    minutes = abs(offset) // timedelta(minutes=1)
    zone = f"{'-' if offset < timedelta(0) else '+'}{minutes // 60:02}{minutes % 60:02}"
    return arrow_of((frame.to_series() + offset).dt.strftime(TIME_FORMATS[unit] + zone))


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


_SIGNED: Final = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_UNSIGNED: Final = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
_FLOATS: Final = (pa.float16(), pa.float32(), pa.float64())
_TEXTS: Final = (pa.string(), pa.large_string(), pa.string_view())
_BINARIES: Final = (pa.binary(), pa.large_binary(), pa.binary_view())
_MAX_DIGITS_128, _MAX_DIGITS_256 = 38, 76


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the narrowest type that holds all values of both types; None if there is none.

    An integer is no floating-point number: beyond 2**53 it would lose digits, and 10 would become 10.0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> common_type(pa.int32(), pa.uint32()), common_type(pa.int64(), pa.float64())
    (DataType(int64), None)
    """
    if left.equals(right):
        return left
    if pa.types.is_null(left) or pa.types.is_null(right):
        return right if pa.types.is_null(left) else left
    if pa.types.is_dictionary(left) or pa.types.is_dictionary(right):
        return common_type(
            *(kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (left, right))
        )
    answers = (join(left, right) for join in _JOINS)
    return next((answer for answer in answers if answer is not None), None)


def joined_type(name: str, kinds: Sequence[tuple[str, pa.DataType]]) -> pa.DataType:
    """Return the type that a column has in several inputs, from their names and its types there.

    Types that cannot be joined without loss are refused.
    """
    source, joined = kinds[0]
    for other_source, kind in kinds[1:]:
        answer = common_type(joined, kind)
        if answer is None:
            raise DataError(
                f"column '{name}' is {joined} in {source} and {kind} in {other_source}",
                expected="types that can be joined without loss",
                remedy="cast the column to one type, or use the command on one input at a time",
            )
        if answer != joined and answer.equals(kind):
            source = other_source
        joined = answer
    return joined


def _wider(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    for family in (_SIGNED, _UNSIGNED, _FLOATS):
        if left in family and right in family:
            return max(left, right, key=family.index)
    for signed, unsigned in ((left, right), (right, left)):
        if signed in _SIGNED and unsigned in _UNSIGNED:
            bits = max(signed.bit_width, 2 * unsigned.bit_width)
            return next((kind for kind in _SIGNED if kind.bit_width == bits), None)
    return None


def _text(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if left in _TEXTS and right in _TEXTS:
        return pa.large_string()
    return pa.large_binary() if left in _BINARIES and right in _BINARIES else None


def _decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if not (pa.types.is_decimal(left) and pa.types.is_decimal(right)):
        return None
    scale = max(left.scale, right.scale)
    digits = max(left.precision - left.scale, right.precision - right.scale) + scale
    if digits <= _MAX_DIGITS_128:
        return pa.decimal128(digits, scale)
    return pa.decimal256(digits, scale) if digits <= _MAX_DIGITS_256 else None


def _time(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Join times of the finer unit; an instant is no time without a zone, and a zone is not dropped."""
    if pa.types.is_date(left) and pa.types.is_date(right):
        return pa.date64()
    kinds: tuple[tuple[Callable[[pa.DataType], bool], Callable[[str], pa.DataType]], ...] = (
        (pa.types.is_timestamp, lambda unit: pa.timestamp(unit, left.tz)),
        (pa.types.is_duration, pa.duration),
        (pa.types.is_time, lambda unit: pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)),
    )
    for is_kind, of_unit in kinds:
        if is_kind(left) and is_kind(right) and getattr(left, "tz", None) == getattr(right, "tz", None):
            return of_unit(max(left.unit, right.unit, key=_UNITS.index))
    return None


def _nested(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if _is_list(left) and _is_list(right):
        inner = common_type(left.value_type, right.value_type)
        return None if inner is None else pa.large_list(inner)
    if not (pa.types.is_struct(left) and pa.types.is_struct(right)):
        return None
    pairs = list(zip(left, right, strict=False))
    if left.num_fields != right.num_fields or any(one.name != other.name for one, other in pairs):
        return None
    kinds = [common_type(one.type, other.type) for one, other in pairs]
    if any(kind is None for kind in kinds):
        return None
    return pa.struct([(one.name, kind) for (one, _), kind in zip(pairs, kinds, strict=True)])


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


_JOINS: Final = (_wider, _text, _decimal, _time, _nested)

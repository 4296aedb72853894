"""Rows and numbers that a program has: frames and arrays of any library as one table, numbers as texts."""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl

from uqcli.base.errors import DataError, UsageError

Column: TypeAlias = Any
"""One value per row: a sequence, an array, or a column of polars, pandas, pyarrow or another library."""

Decimal: TypeAlias = str | int | float | Fraction


def is_frame(columns: Any) -> bool:
    """Whether columns have names: a mapping, or a data frame of any library."""
    return isinstance(columns, Mapping) or frame_of(columns) is not None


def by_name(columns: Mapping[Any, Column] | None) -> dict[str, Column]:
    """Return the columns of a mapping or a data frame, by name as text; names may be numbers.

    Raises DataError if two names are equal as text, or if there are none.
    """
    if columns is None:
        return {}
    frame = frame_of(columns)
    if frame is None and not isinstance(columns, Mapping):
        raise DataError("columns without names", expected="a data frame, or a mapping from names to columns")
    column_by_name: dict[str, Column] = {}
    for name in columns if frame is None else frame.columns:
        if str(name) in column_by_name:
            raise DataError(f"two columns have the name '{name}'", remedy="rename one")
        column_by_name[str(name)] = columns[name] if frame is None else frame.get_column(name)
    return column_by_name


def frame_of(values: Any) -> nw.DataFrame[Any] | None:
    """Wrap a data frame of any library; return None for anything else."""
    try:
        frame: Any = nw.from_native(values, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError("two columns of a data frame have one name", remedy="rename one") from error
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def table_of(columns: Mapping[str, Column]) -> pl.DataFrame:
    """Combine columns into a data frame; refuse those of different lengths."""
    series = [series_of(name, values) for name, values in columns.items()]
    for column in series:
        if len(column) != len(series[0]):
            raise DataError(
                f"{column.name} has {len(column)} values",
                expected=f"{len(series[0])}, as {series[0].name} has",
            )
    return pl.DataFrame(series)


def series_of(name: str, values: Column) -> pl.Series:
    """Convert a column of any library; refuse more than one dimension, and mixed types."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist() if np.ma.is_masked(values) else values.data  # None if masked
    column = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return _polars_of(column).alias(name)
    is_arrow = hasattr(values, "__arrow_c_array__")  # pyarrow arrays, and others with the Arrow interface
    shape = (len(values),) if is_arrow else np.asarray(values).shape
    if len(shape) != 1:
        raise DataError(f"{name} has shape {shape}", expected="shape (n,)")
    kind = "" if is_arrow else np.asarray(values).dtype.kind
    try:
        if kind == "M" and np.datetime_data(np.asarray(values).dtype)[0] not in _UNITS_OF_TIME:
            values = np.asarray(values).astype("datetime64[us]")
        is_array = kind and kind in "biufM"
        return pl.Series(name, values if is_arrow else np.asarray(values) if is_array else list(values))
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{name} cannot be read: {error}", expected="values of one kind") from error


def _polars_of(column: nw.Series[Any]) -> pl.Series:
    """Convert a column; values of several kinds stay objects, which are refused if they are read."""
    try:
        return column.to_polars()
    except Exception:  # of whichever library it is
        values = column.to_list()
    try:
        return pl.Series(values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(values, dtype=pl.Object)


_UNITS_OF_TIME: Final = ("D", "ms", "us", "ns")
"""Units of NumPy's times that polars can read."""


def python_number(value: Any) -> Any:
    """Convert a number of NumPy; a 32-bit one as it prints, like every float."""
    if not isinstance(value, np.number | np.bool_):
        return value
    return float(str(value)) if isinstance(value, np.floating) else value.item()


_DIGITS: Final = 100
"""Working precision; more digits than an exact number may have."""


def decimal_text(name: str, value: Decimal) -> str:
    """Convert a number to decimal text, the form that is parsed exactly and saved.

    Text is unchanged; a float is read as it prints, 0.7 as seven tenths. Raises UsageError for a fraction
    without a finite decimal expansion.

    >>> decimal_text("precision", 0.7), decimal_text("precision", Fraction(1, 8))
    ('0.7', '0.125')
    """
    if not isinstance(value, Fraction):
        return str(value)
    with decimal.localcontext(prec=_DIGITS):
        exact = decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)
    if Fraction(exact) != value:
        raise UsageError(
            f"{name} {value} is no decimal",
            expected="a fraction of tenths, hundredths and so on",
            remedy="give as many digits as it takes, as text",
        )
    return f"{exact:f}"


def as_given(table: pl.DataFrame, native: Any) -> Any:
    """Return a table as a frame of the kind that rows were given as; of polars if they were in files.

    A frame of pandas keeps its index if no row was left out, and a mapping becomes one of arrays.
    """
    if native is None:
        return table
    if isinstance(native, Mapping):
        return {name: table[name].to_numpy() for name in table.columns}
    given = frame_of(native)
    assert given is not None  # rows were made of it
    if given.implementation.is_polars():
        return table
    returned: Any = nw.from_arrow(table, backend=given.implementation).to_native()
    if given.implementation.is_pandas_like() and len(returned) == len(native):
        returned.index = native.index
    return returned

"""Encode feature columns: numeric or categorical, missing values allowed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.counts import Bools, Feature, Floats, codes_of_texts
from uqcli.base.errors import DataError
from uqcli.engines import refusals
from uqcli.engines.local.read.source import Batch
from uqcli.engines.request import FeatureRequest

_FRACTION_FORMATS = {"ms": "%.3f", "us": "%.6f", "ns": "%.9f"}


def texts_of(series: pl.Series, name: str) -> pl.Series:
    """Convert a column to stripped text; empty text and non-finite numbers become null.

    Times are formatted as polars writes them to CSV.

    Raises
    ------
    DataError
        The column holds lists or other values without a text form.
    """
    if isinstance(series.dtype, pl.Datetime):
        zone = "" if series.dtype.time_zone is None else "%z"
        return series.dt.strftime(f"%Y-%m-%dT%H:%M:%S{_FRACTION_FORMATS[series.dtype.time_unit]}{zone}")
    if series.dtype == pl.Time:
        return series.dt.strftime("%H:%M:%S%.9f")
    if series.dtype.is_nested() or series.dtype in (pl.Duration, pl.Binary, pl.Object):
        raise refusals.of_another_type(f"column '{name}' holds {series.dtype}", "texts or numbers")
    if series.dtype.is_float():
        series = series.set(~series.is_finite().fill_null(value=False), None)
    text = series.cast(pl.String).str.strip_chars()
    lower = text.str.to_lowercase()
    text = text.set(text.eq_missing(""), None)
    truth = lower.is_in(["true", "false"]).fill_null(value=False)
    return text.zip_with(~truth, lower)  # as Boolean columns are formatted


def key_texts(series: pl.Series, name: str, kind: pa.DataType | None) -> pl.Series:
    """Convert a key column to text (see texts_of), in the type in which several inputs are compared.

    Whole floating-point numbers are written as integers where another input has integers.
    """
    if kind is None:
        return texts_of(series, name)
    if pa.types.is_integer(kind) and series.dtype.is_float():
        return texts_of(series, name).str.replace(r"^(-?\d+)\.0$", "$1")
    return texts_of(series.cast(pl.Series(pl.from_arrow(pa.nulls(0, kind))).dtype), name)


def encoded(batch: Batch, request: FeatureRequest, valid: Bools) -> tuple[Floats, Bools]:
    """Encode a feature of known type or levels in one batch, as in ``Feature``.

    Returns
    -------
    values : float64, shape (n,)
        A text in a numeric feature is missing.
    unknown : bool, shape (n,)
        Whether a text is none of the levels, or no number.

    Raises
    ------
    DataError
        A numeric feature holds an infinite number.
    """
    series = batch.column(request.name)
    if request.levels is not None:
        codes = _level_codes(texts_of(series, request.name), request.levels)
        return codes, codes == len(request.levels)
    values, wrong = _parsed_numbers(number_column(batch, request.name), request.name)
    infinite = wrong & np.isinf(values) & valid
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(
            f"feature '{request.name}' holds '{series[row]}' in {batch.location(row)}",
            expected="finite numbers or empty values",
        )
    return values, wrong


def number_column(batch: Batch, name: str) -> pl.Series:
    """Return a column whose numbers have a decimal point."""
    series = batch.column(name)
    return batch.pointed(series) if series.dtype == pl.String else series


def whole_feature(name: str, parts: Sequence[tuple[pl.Series, pl.Series]], *, text: bool | None) -> Feature:
    """Encode all rows of a feature column; numeric if every value is a number, unless text is requested.

    Parameters
    ----------
    parts
        The column in each batch, as it is and with decimal points in numbers.

    Raises
    ------
    DataError
        A value is infinite.
    """
    if not text:
        parsed = [_parsed_numbers(numbers, name) for _, numbers in parts]
        if not any(wrong.any() for _, wrong in parsed):
            return Feature(levels=None, value=np.concatenate([values for values, _ in parsed]))
        if all((wrong <= np.isinf(values)).all() for values, wrong in parsed):
            raise DataError(
                f"feature '{name}' holds an infinite number",
                expected="finite numbers or empty values",
                remedy="correct these values, or leave unknown ones empty",
            )
    texts = [texts_of(part, name) for part, _ in parts]
    levels = tuple(sorted(set().union(*(part.drop_nulls().unique().to_list() for part in texts))))
    return Feature(levels=levels, value=np.concatenate([_level_codes(part, levels) for part in texts]))


def _parsed_numbers(series: pl.Series, name: str) -> tuple[Floats, Bools]:
    """Convert to numbers (NaN if missing), with a mask of values that are neither finite nor missing."""
    if series.dtype.is_numeric() or series.dtype == pl.Null:
        parsed, missing = series.cast(pl.Float64), series.is_null()
    else:
        text = texts_of(series, name)
        parsed, missing = text.cast(pl.Float64, strict=False), text.is_null()
    missing = missing | parsed.is_nan().fill_null(value=False)
    value = parsed.fill_null(float("nan")).to_numpy()
    return value, ~np.isfinite(value) & ~missing.to_numpy()


def infinite_numbers(series: pl.Series) -> Bools:
    """Return the mask of infinite values in a numeric column."""
    if not series.dtype.is_float():
        return np.zeros(len(series), dtype=np.bool_)
    return series.is_infinite().fill_null(value=False).to_numpy()


def _level_codes(text: pl.Series, levels: Sequence[str]) -> Floats:
    codes = text.replace_strict(codes_of_texts(levels), default=len(levels), return_dtype=pl.Float64)
    return codes.set(text.is_null(), -1.0).to_numpy()

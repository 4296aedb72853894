"""What the first rows show of columns that nobody named: what they hold, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from uqcli.base.dates import date_of
from uqcli.base.defaults import DECIMAL
from uqcli.engines.local.check.values import hundredths
from uqcli.engines.notation import Form, form_of
from uqcli.engines.protocol import Columns

_FEW: Final = 10
"""Most different texts that are listed."""

_DATE: Final = r"^\d{4}-\d{2}-\d{2}"


def described(names: Sequence[str], first: pl.DataFrame) -> Columns:
    """Describe columns by their first rows, of which those that cannot be read are left out."""
    columns = {name: first.get_column(name).alias("") for name in first.columns}
    texts = {name: _texts(column) for name, column in columns.items() if column.dtype == pl.String}
    forms = {name: _form(text) for name, text in texts.items()}
    numbers = {name: _numbers(column, forms.get(name)) for name, column in columns.items()}
    distinct = {name: values.unique().sort() for name, values in numbers.items() if len(values)}
    binary = [name for name, values in distinct.items() if values.to_list() == [0.0, 1.0]]
    binary += [name for name, column in columns.items() if column.dtype == pl.Boolean]
    binary += [name for name, form in forms.items() if form.kind == "labels" or _is_truth(texts[name])]
    missing = {name for name, column in columns.items() if column.null_count() or _lacks(column)}
    missing |= {name for name, text in texts.items() if len(text) < len(columns[name]) or forms[name].nulls}
    missing |= {name for name in distinct if len(numbers[name]) < len(columns[name])}  # NaN in texts
    different = {name: tuple(text.unique().sort()) for name, text in texts.items()}
    return Columns(
        names=tuple(names),
        numeric=tuple(name for name, values in distinct.items() if len(values) > 2),
        shares=tuple(name for name, values in distinct.items() if _are_shares(values)),
        binary=tuple(name for name in first.columns if name in binary),
        missing=frozenset(missing),
        texts={name: values for name, values in different.items() if len(values) <= _FEW},
        forms=forms,
    )


def _form(text: pl.Series) -> Form:
    """Find the form of the texts of a column; most columns of numbers are plain."""
    plain = text.cast(pl.Float64, strict=False)
    if plain.null_count() or plain.is_empty():
        return form_of(text.unique(maintain_order=True).to_list())
    has_point = text.str.contains(DECIMAL, literal=True).any()
    return Form(kind="numbers", decimal=DECIMAL if has_point else "", example=text[0])


def _numbers(column: pl.Series, form: Form | None) -> pl.Series:
    """Return the numbers of a column, without missing ones, by its own decimal mark; none if it has texts."""
    if form is None:
        values = column.cast(pl.Float64) if column.dtype.is_numeric() else pl.Series([], dtype=pl.Float64)
        return values.drop_nulls().drop_nans()
    if form.kind != "numbers":
        return pl.Series([], dtype=pl.Float64)
    text = _texts(column)
    text = hundredths(text.str.replace(",", DECIMAL, literal=True) if form.decimal == "," else text)
    return text.cast(pl.Float64, strict=False).drop_nulls().drop_nans()


def _are_shares(distinct: pl.Series) -> bool:
    """Whether sorted numbers can be probabilities of which some are neither 0 nor 1."""
    return len(distinct) > 2 and distinct[0] >= 0 and distinct[-1] <= 1


def _is_truth(text: pl.Series) -> bool:
    return set(text.str.to_lowercase().unique()) == {"true", "false"}


def _lacks(column: pl.Series) -> bool:
    """Whether a column of numbers has one that is none."""
    return column.dtype.is_float() and bool((~column.is_finite()).any())


def holds_dates(column: pl.Series) -> bool:
    """Whether a column holds dates or times, or texts that name dates, such as 2026-03-31 and 31.03.2026."""
    if column.dtype.is_temporal():
        return isinstance(column.dtype, pl.Datetime) or column.dtype == pl.Date
    if column.dtype != pl.String:
        return False
    text = _texts(column)
    if not len(text):
        return False
    if text.str.contains(_DATE).all():
        days = text.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
        return int(days.null_count()) == 0
    if date_of(text[0]) is None or text.str.contains(r"^\d+$").any():
        return False
    return all(date_of(day) is not None for day in text.unique())


def holds_keys(column: pl.Series) -> bool:
    """Whether a column holds whole numbers, or texts that are not all decimal numbers."""
    if column.dtype != pl.String:
        return column.dtype.is_integer()
    text = _texts(column)
    return text.cast(pl.Float64, strict=False).null_count() > 0 or text.cast(
        pl.Int64, strict=False
    ).count() == len(text)


def _texts(column: pl.Series) -> pl.Series:
    """Return the texts of a column, without empty ones."""
    text = column.drop_nulls().str.strip_chars()
    return text.filter(text != "")

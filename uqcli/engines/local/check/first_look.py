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
    looks = {name: _look(first.get_column(name).alias("")) for name in first.columns}
    texts = {name: look for name, look in looks.items() if isinstance(look, _TextLook)}
    return Columns(
        names=tuple(names),
        numeric=tuple(name for name, look in looks.items() if len(look.distinct) > 2),
        shares=tuple(name for name, look in looks.items() if _are_shares(look.distinct)),
        binary=tuple(name for name, look in looks.items() if look.is_binary()),
        missing=frozenset(name for name, look in looks.items() if look.is_missing()),
        texts={name: look.different for name, look in texts.items() if len(look.different) <= _FEW},
        forms={name: look.form for name, look in texts.items()},
    )


class _Look:
    """The first rows of a column, and the numbers in them."""

    def __init__(self, column: pl.Series, numbers: pl.Series) -> None:
        self._column, self._numbers = column, numbers
        self.distinct = numbers.unique().sort()

    def is_binary(self) -> bool:
        """Whether the column has two values, which can be labels."""
        return self._column.dtype == pl.Boolean or self.distinct.to_list() == [0.0, 1.0]

    def is_missing(self) -> bool:
        """Whether a value is missing, or is no number among numbers."""
        has_hole = bool(self._column.null_count()) or _lacks(self._column)
        return has_hole or 0 < len(self._numbers) < len(self._column)


class _TextLook(_Look):
    """The first rows of a column of texts, and how they are written."""

    def __init__(self, column: pl.Series) -> None:
        self._texts = _texts(column)
        self.form = _form(self._texts)
        self.different = tuple(self._texts.unique().sort())
        super().__init__(column, _numbers(self._texts, self.form))

    def is_binary(self) -> bool:
        """Whether the texts are two, which can be labels, or true and false."""
        return super().is_binary() or self.form.kind == "labels" or _is_truth(self._texts)

    def is_missing(self) -> bool:
        """Whether a text is empty or stands for a missing value."""
        return super().is_missing() or len(self._texts) < len(self._column) or bool(self.form.nulls)


def _look(column: pl.Series) -> _Look:
    if column.dtype == pl.String:
        return _TextLook(column)
    numbers = column.cast(pl.Float64) if column.dtype.is_numeric() else pl.Series([], dtype=pl.Float64)
    return _Look(column, numbers.drop_nulls().drop_nans())


def _form(text: pl.Series) -> Form:
    """Find the form of the texts of a column; most columns of numbers are plain."""
    plain = text.cast(pl.Float64, strict=False)
    if plain.null_count() or plain.is_empty():
        return form_of(text.unique(maintain_order=True).to_list())
    has_point = text.str.contains(DECIMAL, literal=True).any()
    return Form(kind="numbers", decimal=DECIMAL if has_point else "", example=text[0])


def _numbers(text: pl.Series, form: Form) -> pl.Series:
    """Return the numbers of texts, without missing ones, by their decimal mark; none if they hold others."""
    if form.kind != "numbers":
        return pl.Series([], dtype=pl.Float64)
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

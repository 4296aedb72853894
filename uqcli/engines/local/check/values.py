"""Convert a column of any type to numbers or labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.base.defaults import DECIMAL
from uqcli.base.errors import DataError
from uqcli.base.escaping import printable
from uqcli.engines import refusals
from uqcli.engines.local.read.csv_text import LABEL_KIND, NumberKind
from uqcli.engines.local.read.source import Batch
from uqcli.engines.probabilities import class_spellings, positive_spellings
from uqcli.engines.request import Roles

_TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum)
_MAX_TEXTS: Final = 1000
"""Maximum number of texts by which a remedy is chosen."""

_MAX_CHARACTERS = 60
"""Maximum characters of a value in a message."""

_INFINITIES = ["inf", "-inf", "+inf", "infinity", "-infinity", "+infinity"]


def number_kinds(roles: Roles, positive_value: str | None) -> dict[str, NumberKind]:
    """Return the columns of CSV that hold numbers or labels and nothing else, with the types to read."""
    weight = [] if roles.weight is None else [roles.weight]
    kinds: dict[str, NumberKind] = dict.fromkeys([*roles.all_numbers().values(), *weight], pl.Float64)
    if roles.label and not roles.classes and positive_value is None:
        kinds.setdefault(roles.label, LABEL_KIND)
    texts = {*roles.keys, *(feature.name for feature in roles.features)}
    return {name: kind for name, kind in kinds.items() if name not in texts}


def numbers_of(batch: Batch, column: str, *, narrow: bool) -> tuple[Floats, Bools | None]:
    """Convert to numbers (NaN if null), with the mask of nulls; without a mask, all are finite."""
    series = batch.column(column)
    if series.dtype == pl.String and batch.decimal in (None, DECIMAL):  # most texts are plain numbers
        plain = series.cast(pl.Float64, strict=False)
        series = series if plain.null_count() else plain
    if isinstance(series.dtype, _TEXT_TYPES):
        text = series.cast(pl.String).str.strip_chars()
        null = (text.is_null() | (text == "").fill_null(value=False)).to_numpy()
        parsed = batch.pointed(text).cast(pl.Float64, strict=False)
        wrong = parsed.is_null() & ~pl.Series(null)
        if wrong.any():
            raise _no_number(batch, column, text, wrong)
    elif series.dtype.is_numeric() or series.dtype == pl.Null:
        parsed = series if narrow and series.dtype == pl.Float32 else series.cast(pl.Float64)
        null = None
    else:
        problem = f"column '{column}' of {batch.origin.display_name} holds {series.dtype}"
        raise refusals.of_another_type(problem, "numbers")
    if parsed.null_count():
        parsed = parsed.fill_null(float("nan"))
    with np.errstate(invalid="ignore"):  # signalling NaNs
        value = parsed.to_numpy() + 0.0  # turns -0.0 into 0.0
    if np.isfinite(value).all():
        return value, None
    return value, series.is_null().to_numpy() if null is None else null


def _no_number(batch: Batch, column: str, text: pl.Series, wrong: pl.Series) -> DataError:
    """Create the error for non-numeric texts."""
    texts = text.filter(wrong)[:_MAX_TEXTS].to_list()
    expected, remedy = refusals.number_advice(column, texts, batch.decimal)
    advice = (
        expected,
        remedy or f"if '{printable(texts[0], 24)}' means a missing value, add it with --null-value",
    )
    return unreadable(batch, column, text, wrong.to_numpy(), advice)


def labels_of(batch: Batch, column: str, positive_value: str | None) -> tuple[Bools, Bools]:
    """Convert to binary labels, with the mask of nulls."""
    series = batch.column(column)
    if positive_value is not None:
        return _labels_by_text(series, positive_value)
    if series.dtype == pl.Boolean:
        return series.fill_null(value=False).to_numpy(), series.is_null().to_numpy()
    if isinstance(series.dtype, _TEXT_TYPES):
        text = series.cast(pl.String).str.strip_chars().str.to_lowercase()
        digits = batch.pointed(text).replace({"true": "1", "false": "0"})
        null = _without_value(text).to_numpy()
        parsed = digits.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    elif series.dtype.is_integer() and not series.null_count():
        parsed = series.to_numpy()
        null = np.zeros(len(parsed), dtype=np.bool_)
    elif series.dtype.is_numeric() or series.dtype == pl.Null:
        parsed = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        null = np.isnan(parsed)
    else:
        problem = f"label column '{column}' of {batch.origin.display_name} holds {series.dtype}"
        raise refusals.of_another_type(problem, "0/1 or true/false")
    positive: Bools = parsed == 1
    wrong = ~(positive | (parsed == 0) | null)
    if wrong.any():
        text = series.cast(pl.String)
        names = text.filter(pl.Series(wrong)).unique().sort()[:2].to_list()
        such_as = " or ".join(printable(name, _MAX_CHARACTERS) for name in names)
        which = f", {such_as}," if len(names) > 1 else ""
        advice = "0/1 or true/false", f"say which label is positive{which} with --positive VALUE"
        raise unreadable(batch, column, text, wrong, advice)
    return positive, null


def class_of_labels(series: pl.Series, classes: Sequence[str]) -> tuple[Ints, Bools, Bools]:
    """Return the class index of each label, compared as text.

    Returns
    -------
    class_index : int64, shape (rows,)
        Index in ``classes``; 0 if the label is null or unknown.
    null, unknown : bool, shape (rows,)
        Rows without a label, and rows with an unknown label.
    """
    if series.dtype.is_float():
        series = series.fill_nan(None)
    text = series.cast(pl.String).str.strip_chars()
    null = (_without_value(text) & ~text.is_in(list(classes)).fill_null(value=False)).to_numpy()
    index_by_text, ignores_case = class_spellings(classes)
    if ignores_case:
        text = text.str.to_lowercase()
    class_index = text.replace_strict(index_by_text, default=-1, return_dtype=pl.Int64).to_numpy()
    return np.maximum(class_index, 0), null, (class_index < 0) & ~null


def _without_value(text: pl.Series) -> pl.Series:
    """Return the mask of label texts that are null, empty or "nan" (the number NaN in other formats)."""
    return text.is_null() | text.str.to_lowercase().is_in(["", "nan"]).fill_null(value=False)


def placeholder_in(batch: Batch, column: str, positive: Bools) -> str | None:
    """Return the first of the texts, by their order, that are not positive and may mean a missing label."""
    series = batch.column(column)
    if not isinstance(series.dtype, _TEXT_TYPES):
        return None
    text = series.cast(pl.String).str.strip_chars().filter(~pl.Series(positive))
    placeholders = text.filter(text.str.to_lowercase().is_in(list(refusals.PLACEHOLDERS)))
    return None if placeholders.is_empty() else str(placeholders.min())


def _labels_by_text(series: pl.Series, positive_value: str) -> tuple[Bools, Bools]:
    text = series.cast(pl.String).str.strip_chars()
    null = _without_value(text)
    spellings, ignores_case = positive_spellings(positive_value)
    compared = text.str.to_lowercase() if ignores_case else text
    positive = compared.is_in(list(spellings)).fill_null(value=False)
    if isinstance(series.dtype, _TEXT_TYPES):
        null = (null | text.str.to_lowercase().is_in(_INFINITIES)) & ~positive
    if series.dtype.is_float():
        null |= ~series.is_finite().fill_null(value=False)
    return positive.to_numpy(), null.to_numpy()


def unreadable(
    batch: Batch, column: str, text: pl.Series, wrong: Bools, advice: tuple[str, str]
) -> DataError:
    """Create the error for values that --on-invalid cannot drop, with what was expected and the remedy."""
    expected, remedy = advice
    row = int(np.argmax(wrong))
    if batch.footer is not None and row == len(wrong) - 1:
        return refusals.footer(batch.footer, batch.location(row))
    if batch.cut and batch.first_row and row == len(wrong) - 1:  # half a value is neither null nor a label
        remedy = refusals.TRUNCATED_REMEDY
    return DataError(
        f"column '{column}' has an unreadable value, "
        f"'{printable(str(text[row]), _MAX_CHARACTERS)}' in {batch.location(row)}",
        expected=expected,
        remedy=remedy,
    )

"""Convert a column of any type to numbers, labels, texts or features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from uqcli.base.counts import FLOATING_WHOLE, Bools, Feature, Floats, Ints, codes_of_texts
from uqcli.base.dates import TIME, date_of
from uqcli.base.defaults import DECIMAL
from uqcli.base.errors import DataError, Words, words
from uqcli.base.wording import printable
from uqcli.engines import refusals
from uqcli.engines.local.arrow import TIME_FORMATS, frame_of
from uqcli.engines.local.read.batch import Batch
from uqcli.engines.local.read.csv_text import LABEL_KIND, NumberKind
from uqcli.engines.notation import HUNDREDFOLD, NULLS, PERCENT
from uqcli.engines.probabilities import class_spellings, positive_spellings
from uqcli.engines.refusals import FormError
from uqcli.engines.request import FeatureRequest, Roles
from uqcli.kernels.units import first_rows

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
    if series.dtype == pl.String and batch.decimal in ("", DECIMAL):  # most texts are plain numbers
        plain = series.cast(pl.Float64, strict=False)
        series = series if plain.null_count() else plain
    if isinstance(series.dtype, _TEXT_TYPES):
        text = series.cast(pl.String).str.strip_chars()
        null = (text.is_null() | (text == "").fill_null(value=False)).to_numpy()
        parsed = hundredths(batch.pointed(text)).cast(pl.Float64, strict=False)
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


def hundredths(text: pl.Series) -> pl.Series:
    """Write numbers that a percent sign follows as decimals, of the same digits; all other texts stay."""
    if not text.str.contains("%", literal=True).any():
        return text
    text = text.str.strip_chars()
    zeros = text.str.replace(PERCENT, "${1}00${2}")
    return zeros.str.replace(HUNDREDFOLD, "${1}${2}.${3}${4}${5}").zip_with(zeros.ne_missing(text), text)


def _no_number(batch: Batch, column: str, text: pl.Series, wrong: pl.Series) -> DataError:
    """Create the error for non-numeric texts."""
    texts = text.filter(wrong)[:_MAX_TEXTS].to_list()
    expected, remedy = refusals.number_advice(column, texts, batch.decimal)
    advice = (expected, remedy or refusals.as_missing(texts[0]))
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
        advice = "0/1 or true/false", words("say which label is positive{} with --positive VALUE", which)
        raise unreadable(batch, column, text, wrong, advice)
    return positive, null


def class_of_labels(series: pl.Series, classes: Sequence[str]) -> tuple[Ints, Bools, Bools]:
    """Return the class index of each label, compared as text, and the masks of null and of unknown labels.

    All have shape (rows,). The index in ``classes`` is 0 if the label is null or unknown.
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


def placeholders_in(batch: Batch, column: str, positive: Bools) -> list[str]:
    """Return the first of the texts, by their order, that are not positive and may mean a missing label."""
    series = batch.column(column)
    if not isinstance(series.dtype, _TEXT_TYPES):
        return []
    text = series.cast(pl.String).str.strip_chars().filter(~pl.Series(positive))
    placeholders = text.filter(text.str.to_lowercase().is_in(list(NULLS)))
    return placeholders.sort().head(1).to_list()


def label_texts(batch: Batch, column: str) -> list[str]:
    """Return the first texts of labels, by their order."""
    text = batch.column(column).cast(pl.String).str.strip_chars()
    return text.filter(~_without_value(text)).unique().sort()[: refusals.LABELS_NAMED].to_list()


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
    batch: Batch, column: str, text: pl.Series, wrong: Bools, advice: tuple[str, Words]
) -> DataError:
    """Create the error for values that --on-invalid cannot drop, with what was expected and the remedy."""
    expected, remedy = advice
    row = int(np.argmax(wrong))
    if batch.footer and row == len(wrong) - 1:
        return refusals.footer(batch.footer, batch.location(row))
    found = (
        f"column '{column}' has an unreadable value, "
        f"'{printable(str(text[row]), _MAX_CHARACTERS)}' in {batch.location(row)}"
    )
    if batch.cut and batch.first_row and row == len(wrong) - 1:  # half a value is neither null nor a label
        return DataError(found, expected=expected, remedy=refusals.TRUNCATED_REMEDY)
    return FormError(found, expected=expected, remedy=remedy)


def texts_of(series: pl.Series, name: str) -> pl.Series:
    """Convert a column to stripped text; empty text and non-finite numbers become null.

    Times are formatted as polars writes them to CSV. Lists and other values without a text form are refused.
    Rows of a dictionary share its texts.
    """
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        distinct, place = distinct_of(series)
        return texts_of(distinct.cast(pl.String), name).gather(place)
    if isinstance(series.dtype, pl.Datetime):
        zone = "" if series.dtype.time_zone is None else "%z"
        return series.dt.strftime(TIME_FORMATS[series.dtype.time_unit] + zone)
    if series.dtype == pl.Time:
        return series.dt.strftime("%H:%M:%S%.9f")
    if series.dtype == pl.Date or series.dtype.is_integer():
        return series.cast(pl.String)  # which has neither blanks nor truth values
    has_text = not series.dtype.is_nested() and not isinstance(series.dtype, pl.BaseExtension)
    if not has_text or series.dtype in (pl.Duration, pl.Binary, pl.Object):
        raise refusals.of_another_type(f"column '{name}' holds {series.dtype}", "texts or numbers")
    if series.dtype.is_float():
        series = series.set(~series.is_finite().fill_null(value=False), None)
    text = series.cast(pl.String).str.strip_chars()
    lower = text.str.to_lowercase()
    text = text.set(text.eq_missing(""), None)
    truth = lower.is_in(["true", "false"]).fill_null(value=False)
    return text.zip_with(~truth, lower)  # as Boolean columns are formatted


def distinct_of(series: pl.Series) -> tuple[pl.Series, Ints]:
    """Return the distinct values of a dictionary by their first rows, and the place of each row's value."""
    codes = series.to_physical().cast(pl.Int64).fill_null(-1).to_numpy() + 1
    number = np.empty(int(codes.max(initial=0)) + 1, dtype=np.int32)
    first = first_rows(codes, number)
    number[codes[first]] = np.arange(len(first))
    return series.gather(first), number[codes].astype(np.int64)


def key_texts(series: pl.Series, name: str, kind: pa.DataType | None = None) -> pl.Series:
    """Convert a key column to text (see texts_of), in the type in which several inputs are compared.

    A whole number names one group, customer or id, whether it is written as 2 or as 2.0.
    """
    if kind is None:
        return whole_numbers(texts_of(series, name))
    return texts_of(series.cast(frame_of(pa.schema([("", kind)]).empty_table()).dtypes[0]), name)


def days_of(text: pl.Series) -> pl.Series:
    """Return the dates that texts name, with or without a time of day; texts that name none stay."""
    days = text.str.slice(0, len("2026-03-31"))
    if days.str.contains(_DAY).fill_null(value=True).all():
        return days
    distinct = text.drop_nulls().unique()
    return text.replace(distinct, [str(date_of(day) or day) for day in distinct])


_DAY: Final = r"^\d{4}-\d{2}-\d{2}$"


def dates_of_times(text: pl.Series) -> pl.Series:
    """Return the date in place of a time; all other texts stay."""
    return text.str.replace(TIME, "${1}")


def whole_numbers(text: pl.Series) -> pl.Series:
    """Write whole floating-point numbers as integers; all other texts, such as 02 and 2.50, stay."""
    if not text.str.ends_with(".0").any():  # which takes a fraction of the time of a pattern
        return text
    return text.str.replace(FLOATING_WHOLE, "${1}${2}")


def encoded(batch: Batch, request: FeatureRequest, valid: Bools) -> tuple[Floats, Bools]:
    """Encode a feature of known type or levels in one batch, as in ``Feature``; infinite numbers are refused.

    Returns the values of shape (n,), in which a text in a numeric feature is missing, and the mask of texts
    that are none of the levels, or no number.
    """
    series = batch.column(request.name)
    if request.levels is not None:
        text = texts_of(series, request.name)
        text = dates_of_times(text) if request.dated else text
        codes = _level_codes(text, request.codes, len(request.levels))
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
    """Return a column whose numbers have a decimal point, and no percent sign."""
    series = batch.column(name)
    return hundredths(batch.pointed(series)) if series.dtype == pl.String else series


def whole_feature(name: str, parts: Sequence[tuple[pl.Series, pl.Series]], *, text: bool | None) -> Feature:
    """Encode all rows of a feature column; numeric if every value is a number, unless text is requested.

    Parts are the column in each batch, as it is and with decimal points in numbers. Infinite values are
    refused.
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
    texts = [key_texts(part, name) for part, _ in parts]
    levels = tuple(sorted(set().union(*(part.drop_nulls().unique().to_list() for part in texts))))
    codes = codes_of_texts(levels)
    value = np.concatenate([_level_codes(part, codes, len(levels)) for part in texts])
    return Feature(levels=levels, value=value)


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


def _level_codes(text: pl.Series, code_by_text: Mapping[str, int], unknown: int) -> Floats:
    whole = whole_numbers(text)
    if len(code_by_text) > len(text):  # polars would look through all levels for each batch
        texts = pl.concat([text, whole]).unique().drop_nulls().to_list()
        code_by_text = {name: code_by_text[name] for name in texts if name in code_by_text}
    if whole is not text:  # both may be levels, as in rules of older versions
        text = text.zip_with(text.is_in(list(code_by_text)).fill_null(value=False), whole)
    codes = text.replace_strict(code_by_text, default=unknown, return_dtype=pl.Float64)
    return codes.set(text.is_null(), -1.0).to_numpy()

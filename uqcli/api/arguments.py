"""Convert the arguments of Python: arrays and frames to one table, texts to choices, numbers to decimals."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import fields, replace
from enum import StrEnum
from fractions import Fraction
from functools import wraps
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, get_type_hints

import narwhals as nw
import numpy as np
import polars as pl

from uqcli.base.defaults import LABEL, SCORE, UNCERTAINTY
from uqcli.base.errors import DataError, UsageError
from uqcli.base.running import messages
from uqcli.base.running.rounding import caution_rounding
from uqcli.base.wording import similar_names
from uqcli.engines.request import ClassColumns, DataRequest, Roles

Column: TypeAlias = Any
"""One value per row: a sequence, an array, or a column of polars, pandas, pyarrow or another library."""

Classes: TypeAlias = Any
"""Class probabilities: an array of shape (n, C), or a data frame with one column per class."""

WEIGHT: Final = "weight"
GROUP: Final = "group"
CLUSTER: Final = "cluster"
DAY: Final = "day"
PREFIX: Final = "p_"
"""Prefix of the column names given to an array of class probabilities."""


def present(**columns: Column | None) -> dict[str, Column]:
    """Return the columns that are not None."""
    return {name: values for name, values in columns.items() if values is not None}


def score_rows(
    score: Column,
    label: Column | None = None,
    *,
    uncertainty: Column | None = None,
    weight: Column | None = None,
    more: Mapping[str, Column] | None = None,
) -> DataRequest:
    """Build the data request of one score; ``more`` are features and groups by name."""
    columns = present(**{SCORE: score, UNCERTAINTY: uncertainty, LABEL: label, WEIGHT: weight})
    numbers: dict[str, str] = {role: role for role in (SCORE, UNCERTAINTY) if role in columns}
    frame = table_of(_with_more_columns(columns, more))
    return DataRequest(inputs=(), frame=frame, roles=_roles(columns, numbers))


def class_rows(
    probability: Classes,
    label: Column | None = None,
    *,
    classes: Sequence[str] | None = None,
    weight: Column | None = None,
    more: Mapping[str, Column] | None = None,
) -> DataRequest:
    """Build the data request of class probabilities, or of a single score if there is one column.

    ``classes`` are the names in the order of the columns, or numbers as in ``classes_`` of scikit-learn; None
    for the names of a frame's columns, or numbers from 0.
    """
    classes = None if classes is None else [str(name) for name in classes]
    columns = _with_more_columns(present(**{LABEL: label, WEIGHT: weight}), more)
    if _frame_of(probability) is not None:
        class_arrays = by_name(probability)
    else:
        array = np.ma.asanyarray(probability) if np.ma.is_masked(probability) else np.asarray(probability)
        if array.ndim < 2:
            if classes is not None:
                raise UsageError("classes with one score", expected="a column for each class")
            return score_rows(probability, label, weight=weight, more=more)
        if array.ndim > 2:
            raise DataError(f"probability has shape {array.shape}", expected="shape (n, C)")
        names = classes or [str(column_index) for column_index in range(array.shape[1])]
        class_arrays = {
            f"{PREFIX}{name}": array[:, index] for index, name in enumerate(names[: array.shape[1]])
        }
    for name in (*class_arrays, *(classes or ())):
        if "," in name or "*" in name or name != name.strip():
            raise DataError(
                f"the class '{name}' has a comma, a star or a blank at an end", remedy="rename it"
            )
    if classes is not None and len(classes) != len(class_arrays):
        raise UsageError(f"{len(classes)} classes for {len(class_arrays)} columns", expected="one for each")
    frame = table_of(_with_more_columns(columns, class_arrays))
    names = classes if classes is not None else [name.removeprefix(PREFIX) for name in class_arrays]
    class_columns = ClassColumns(columns=",".join(class_arrays), names=tuple(names))
    roles = replace(_roles(columns, {}), class_columns=class_columns)
    return DataRequest(inputs=(), frame=frame, roles=roles)


def is_by_class(values: Column | Classes) -> bool:
    """Whether values are class probabilities: a data frame, or an array of several columns."""
    if _frame_of(values) is not None:
        return True
    shape = np.shape(values)
    return len(shape) > 1 and shape[1] > 1


def is_frame(columns: Any) -> bool:
    """Whether columns have names: a mapping, or a data frame of any library."""
    return isinstance(columns, Mapping) or _frame_of(columns) is not None


def by_name(columns: Mapping[Any, Column] | None) -> dict[str, Column]:
    """Return the columns of a mapping or a data frame, by name as text; names may be numbers.

    Raises DataError if two names are equal as text, or if there are none.
    """
    if columns is None:
        return {}
    frame = _frame_of(columns)
    if frame is None and not isinstance(columns, Mapping):
        raise DataError("columns without names", expected="a data frame, or a mapping from names to columns")
    column_by_name: dict[str, Column] = {}
    for name in columns if frame is None else frame.columns:
        if str(name) in column_by_name:
            raise DataError(f"two columns have the name '{name}'", remedy="rename one")
        column_by_name[str(name)] = columns[name] if frame is None else frame.get_column(name)
    return column_by_name


def _frame_of(values: Any) -> nw.DataFrame[Any] | None:
    """Wrap a data frame of any library; return None for anything else."""
    try:
        frame = nw.from_native(values, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError("two columns of a data frame have one name", remedy="rename one") from error
    return frame if isinstance(frame, nw.DataFrame) else None


def _with_more_columns(columns: dict[str, Column], more: Mapping[Any, Column] | None) -> dict[str, Column]:
    """Add further columns; a name may not refer to two different ones."""
    added = by_name(more)
    for name in columns.keys() & added.keys():
        if columns[name] is not added[name]:
            raise DataError(f"'{name}' names two columns", remedy="rename the feature, group or class")
    return {**added, **columns}


def _roles(columns: Mapping[str, Column], numeric_roles: Mapping[str, str]) -> Roles:
    label, weight = (role if role in columns else None for role in (LABEL, WEIGHT))
    return Roles(numbers=numeric_roles, label=label, weight=weight)


def in_order(probability: Classes, columns: Sequence[str], classes: Sequence[str]) -> Classes:
    """Put class probabilities into the rule's class order, by name if they have names.

    ``columns`` and ``classes`` are the names of the rule. Raises DataError if a data frame lacks a class, or
    has others.
    """
    if _frame_of(probability) is None:
        return probability
    column_by_name = by_name(probability)
    plain = {name.removeprefix(PREFIX): column for name, column in column_by_name.items()}
    for by_label, names in ((column_by_name, columns), (column_by_name, classes), (plain, classes)):
        if by_label.keys() == set(names):
            return pl.DataFrame([series_of(name, by_label[name]) for name in names])
    raise DataError(
        f"columns {', '.join(column_by_name)} of a data frame", expected=f"{', '.join(classes)}, in any order"
    )


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


def unused(name: str, used: Collection[str]) -> str:
    """Return the name, with a number after it if a column uses it.

    >>> unused("weight", ["score"]), unused("weight", ["weight"])
    ('weight', 'weight_0')
    """
    numbered = (f"{name}_{index}" for index in range(len(used)))
    return next(candidate for candidate in (name, *numbered) if candidate not in used)


def add_columns(columns: dict[str, Any], further: Iterable[tuple[str, Column | None]]) -> list[str | None]:
    """Add columns under names that no other one has; return the names, None for columns not given."""
    names: list[str | None] = []
    for wanted, values in further:
        name = None if values is None else unused(wanted, columns)
        if name is not None:
            columns[name] = values
        names.append(name)
    return names


def series_of(name: str, values: Column) -> pl.Series:
    """Convert a column of any library; refuse more than one dimension, and mixed types."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist() if np.ma.is_masked(values) else values.data  # None if masked
    column = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return column.to_polars().alias(name)
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


_UNITS_OF_TIME: Final = ("D", "ms", "us", "ns")
"""Units of NumPy's times that polars can read."""

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)
OptionsT = TypeVar("OptionsT")

ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")

Decimal = str | int | float | Fraction

_DIGITS: Final = 100
"""Working precision; more digits than an exact number may have."""


def as_one_run(function: Callable[ParametersT, ResultT]) -> Callable[ParametersT, ResultT]:
    """Let a function work as a command does: what it says, such as cautions, belongs to a run of its own.

    It may take numbers of NumPy as keywords; reports and rule files hold those of Python only.
    """

    @wraps(function)
    def call(*args: ParametersT.args, **keywords: ParametersT.kwargs) -> ResultT:
        def run() -> ResultT:
            messages.clear()
            caution_rounding()
            return function(*args, **{name: _python_number(value) for name, value in keywords.items()})

        return copy_context().run(run)

    return call


def _python_number(value: Any) -> Any:
    """Convert a number of NumPy; a 32-bit one as it prints, like every float."""
    if not isinstance(value, np.number | np.bool_):
        return value
    return float(str(value)) if isinstance(value, np.floating) else value.item()


def choice(name: str, kind: type[ChoiceT], value: str) -> ChoiceT:
    """Convert a text to a choice."""
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{name} '{value}'", expected=f"one of {', '.join(kind)}") from None


def options_of(kind: type[OptionsT], options: Mapping[str, Any]) -> OptionsT:
    """Build options from keywords, converting texts to choices; refuse unknown ones."""
    types = get_type_hints(kind)
    hints = {field.name: types[field.name] for field in fields(kind)}  # type: ignore[arg-type]  # a data class
    for name in options:
        if name not in hints:
            meant = similar_names(name, hints, cutoff=0.6) or list(hints)
            raise UsageError(f"unknown option '{name}'", expected=f"one of {', '.join(meant)}")
    return kind(
        **{
            name: choice(name, hints[name], value)
            if isinstance(hints[name], type) and issubclass(hints[name], StrEnum)
            else value
            for name, value in options.items()
        }
    )


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

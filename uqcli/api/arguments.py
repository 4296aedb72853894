"""Convert the arguments of Python: arrays and frames to one table, texts to choices, numbers to decimals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import fields, replace
from enum import StrEnum
from functools import wraps
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, get_type_hints

import numpy as np
import polars as pl

from uqcli.base.defaults import LABEL, SCORE, UNCERTAINTY
from uqcli.base.errors import DataError, UsageError
from uqcli.base.running import messages
from uqcli.base.running.rounding import caution_rounding
from uqcli.base.wording import similar_names
from uqcli.engines.request import ClassColumns, DataRequest, Roles
from uqcli.jobs.tables import Column, by_name, frame_of, python_number, series_of, table_of

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
    """Build the data request of class probabilities, or of a single score if there is one column."""
    classes = None if classes is None else [str(name) for name in classes]
    columns = _with_more_columns(present(**{LABEL: label, WEIGHT: weight}), more)
    if frame_of(probability) is not None:
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
    if frame_of(values) is not None:
        return True
    shape = np.shape(values)
    return len(shape) > 1 and shape[1] > 1


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
    """Put class probabilities into the rule's class order, by name if they have names."""
    if frame_of(probability) is None:
        return probability
    column_by_name = by_name(probability)
    plain = {name.removeprefix(PREFIX): column for name, column in column_by_name.items()}
    for by_label, names in ((column_by_name, columns), (column_by_name, classes), (plain, classes)):
        if by_label.keys() == set(names):
            return pl.DataFrame([series_of(name, by_label[name]) for name in names])
    raise DataError(
        f"columns {', '.join(column_by_name)} of a data frame", expected=f"{', '.join(classes)}, in any order"
    )


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


ChoiceT = TypeVar("ChoiceT", bound=StrEnum)
OptionsT = TypeVar("OptionsT")

ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")


def as_one_run(function: Callable[ParametersT, ResultT]) -> Callable[ParametersT, ResultT]:
    """Let a function work as a command does: what it says, such as cautions, belongs to a run of its own."""

    @wraps(function)
    def call(*args: ParametersT.args, **keywords: ParametersT.kwargs) -> ResultT:
        def run() -> ResultT:
            messages.clear()
            caution_rounding()
            return function(*args, **{name: python_number(value) for name, value in keywords.items()})

        return copy_context().run(run)

    return call


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

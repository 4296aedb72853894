"""Arrays as the rows of a command, with the options that name their columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl

from uqcli.base.defaults import LABEL, SCORE
from uqcli.base.errors import DataError, UsageError
from uqcli.calls import Result, call
from uqcli.jobs.declared import declaration_of
from uqcli.jobs.tables import Column, Decimal, by_name, frame_of, python_number, series_of, table_of

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


def by_group(group: Column | None) -> dict[str, str]:
    """Return the option that names the column of groups, if there is one."""
    return {} if group is None else {"by": GROUP}


def run(
    command: str, given: Sequence[Any], options: Mapping[str, Any], without: Collection[str] = ()
) -> Result:
    """Run a command on arrays; numbers are no texts here, and what is the default is as good as not given."""
    known = declaration_of(command).options
    asked = {name: python_number(value) for name, value in options.items()}
    for name in asked.keys() & known.keys():
        check, default = known[name].field.metadata["check"], known[name].default
        if check is not None:
            check(name, options[name])
        # types first: frames are compared by their cells, and 1 is no flag
        if name in without or (type(asked[name]), asked[name]) == (type(default), default):
            del asked[name]
    return call(command, given, asked)


def rows_of(
    score: Classes,
    label: Column | None = None,
    *,
    classes: Sequence[Any] | None = None,
    more: Mapping[Any, Column] | None = None,
    **named: Column | None,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the rows of a score or of class probabilities, and the options that name their columns.

    ``named`` are columns by option. ``classes`` are the names in the order of the columns, or numbers; None
    for the names of a frame's columns, or numbers from 0.
    """
    others = present(**named)
    columns = {**by_name(more), **present(**{LABEL: label}), **others}
    for name in by_name(more).keys() & {LABEL, *others}:
        raise DataError(f"'{name}' names two columns", remedy="rename the feature, group or class")
    options = {name: name for name in others}
    if not is_by_class(score):
        if classes is not None:
            raise UsageError("classes with one score", expected="a column for each class")
        return _together({SCORE: score}, columns), options
    arrays, names = _class_columns(score, None if classes is None else [str(name) for name in classes])
    return _together(arrays, columns), {**options, "proba": ",".join(arrays), "classes": ",".join(names)}


def _together(first: Mapping[str, Column], others: Mapping[str, Column]) -> pl.DataFrame:
    for name in first.keys() & others.keys():
        if first[name] is not others[name]:
            raise DataError(f"'{name}' names two columns", remedy="rename the feature, group or class")
    return table_of({**first, **others})


def _class_columns(
    probability: Classes, classes: Sequence[str] | None
) -> tuple[dict[str, Column], Sequence[str]]:
    """Return the columns of class probabilities by name, and the names of the classes."""
    if frame_of(probability) is not None:
        arrays = by_name(probability)
    else:
        array = np.ma.asanyarray(probability) if np.ma.is_masked(probability) else np.asarray(probability)
        if array.ndim != 2:
            raise DataError(f"probability has shape {array.shape}", expected="shape (n, C)")
        numbered = classes or [str(index) for index in range(array.shape[1])]
        arrays = {f"{PREFIX}{name}": array[:, index] for index, name in enumerate(numbered[: array.shape[1]])}
    for name in (*arrays, *(classes or ())):
        if "," in name or "*" in name or name != name.strip():
            raise DataError(
                f"the class '{name}' has a comma, a star or a blank at an end", remedy="rename it"
            )
    if classes is not None and len(classes) != len(arrays):
        raise UsageError(f"{len(classes)} classes for {len(arrays)} columns", expected="one for each")
    return arrays, classes or [name.removeprefix(PREFIX) for name in arrays]


def is_by_class(values: Column | Classes) -> bool:
    """Whether values are class probabilities: a data frame, or an array of several columns."""
    if frame_of(values) is not None:
        return True
    shape = np.shape(values)
    return len(shape) > 1 and shape[1] > 1


def in_order(probability: Classes, columns: Sequence[str], classes: Sequence[str]) -> dict[str, Column]:
    """Return class probabilities by the rule's columns, in its class order; those of a frame by name.

    Raises DataError if a data frame lacks a class, or has others.
    """
    if frame_of(probability) is None:
        arrays, _ = _class_columns(probability, classes)
        return dict(zip(columns, arrays.values(), strict=True))
    found = by_name(probability)
    plain = {name.removeprefix(PREFIX): column for name, column in found.items()}
    for by_label, names in ((found, columns), (found, classes), (plain, classes)):
        if by_label.keys() == set(names):
            ordered = [series_of(name, by_label[name]) for name in names]
            return dict(zip(columns, ordered, strict=True))
    raise DataError(
        f"columns {', '.join(found)} of a data frame", expected=f"{', '.join(classes)}, in any order"
    )


def unused(name: str, used: Collection[str]) -> str:
    """Return the name, with a number after it if a column uses it.

    >>> unused("weight", ["score"]), unused("weight", ["weight"])
    ('weight', 'weight_0')
    """
    numbered = (f"{name}_{index}" for index in range(len(used)))
    return next(candidate for candidate in (name, *numbered) if candidate not in used)


def add_columns(columns: dict[str, Any], further: Iterable[tuple[str, Column | None]]) -> dict[str, str]:
    """Add columns under names that no other one has; return the names by those wanted."""
    names = {}
    for wanted, values in further:
        if values is not None:
            names[wanted] = unused(wanted, columns)
            columns[names[wanted]] = values
    return names


def amounts(columns: dict[str, Any], **values: Decimal | Column | None) -> dict[str, Any]:
    """Return gain and cost as options: numbers, or names of columns, which are added."""
    numbers = {role: value for role, value in values.items() if isinstance(value, Decimal)}
    arrays = [(role, value) for role, value in values.items() if role not in numbers]
    return numbers | add_columns(columns, arrays)

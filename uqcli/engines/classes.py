"""Columns of class probabilities, and labels that name classes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from uqcli.counts import Bools, Floats, Ints
from uqcli.engines.sources import Source
from uqcli.errors import DataError, UsageError

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may add up to."""

ROUNDING = 1e-6
"""How far outside [0, 1] a probability may be, as 32-bit softmax gives it."""

PROBA = "proba."
"""Class probabilities have the role ``proba.<class>``."""


@dataclass(frozen=True, kw_only=True)
class ClassColumns:
    """Which columns hold class probabilities, as asked for.

    Attributes
    ----------
    columns
        A pattern with one ``*``, or names separated by commas.
    names
        Names of the classes in the order of the columns; None means what ``*`` matched, or the columns'
        own names.
    """

    columns: str
    names: tuple[str, ...] | None = None

    def found_in(self, source: Source) -> dict[str, str]:
        """Class to column, in the order of the classes.

        Raises
        ------
        DataError
            The pattern matches fewer than two columns.
        UsageError
            Names that are repeated, or not one for each column.
        """
        if "*" in self.columns:
            matched = _matched(self.columns, source)
        else:
            listed = [name.strip() for name in self.columns.split(",")]
            matched = {name: name for name in listed}
            if len(matched) < len(listed):
                raise UsageError(f"--proba '{self.columns}' repeats a column", expected="each column once")
        if len(matched) < 2:
            raise DataError(
                f"'{self.columns}' names {len(matched)} columns of '{source.file.name}'",
                expected="the probabilities of at least two classes",
                remedy="check --proba and its quoting",
            )
        names = self.names or tuple(matched)
        if len(set(names)) != len(matched):
            raise UsageError(
                f"--classes names {len(set(names))} classes for {len(matched)} columns",
                expected="one name for each column",
            )
        return dict(zip(names, matched.values(), strict=True))

    def renaming(self, classes: Sequence[str]) -> dict[str, str]:
        """Class to column for classes that are known beforehand.

        Raises
        ------
        UsageError
            Not one column for each class, or names of other classes.
        """
        if "*" in self.columns:
            if self.columns.count("*") > 1 or self.names is not None:
                raise UsageError(
                    f"--proba '{self.columns}'", expected="one * without --classes, or names with commas"
                )
            return {name: self.columns.replace("*", name) for name in classes}
        listed = [name.strip() for name in self.columns.split(",")]
        names = classes if self.names is None else self.names
        if len(set(listed)) != len(classes) or len(listed) != len(classes) or set(names) != set(classes):
            raise UsageError(
                f"--proba '{self.columns}' names {len(set(listed))} columns",
                expected=f"one for each of the classes {', '.join(list(classes)[:12])}",
            )
        column_of = dict(zip(names, listed, strict=True))
        return {name: column_of[name] for name in classes}


def _matched(pattern: str, source: Source) -> dict[str, str]:
    if pattern.count("*") > 1:
        raise UsageError(f"--proba '{pattern}'", expected="one *, or names separated by commas")
    before, after = map(re.escape, pattern.split("*"))
    hits = [(re.fullmatch(f"{before}(.+){after}", column, re.DOTALL), column) for column in source.columns]
    found = {hit[1].strip(): column for hit, column in hits if hit}
    integers = all(re.fullmatch(r"-?\d+", name) for name in found)
    return {name: found[name] for name in sorted(found, key=int if integers else str)}


def class_of_labels(series: pl.Series, classes: Sequence[str]) -> tuple[Ints, Bools, Bools]:
    """Number of each label's class, compared as text.

    Returns
    -------
    number : int64, shape (rows,)
        Position in ``classes``; 0 where the label is null or no class.
    null, unknown : bool, shape (rows,)
        Rows without label, and rows whose label is no class.
    """
    if series.dtype.is_float():
        series = series.fill_nan(None)
    text = series.cast(pl.String).str.strip_chars()
    null = (without_value(text) & ~text.is_in(list(classes)).fill_null(value=False)).to_numpy()
    number_of = {name: number for number, name in enumerate(classes)}
    spelled = {_other_spelling(name): number for name, number in number_of.items()}
    truths = {"false": 0, "0": 0, "true": 1, "1": 1}
    if {truths.get(name.lower()) for name in classes} == {0, 1} and len(classes) == 2:
        text = text.str.to_lowercase()
        number_of = {each: int(truths[classes[1].lower()] == truth) for each, truth in truths.items()}
    number = text.replace_strict(spelled | number_of, default=-1, return_dtype=pl.Int64).to_numpy()
    return np.maximum(number, 0), null, (number < 0) & ~null


def without_value(text: pl.Series) -> pl.Series:
    """Where a label's text is missing, empty, or says NaN as other formats do with a number."""
    return text.is_null() | text.str.to_lowercase().is_in(["", "nan"]).fill_null(value=False)


def _other_spelling(name: str) -> str:
    """A number with or without the fraction that reading it as float adds: 3 and 3.0."""
    return name[:-2] if name.endswith(".0") else f"{name}.0"


def sum_of_probabilities(numbers: Mapping[str, Floats]) -> Floats:
    """Sum of each row's class probabilities; shape (rows,)."""
    parts = [value for role, value in numbers.items() if role.startswith(PROBA)]
    total = parts[0].copy()
    with np.errstate(invalid="ignore"):  # infinities of rows that are not valid
        for part in parts[1:]:
            total += part
    return total

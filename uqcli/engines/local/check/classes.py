"""Columns of class probabilities, and labels that name classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from uqcli.counts import Bools, Floats, Ints
from uqcli.engines.request import PROBA

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may add up to."""

ROUNDING = 1e-6
"""How far outside [0, 1] a probability may be, as 32-bit softmax gives it."""


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

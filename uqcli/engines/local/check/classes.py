"""Check columns of class probabilities, and class labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from uqcli.base.counts import Bools, Floats, Ints
from uqcli.engines.classes import class_spellings
from uqcli.engines.request import PROBA


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
    null = (without_value(text) & ~text.is_in(list(classes)).fill_null(value=False)).to_numpy()
    spellings = class_spellings(classes)
    if spellings.ignores_case:
        text = text.str.to_lowercase()
    class_index = text.replace_strict(
        dict(spellings.index_by_text), default=-1, return_dtype=pl.Int64
    ).to_numpy()
    return np.maximum(class_index, 0), null, (class_index < 0) & ~null


def without_value(text: pl.Series) -> pl.Series:
    """Return the mask of label texts that are null, empty or "nan" (the number NaN in other formats)."""
    return text.is_null() | text.str.to_lowercase().is_in(["", "nan"]).fill_null(value=False)


def sum_of_probabilities(values_by_role: Mapping[str, Floats]) -> Floats:
    """Compute the sum of each row's class probabilities; shape (rows,)."""
    probabilities = [value for role, value in values_by_role.items() if role.startswith(PROBA)]
    total = probabilities[0].copy()
    with np.errstate(invalid="ignore"):  # infinities in invalid rows
        for probability in probabilities[1:]:
            total += probability
    return total

"""Older labelled rows that choose the boundaries of a certificate, so that all other rows test them.

They must not be among the rows that test. Rows are compared by all columns that both files have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uqcli.base.choices import EngineName
from uqcli.base.draws import hashes, text_keys
from uqcli.base.errors import DataError, UsageError
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.wording import percent
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import Table
from uqcli.engines.request import DataRequest, FeatureRequest, Inputs
from uqcli.rules.labelled import open_table

_MOST_SHARED: Final = 0.01
"""Share of the testing rows that may be equal to a row of the pilot."""

_FEW_COLUMNS: Final = 4
"""Number of columns below which only values that occur once tell rows apart."""

_LEAST_UNIQUE: Final = 0.1
"""Share of such rows below which nothing is said about rows in both files."""

_CHANCE: Final = 2.0
"""Factor by which shared rows exceed those expected by chance before they are called the same rows."""


def open_pilot(data: DataRequest, pilot: Inputs, *, uses_uncertainty: bool) -> Table:
    """Open the table of the pilot, with the columns of the rows that test, which ``data`` requests."""
    if data.engine is EngineName.SPARK:
        raise UsageError("--pilot with --engine spark", expected="--engine polars")
    older = replace(data.on(pilot), labels=None)
    refuse_overlap(data, older)
    return open_table(older, uses_uncertainty=uses_uncertainty)


def refuse_common_clusters(pilot: Rows, test: Rows, cluster: str) -> None:
    """Refuse clusters, by keys of their texts, that have rows in the pilot and among the rows that test."""
    common = len(np.intersect1d(pilot.groups[cluster], test.groups[cluster]))
    if common:
        values = "1 value" if common == 1 else f"{common} values"
        raise DataError(
            f"{values} of '{cluster}' {'is' if common == 1 else 'are'} in INPUT and in --pilot",
            expected="rows of other ones there",
            remedy="leave their rows out of one of the files",
        )


def refuse_overlap(data: DataRequest, pilot: DataRequest, label: str | None = None) -> None:
    """Refuse a pilot whose rows are also among those that test; caution if this cannot be seen.

    Rows that repeat within the testing rows are also found in other rows of the same source by chance. If the
    testing rows have no labels yet, the column ``label`` is not compared.
    """
    shared, chance, unique, is_same = _compared(data, pilot, ())
    if shared > _MOST_SHARED or is_same:  # rows that differ in these are different ones
        engine = open_engine(data.engine)
        both = {*engine.columns(pilot).names} - {label}
        common = tuple(name for name in engine.columns(data).names if name in both)
        shared, chance, unique, is_same = _compared(data, pilot, common)
    if is_same or shared > max(_MOST_SHARED, _CHANCE * chance):
        rows = "all rows of INPUT" if is_same else f"{percent(shared)} of the rows of INPUT"
        raise DataError(
            f"{rows} are also in --pilot",
            expected="other rows there, since rows that choose a rule cannot test it",
            remedy="leave them out of one of the files",
        )
    if unique < _LEAST_UNIQUE or shared > _MOST_SHARED:
        caution(
            "uqcli could not check whether rows of --pilot are also in INPUT, since many rows have equal "
            "values: a column of ids in both files would tell them apart."
        )


def _compared(
    data: DataRequest, pilot: DataRequest, common: tuple[str, ...]
) -> tuple[float, float, float, bool]:
    """Compare rows by their scores and labels, and by further columns.

    Return the share of rows, among those that can be told apart, that are equal to a row of the pilot, the
    approximate share that rows of the same source would have by chance, the share of all rows that can be
    told apart, and whether both have the same rows.
    """
    own, columns = _keys(data, common)
    other, _ = _keys(pilot, common)
    values, index, count = np.unique(own, return_inverse=True, return_counts=True)
    is_unique = count[index] == 1
    repeated = 1 - float(is_unique.mean())
    counted = np.ones(len(own), dtype=np.bool_)
    if common and columns < _FEW_COLUMNS:
        counted = is_unique
    is_shared = np.isin(values, other)[index] & counted
    return (
        float(is_shared.sum() / max(1, counted.sum())),
        min(1.0, repeated * len(other) / len(own)),
        float(counted.mean()),
        np.array_equal(np.sort(own), np.sort(other)),
    )


def _keys(data: DataRequest, columns: tuple[str, ...]) -> tuple[NDArray[np.uint64], int]:
    """Return a key of each row by the values of its columns, and the number of columns.

    Numbers and labels are compared as such, other columns as text.
    """
    used = set(data.roles.columns())
    features = tuple(FeatureRequest(name=name, text=True) for name in columns if name not in used)
    roles = replace(data.roles, features=features, keys=(), cluster=None)
    rows = open_engine(data.engine).rows(replace(data, roles=roles)).rows
    labels = [column for column in (rows.positive, rows.label_class) if column is not None]
    texts = [
        text_keys((*(feature.levels or ()), ""))[feature.value.astype(np.int64)]
        for feature in (rows.features[feature.name] for feature in features)
    ]
    values = [*rows.numbers.values(), *labels, *texts]
    return hashes(values), len(values)

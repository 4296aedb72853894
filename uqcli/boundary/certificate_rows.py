"""Rows of a certificate: those that choose its boundaries, and those that test them.

Older labelled rows may choose them (a pilot), so that all other rows test them. They must not be among the
rows that test: rows are compared by all columns that both files have.

Labels that people chose certify as well: those of rows that ``uqcli sample`` drew alike above or below a
score. Nested thresholds are tested one after another, from the tightest. The first flags a quarter of the
drawn rows, and each further one 3 % more, so that the sequence depends on scores and not on labels. None is
below the score above which the rows were drawn, since nothing is known about rows there.

Which rows may be dropped is the same question in the mirror: with negated scores and the labels exchanged,
the dropped rows are flagged, and their precision is 1 less the share of positives among them.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np

from uqcli.base.choices import EngineName
from uqcli.base.counts import CellRow, Cells, Ints
from uqcli.base.defaults import LOWEST
from uqcli.base.draws import hashes, text_keys
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.single_precision import lowered
from uqcli.base.wording import exact_number, percent
from uqcli.boundary.certificate import Certified, Certifier, NotCertified
from uqcli.boundary.search.smoothing import NestedBoundaries
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import CountTable
from uqcli.engines.request import SAMPLED_FOR, DataRequest, FeatureRequest, Inputs, Roles
from uqcli.estimates.confusion import Confusion
from uqcli.kernels.units import dense_ranks
from uqcli.rules.labelled import open_table, read_labelled
from uqcli.rules.saved import Source
from uqcli.stores.content import inode_of

_MOST_SHARED: Final = 0.01
"""Share of the testing rows that may be equal to a row of the pilot."""

_FEW_COLUMNS: Final = 4
"""Number of columns below which only values that occur once tell rows apart."""

_LEAST_UNIQUE: Final = 0.1
"""Share of such rows below which nothing is said about rows in both files."""

_SURE_UNIQUE: Final = 0.5
"""Share of such rows from which equal scores and labels of all rows are no chance."""

_CHANCE: Final = 2.0
"""Factor by which shared rows exceed those expected by chance before they are called the same rows."""


def open_pilot(data: DataRequest, pilot: Inputs, *, uses_uncertainty: bool) -> CountTable:
    """Open the table of the pilot, with the columns of the rows that test, which ``data`` requests."""
    if data.engine is EngineName.SPARK:
        raise UsageError(words("--pilot with --engine spark"), expected=words("--engine polars"))
    older = replace(data.on(pilot), labels=None)
    refuse_overlap(data, older)
    return open_table(older, uses_uncertainty=uses_uncertainty)


def refuse_same_files(inputs: Inputs, pilot: Inputs | None) -> None:
    """Refuse a pilot that names the files of INPUT, before any of them is read."""
    if not isinstance(pilot, tuple):
        return
    names = (inputs, pilot)
    with suppress(OSError, ValueError):  # what is no file of this machine is compared by its rows
        own, other = ({inode_of(Path(name)) for name in each} for each in names)
        if own and own == other:
            raise _shared("all rows of INPUT")


def _shared(rows: str) -> DataError:
    return DataError(
        words("{} are also in --pilot", rows),
        expected="other rows there, since rows that choose a rule cannot test it",
        remedy="leave them out of one of the files",
    )


def refuse_common_clusters(pilot: Rows, test: Rows, cluster: str) -> None:
    """Refuse clusters, by keys of their texts, that have rows in the pilot and among the rows that test."""
    common = len(np.intersect1d(pilot.groups[cluster], test.groups[cluster]))
    if common:
        values = "1 value" if common == 1 else f"{common} values"
        raise DataError(
            words("{} of '{}' {} in INPUT and in --pilot", values, cluster, "is" if common == 1 else "are"),
            expected="rows of other ones there",
            remedy="leave their rows out of one of the files",
        )


def refuse_overlap(data: DataRequest, pilot: DataRequest, label: str | None = None) -> None:
    """Refuse a pilot whose rows are also among those that test; caution if this cannot be seen.

    Rows that repeat within the testing rows are also found in other rows of the same source by chance. If the
    testing rows have no labels yet, the column ``label`` is not compared.
    """
    shared, chance, unique, is_same = _compared(data, pilot, ())
    is_copy = is_same and unique > _SURE_UNIQUE
    if (shared > _MOST_SHARED or is_same) and not is_copy:  # rows that differ in others are different ones
        engine = open_engine(data.engine)
        both = {*engine.columns(pilot).names} - {label}
        common = tuple(name for name in engine.columns(data).names if name in both)
        shared, chance, unique, is_same = _compared(data, pilot, common)
    if is_same or shared > max(_MOST_SHARED, _CHANCE * chance):
        raise _shared("all rows of INPUT" if is_same else f"{percent(shared)} of the rows of INPUT")
    if unique < _LEAST_UNIQUE or shared > _MOST_SHARED:
        caution(
            "pilot-unchecked",
            "uqcli could not check whether rows of --pilot are also in INPUT, since many rows have equal "
            "values: a column of ids in both files would tell them apart.",
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
    values, index = dense_ranks(own)
    is_unique = np.bincount(index)[index] == 1
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


def _keys(data: DataRequest, columns: tuple[str, ...]) -> tuple[Ints, int]:
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
    return hashes(values).view(np.int64), len(values)


SAMPLED_ABOVE: Final = "sampled_above"
SAMPLED_BELOW: Final = "sampled_below"
"""Columns of the lowest or highest score that was drawn."""

PILOT: Final = "pilot"
TEST: Final = "test"
"""What a row was drawn for."""

_START: Final = Fraction(1, 4)
_STEP: Final = Fraction(3, 100)
"""Shares of the drawn rows that the first threshold flags, and each further one adds."""

_PERFECT_LABELS: Final = 1.2
"""Labels at the first threshold, relative to those that certify a precision if all are positive."""


def labels_at_start(precision: float, delta: float) -> int:
    """Return how many labels the first threshold should flag, so that a test can certify a precision.

    Examples
    --------
    >>> labels_at_start(0.95, 0.1), labels_at_start(0.99, 0.1)
    (54, 275)
    """
    return math.ceil(_PERFECT_LABELS * math.log(delta) / math.log(precision))


def was_sampled(data: DataRequest) -> str | None:
    """Return the column of the region if ``uqcli sample --for certificate`` wrote the rows, else None.

    Streams must be kept.
    """
    names = set(open_engine(data.engine).columns(data).names)
    columns = [name for name in (SAMPLED_ABOVE, SAMPLED_BELOW) if {name, SAMPLED_FOR} <= names]
    return columns[0] if columns else None


def mirrored(rows: Rows) -> Rows:
    """Return rows with negated scores, and the labels exchanged."""
    return replace(rows.scored(0.0 - rows.score), positive=~rows.labels)


def mirrored_outcome(outcome: Certified | NotCertified) -> Certified | NotCertified:
    """Return the rule that flags what a certified threshold of mirrored rows leaves."""
    if isinstance(outcome, NotCertified):
        return outcome
    tested = outcome.tested
    positives, dropped = tested.rows - tested.positives, tested.selected - tested.true_positives
    return replace(
        outcome,
        thresholds=tuple(None if low is None else _just_above(0.0 - low) for low in outcome.thresholds),
        tested=Confusion(
            rows=tested.rows,
            positives=positives,
            selected=tested.rows - tested.selected,
            true_positives=positives - dropped,
        ),
    )


def mirrored_cells(cells: Cells) -> Cells:
    """Return the cells of the rows themselves, from those of mirrored rows by one threshold."""
    (row,) = cells.rows
    lower = np.append(LOWEST, [_just_above(0.0 - low) for low in row.lower[:0:-1]])
    flipped = CellRow(lower=lower, count=row.count[::-1], positives=(row.count - row.positives)[::-1])
    return replace(cells, rows=(flipped,))


def _just_above(score: float) -> float:
    return math.nextafter(score, math.inf)


def marked_rows(data: DataRequest, mark: str, more: tuple[str, ...] = ()) -> tuple[Rows, Source]:
    """Read the labelled rows that were drawn for the pilot or for the test, pooled, with their region.

    The mark is ``PILOT`` or ``TEST``; ``more`` are further columns of numbers to read.
    """
    roles = data.roles
    further = {name: name for name in (was_sampled(data) or SAMPLED_ABOVE, *more)}
    numbers = {"score": roles.numbers["score"], **further}
    roles = Roles(numbers=numbers, label=roles.label, weight=roles.weight, keys=(SAMPLED_FOR,))
    read, source = read_labelled(replace(data, roles=roles))
    names = read.group_names[SAMPLED_FOR]
    index = names.index(mark) if mark in names else -1
    marked = read.rows.select(read.rows.groups[SAMPLED_FOR] == index)
    if not len(marked):
        raise DataError(
            f"no row was drawn for the {mark} by column '{SAMPLED_FOR}'",
            expected=words(
                "the rows of sample --for certificate{}", "" if mark == PILOT else words(" --pilot FILE")
            ),
        )
    positives = int(marked.labels.sum())
    columns = {role: name for role, name in source.columns.items() if name not in (*further, SAMPLED_FOR)}
    source = Source(rows=len(marked), positives=positives, dropped=source.dropped, columns=columns)
    return replace(marked, groups={}).pooled(), source


def region_of(rows: Rows) -> tuple[str, float]:
    """Return the column of the region, and the score above or below which all rows were drawn."""
    column = SAMPLED_ABOVE if SAMPLED_ABOVE in rows.numbers else SAMPLED_BELOW
    edges = np.unique(rows.numbers[column])
    if len(edges) > 1:
        raise DataError(
            f"column '{column}' has {len(edges)} values among the rows that test",
            expected="the rows of one sample",
        )
    edge = float(edges[0])
    outside = rows.score < edge if column == SAMPLED_ABOVE else rows.score > edge
    if outside.any():
        raise DataError(
            f"a row has a score {'below' if column == SAMPLED_ABOVE else 'above'} its {column} "
            f"({exact_number(edge)})",
            expected="the rows that sample drew, with the same scores",
        )
    return column, edge


def region_certifier(rows: Rows, above: float, precision: float, delta: float) -> tuple[Certifier, Ints]:
    """Return the nested thresholds of drawn rows with their counts, and the order in which to test them.

    The rows are pooled. The score above which they were drawn is the loosest threshold.
    """
    value, index = np.unique(-rows.score, return_inverse=True)
    total = np.cumsum(np.bincount(index, weights=rows.weights()).astype(np.int64))
    size = int(total[-1])
    first = min(max(math.ceil(_START * size), labels_at_start(precision, delta)), size)
    ranks = np.arange(first, size, max(1, math.ceil(_STEP * size)))
    tops = np.unique(lowered(-value[np.searchsorted(total, ranks)], -value[::-1]))
    lower = np.append([LOWEST, above], tops[tops > above])
    cell = np.searchsorted(lower, rows.score, side="right") - 1
    count, positives = (
        np.bincount(cell, weights=weight, minlength=len(lower)).astype(np.int64)
        for weight in (rows.weights(), rows.weights() * rows.labels)
    )
    row = CellRow(lower=lower, count=count, positives=positives)
    cells = Cells(uncertainty_edges=np.empty(0), rows=(row,))
    certifier = Certifier.from_cells(
        cells, cells, has_own_pilot=False, nested=NestedBoundaries.by_score(cells)
    )
    return certifier, np.arange(len(lower) - 1)  # all but the last, which would flag rows below the region

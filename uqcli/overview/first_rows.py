"""What the highest-ranked rows of each day would bring, for several numbers a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from uqcli.base.choices import EngineName, OnInvalid
from uqcli.base.counts import Ints
from uqcli.base.dates import date_of
from uqcli.base.defaults import CONFIDENCE
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.engines.open import open_engine
from uqcli.engines.probabilities import positions_of
from uqcli.engines.request import DataRequest, FeatureRequest
from uqcli.estimates.estimate import Estimate
from uqcli.estimates.survey import proportion_interval
from uqcli.kernels.units import UnitTable

NUMBERS: Final = (10, 30, 100, 300)
"""Alerts a day that are of interest, if a usual day has more rows."""

MOST_ROWS: Final = 10_000_000
"""Rows up to which they are ranked: of more, it would take longer than all the rest."""

_FEWEST_DAYS: Final = 2


@dataclass(frozen=True, kw_only=True)
class FirstRowsOfDay:
    """The ``top`` highest-ranked rows of each day: their number, and their rates with intervals by day."""

    top: int
    selected: int
    precision: Estimate
    recall: Estimate


def first_rows_by_day(data: DataRequest, day: str, rows: int, *, labelled: bool) -> Sequence[FirstRowsOfDay]:
    """Return what some numbers of rows a day bring; none for a column that does not hold several dates.

    Rows that have a day are ranked by their scores, with a label or not. If all rows are ``labelled``, their
    labels are counted as they are ranked, else in a second pass.
    """
    if rows > MOST_ROWS or data.engine is EngineName.SPARK or data.roles.weight is not None:
        return ()
    data = replace(data, on_invalid=OnInvalid.DROP)
    ranked = replace(data, roles=replace(data.roles, keys=(day,), per=day))
    if not labelled:
        roles = replace(ranked.roles, label=None)
        ranked = replace(ranked, roles=roles, positive_value=None, labels=None)
    batches = open_engine(data.engine).batches(ranked)
    first, sizes = FirstRows(NUMBERS[-1]), UnitTable()
    for batch in batches:
        group, same = batch.groups[day], np.zeros(len(batch), dtype=np.int64)
        positive = batch.labels.astype(np.int64) if labelled else same
        first.add(group, same, batch.score, _marked(batch, positive), batch.weights())
        sizes.add(group, positive, None)
    levels = batches.levels[day]
    if len(levels) < _FEWEST_DAYS or None in map(date_of, levels):
        return ()
    of_day = sizes.of(np.arange(len(levels)), 2)
    usual = float(np.median(of_day.sum(axis=1)))
    numbers = {top: first.up_to(top) for top in NUMBERS if top < usual}
    if labelled:
        return [_of_kept(top, of_top, of_day) for top, of_top in numbers.items()]
    cuts = {top: of_top.cuts(len(levels)) for top, of_top in numbers.items()}
    return _counted(data, day, levels, cuts) if cuts else ()


def _marked(rows: Rows, positive: Ints) -> Ints:
    """Return numbers that rank rows as their positions do, and are odd for positive rows."""
    return 2 * positions_of(rows) + positive


def _of_kept(top: int, first: FirstRows, of_day: Ints) -> FirstRowsOfDay:
    """Count the first rows, whose marks tell their labels, beside the rows of each day by label."""
    group, position = first.kept()
    days = len(of_day)
    selected = np.bincount(group, minlength=days)
    hits = np.bincount(group[position % 2 == 1], minlength=days)
    return _measured(top, hits, selected, of_day[:, 1])


def _counted(
    data: DataRequest, day: str, levels: Mapping[str, int], cuts: Mapping[int, Cuts]
) -> list[FirstRowsOfDay]:
    """Count the labels of the first rows in a pass of their own.

    A row has a level: how many of the cuts take it, each of which takes what the one before takes. So the
    rows of one cut are those of its level or a higher one.
    """
    feature = FeatureRequest(name=day, text=True, levels=tuple(levels), option="per", dated=True)
    order = np.array([*levels.values(), -1], dtype=np.int64)  # of days that are missing, too
    *closer, widest = [cuts[top] for top in sorted(cuts)]
    table = UnitTable()
    data = replace(data, roles=replace(data.roles, features=(feature,)))
    for batch in open_engine(data.engine).batches(data):
        group, same = order[batch.features[day].value.astype(np.int64)], np.zeros(len(batch), dtype=np.int64)
        position = _marked(batch, same)
        level = widest.takes(group, same, batch.score, position).astype(np.int64)
        taken = np.flatnonzero(level)
        for cut in closer:
            level[taken] += cut.takes(group[taken], same[taken], batch.score[taken], position[taken])
        table.add(group + 1, 2 * level + batch.labels, None)
    counts = table.of(np.arange(len(levels)) + 1, 2 * len(cuts) + 2).reshape(len(levels), -1, 2)
    positives = counts[:, :, 1].sum(axis=1)
    flagged = [counts[:, len(cuts) - place :].sum(axis=1) for place in range(len(cuts))]
    return [
        _measured(top, of_top[:, 1], of_top.sum(axis=1), positives)
        for top, of_top in zip(sorted(cuts), flagged, strict=True)
    ]


def _measured(top: int, hits: Ints, selected: Ints, positives: Ints) -> FirstRowsOfDay:
    """Estimate the rates of the first rows from counts by day."""
    return FirstRowsOfDay(
        top=top,
        selected=int(selected.sum()),
        precision=proportion_interval(hits, selected, CONFIDENCE, "days"),
        recall=proportion_interval(hits, positives, CONFIDENCE, "days"),
    )

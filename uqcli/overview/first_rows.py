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
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.engines.open import open_engine
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


def first_rows_by_day(data: DataRequest, day: str, rows: int) -> Sequence[FirstRowsOfDay]:
    """Return what some numbers of rows a day bring; none for a column that does not hold several dates.

    Rows are ranked by their scores in a first pass, with a label or not. Labels are counted in a second one.
    """
    if rows > MOST_ROWS or data.engine is EngineName.SPARK or data.roles.weight is not None:
        return ()
    data = replace(data, on_invalid=OnInvalid.DROP)
    roles = replace(data.roles, label=None, keys=(day,), per=day)
    batches = open_engine(data.engine).batches(replace(data, roles=roles, positive_value=None, labels=None))
    first, sizes = FirstRows(NUMBERS[-1]), UnitTable()
    for batch in batches:
        group, same = batch.groups[day], np.zeros(len(batch), dtype=np.int64)
        first.add(group, same, batch.score, batch.position, batch.weights())
        sizes.add(group, same, None)
    levels = batches.levels[day]
    if len(levels) < _FEWEST_DAYS or None in map(date_of, levels):
        return ()
    usual = float(np.median(sizes.of(np.arange(len(levels)), 1)))
    cuts = {top: first.up_to(top).cuts(len(levels)) for top in NUMBERS if top < usual}
    return _counted(data, day, levels, cuts) if cuts else ()


def _counted(
    data: DataRequest, day: str, levels: Mapping[str, int], cuts: Mapping[int, Cuts]
) -> list[FirstRowsOfDay]:
    """Count the labels of the first rows."""
    feature = FeatureRequest(name=day, text=True, levels=tuple(levels), option="per", dated=True)
    order = np.array([*levels.values(), -1], dtype=np.int64)  # of days that are missing, too
    tables = {top: UnitTable() for top in cuts}
    data = replace(data, roles=replace(data.roles, features=(feature,)))
    for batch in open_engine(data.engine).batches(data):
        group, same = order[batch.features[day].value.astype(np.int64)], np.zeros(len(batch), dtype=np.int64)
        for top, cut in cuts.items():
            taken = cut.takes(group, same, batch.score, batch.position)
            tables[top].add(group + 1, 2 * taken + batch.labels, None)
    return [_measured(top, table.of(np.arange(len(levels) + 1), 4)) for top, table in tables.items()]


def _measured(top: int, counts: Ints) -> FirstRowsOfDay:
    """Estimate the rates of the first rows, from counts by day, whether flagged, and label."""
    hits, flagged, positives = counts[:, 3], counts[:, 2:].sum(axis=1), counts[:, 1::2].sum(axis=1)
    return FirstRowsOfDay(
        top=top,
        selected=int(flagged.sum()),
        precision=proportion_interval(hits, flagged, CONFIDENCE, "days"),
        recall=proportion_interval(hits, positives, CONFIDENCE, "days"),
    )

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
    """Count the labels of the first rows.

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
        level = widest.takes(group, same, batch.score, batch.position).astype(np.int64)
        taken = np.flatnonzero(level)
        position = None if batch.position is None else batch.position[taken]
        for cut in closer:
            level[taken] += cut.takes(group[taken], same[taken], batch.score[taken], position)
        table.add(group + 1, 2 * level + batch.labels, None)
    counts = table.of(np.arange(len(levels) + 1), 2 * len(cuts) + 2).reshape(len(levels) + 1, -1, 2)
    return [_measured(top, counts, len(cuts) - place) for place, top in enumerate(sorted(cuts))]


def _measured(top: int, counts: Ints, level: int) -> FirstRowsOfDay:
    """Estimate the rates of the rows of a level or a higher one, from counts by day, level and label."""
    flagged, positives = counts[:, level:].sum(axis=1), counts[:, :, 1].sum(axis=1)
    hits, selected = flagged[:, 1], flagged.sum(axis=1)
    return FirstRowsOfDay(
        top=top,
        selected=int(selected.sum()),
        precision=proportion_interval(hits, selected, CONFIDENCE, "days"),
        recall=proportion_interval(hits, positives, CONFIDENCE, "days"),
    )

"""``uqcli boundary --top N --per COL``: save that the first rows of each group are flagged.

Nothing is searched: rows are ranked by their scores in a first pass, and the labels of the first ones are
counted in a second one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec
import numpy as np

from uqcli.base.counts import Ints
from uqcli.base.errors import InfeasibleError
from uqcli.base.running.messages import doubt
from uqcli.boundary.artifact import artifact_of
from uqcli.boundary.calibration import Calibration
from uqcli.boundary.capacity import (
    Capacity,
    FirstRowsRule,
    constraint_of,
    find_capacity,
    order_of_scores,
    parameters_of_scores,
    refuse_unranked,
)
from uqcli.boundary.expected import Expected
from uqcli.boundary.options import BoundaryRequest
from uqcli.boundary.outcome import Found, NotFound, Outcome
from uqcli.boundary.parts.registry import (
    Parts,
    file_fields,
    parts_of_expectation,
    parts_of_first_rows,
    parts_of_no_first_rows,
    parts_of_rows,
    parts_of_unlabelled,
)
from uqcli.boundary.report import BoundaryReport, FoundReport
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import SavedCapacity
from uqcli.boundary.rule_words import EXPECTED_RANGE
from uqcli.boundary.search.thresholds import FittedBoundary
from uqcli.engines import refusals
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.engines.protocol import SourceSummary
from uqcli.engines.request import DataRequest
from uqcli.estimates.confusion import Confusion, Rate
from uqcli.estimates.dependence import unit_sums
from uqcli.estimates.survey import proportion_interval
from uqcli.kernels.units import UnitTable
from uqcli.rules.labelled import refuse_keep, source_of
from uqcli.rules.result import Result, keeps_doubts
from uqcli.rules.saved import SavedDependence, Source

_DOUBTS: Final = ("one-class", "few-alerts")
"""Cautions that a rule file keeps."""


@keeps_doubts
def run(request: BoundaryRequest) -> Result[BoundaryReport, BoundaryArtifact | None]:
    """Count the labels of the first rows of each group, and make the rule that flags such rows."""
    outcome = _counted(request)
    if not isinstance(outcome, Found):
        report = BoundaryReport(outcome=outcome)
        return Result(report=report, artifact=None, failure=InfeasibleError(report.shortfall()))
    for name in _DOUBTS:
        for sentence in outcome.says(name):
            doubt(sentence)
    return Result(report=FoundReport(outcome=outcome), artifact=artifact_of(outcome))


def _counted(request: BoundaryRequest) -> Outcome:
    capacity = SavedCapacity(top=request.first.top or 1, per=request.first.per or "")
    data = request.data.without("uncertainty")
    refuse_keep(data.on_invalid)
    refuse_unranked(data, capacity.per)
    with reusable_streams():  # it takes two passes
        found, counts, summary = _first_rows(data, capacity)
    fit = Confusion(
        rows=int(counts.rows.sum()),
        positives=int(counts.positives.sum()),
        selected=int(counts.selected.sum()),
        true_positives=int(counts.true_positives.sum()),
    )
    source = _ranked(source_of(summary))
    unit = source.dependence or "cluster"
    column = source.columns[unit]
    constraint = constraint_of(capacity.top)
    calibration = Calibration(
        source=source,
        parameters=parameters_of_scores(capacity.top, data.on_invalid, data.positive_value, **{unit: column}),
        constraint=constraint,
        rows=fit.rows,
        positives=fit.positives,
        seed=request.seed,
    )
    boundary = FittedBoundary(uncertainty_edges=np.empty(0), thresholds=(None,), fit=fit)
    rows = parts_of_rows(calibration, lacks_uncertainty=False)
    if not fit.positives:
        return NotFound(calibration=calibration, parts=[*rows, *parts_of_no_first_rows(constraint)])
    hits, units = counts.true_positives, f"{unit}s"
    expected = Expected(
        precision=proportion_interval(hits, counts.selected, EXPECTED_RANGE, units),
        recall=proportion_interval(hits, counts.positives, EXPECTED_RANGE, units),
    )
    promises = {str(Rate.PRECISION): unit_sums(*counts.trials(Rate.PRECISION))}
    parts = [
        *rows,
        *parts_of_expectation(calibration, boundary, expected),
        *parts_of_first_rows(capacity, found, boundary, counts, expected, unit=unit, column=column),
        *file_fields(dependence=SavedDependence(column=column, promises=promises)),
        *_unlabelled(found, fit, data),
    ]
    return Found(calibration=calibration, parts=parts, boundary=boundary, expected=expected)


def _first_rows(
    data: DataRequest, capacity: SavedCapacity
) -> tuple[Capacity, Confusion[Ints], SourceSummary]:
    """Rank all rows, and count those with a label by cluster: by group, unless the request names another."""
    usable = replace(data.roles, label=None, cluster=None, days=False, keys=())
    every = replace(data, roles=usable, positive_value=None)
    order = order_of_scores(data.roles.numbers["score"], capacity.top, data.on_invalid)
    found = find_capacity(every, order, capacity.top, capacity.per)
    rule = FirstRowsRule.of(order, found)
    if data.roles.cluster is None:
        data = data.clustered_by(capacity.per, days=found.units == "days")
    data = found.second_pass(data)
    cluster, table = data.roles.cluster or "", UnitTable()
    batches = open_engine(data.engine).batches(data)
    for rows in batches:
        table.add(rows.groups[cluster], 2 * rule.decide(rows) + rows.labels, None)
    counts = table.of(None, 4).reshape(-1, 2, 2)
    counts = counts[counts.sum(axis=(1, 2)) > 0]
    if not len(counts):
        raise refusals.no_weight()
    return (
        found,
        Confusion(
            rows=counts.sum(axis=(1, 2)),
            positives=counts[:, :, 1].sum(axis=1),
            selected=counts[:, 1].sum(axis=1),
            true_positives=counts[:, 1, 1],
        ),
        batches.summary,
    )


def _ranked(source: Source) -> Source:
    """Return the source without the column of the groups, which the capacity names."""
    roles = {"score", "label", "cluster", "day"}
    columns = {role: name for role, name in source.columns.items() if role in roles}
    return msgspec.structs.replace(source, columns=columns)


def _unlabelled(found: Capacity, fit: Confusion[int], data: DataRequest) -> Parts:
    """Return the part of the rows without a label, which are ranked as well; none if all have one."""
    all_selected = int(found.cuts.taken.sum())
    if not data.may_lack_labels or found.ranked == fit.rows:
        return []
    counted = {"all_rows": found.ranked, "all_selected": all_selected}
    return [*parts_of_unlabelled(all_selected, found.ranked), *file_fields(fit=counted)]

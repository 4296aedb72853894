"""``uqcli apply``: apply a rule to files; ``--top`` flags the first rows of each group, up to a number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from uqcli.apply.capacity import decide_by_capacity
from uqcli.apply.options import ApplyRequest
from uqcli.apply.parts import (
    Capacity,
    Decisions,
    OnlyFlagged,
    Reviewed,
    WrittenPart,
    likeness,
    new_categories,
    outside_range,
)
from uqcli.apply.report import ApplyPart, ApplyReport, metrics_of
from uqcli.base.choices import FileFormat
from uqcli.base.errors import UsageError, words
from uqcli.base.options import FirstRowsOptions
from uqcli.base.rows import Rows
from uqcli.base.wording import percent
from uqcli.boundary.rule import BoundaryArtifact
from uqcli.boundary.rule_file import REVIEWED, ZONES
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines.inputs import format_of
from uqcli.engines.open import reusable_streams
from uqcli.engines.protocol import AddedColumns, StreamSummary
from uqcli.engines.request import Roles
from uqcli.reports.checks import apply_checks
from uqcli.reports.rows_read import SHARE
from uqcli.rules.codec import content_of, load_unedited
from uqcli.rules.columns import NewColumns
from uqcli.rules.result import Result, WrittenRows, stream
from uqcli.rules.saved import Saved

_NO_ROWS: Final = StreamSummary(rows=0, selected=0, dropped=0, undecided=0)


def run(request: ApplyRequest) -> Result[ApplyReport, None]:
    """Add the rule's columns to every row of the inputs."""
    rule, output = load_unedited(request.artifact), request.output
    own = rule.first if isinstance(rule, BoundaryArtifact) else FirstRowsOptions()
    request = replace(request, first=request.first.of_rule(own))
    if not rule.has_sets:
        request.columns.refuse(("no_empty",), f"with a rule file of kind {rule.kind}")
    if request.only_selected and not rule.decides:
        raise UsageError(
            words("--only-selected with a rule file of kind {}", rule.kind), expected="a boundary"
        )
    lists = format_of(output.target, output.output_format) is not FileFormat.CSV
    form = NewColumns(prefix=output.prefix, lists=lists, no_empty=request.no_empty)
    roles = rule.reads(request.columns)
    added = replace(rule.adds(roles, form), made_by=content_of(rule)["digest"])
    empty = metrics_of(_parts(rule, roles, added, _NO_ROWS))
    apply_checks(request.checks, {"": {**empty, SHARE: None}})
    request = replace(request, data=replace(request.data, roles=roles))
    if request.first.top is not None:
        summary, parts = _by_capacity(request, rule, added, request.first.top)
    else:
        summary = _written(request, rule, added)
        parts = _parts(rule, roles, added, summary)
        if isinstance(rule, BoundaryArtifact):
            parts += likeness(rule, summary.rows - summary.undecided, summary.selected)
    if request.only_selected:
        parts.append(OnlyFlagged(selected=summary.selected))
    report = ApplyReport(
        source=WrittenRows(rows=summary.rows, dropped=summary.dropped, columns=roles.column_by_role()),
        parameters=_parameters(request, rule, added),
        columns=list(added.types),
        about_rule=f"{rule.in_a_sentence().rstrip('.')}.",
        parts=parts,
    )
    return Result(report=report, artifact=None)


def _parameters(request: ApplyRequest, rule: Saved, added: AddedColumns) -> dict[str, Any]:
    given = {"only_selected": request.only_selected, "top": request.first.top, "per": request.first.per}
    always = {"kind": rule.kind, "columns": list(added.types), "on_invalid": request.data.on_invalid}
    return always | {name: value for name, value in given.items() if value}


def _written(request: ApplyRequest, rule: Saved, added: AddedColumns) -> StreamSummary:
    """Write the rows with what the rule adds to them."""
    only = f"{request.output.prefix}decision" if request.only_selected else None
    ranges = rule.ranges if isinstance(rule, BoundaryArtifact) else {}
    return stream(request.data, added, request.output, only, ranges)


def _by_capacity(
    request: ApplyRequest, rule: Saved, added: AddedColumns, top: int
) -> tuple[StreamSummary, list[ApplyPart]]:
    """Write the rows, of which the first of each group are flagged."""
    if not isinstance(rule, BoundaryArtifact):
        raise UsageError(words("--top with a rule file of kind {}", rule.kind), expected="a boundary")
    roles = request.data.roles
    rule.place_of(Rows(numbers=dict.fromkeys(roles.all_numbers(), np.empty(0))))  # before any row
    with reusable_streams():  # it takes two passes
        data, by_capacity, cuts = decide_by_capacity(request.data, rule, added, top, request.first.per)
        summary = _written(replace(request, data=data), rule, by_capacity)
    capacity = Capacity(
        decisions=_decisions(rule, added, summary),
        top=top,
        taken=cuts.taken.tolist(),
        per=bool(request.first.per),
        is_certified=bool(rule.risk),
    )
    return summary, [*_parts(rule, roles, added, summary), capacity]


def _decisions(rule: Saved, added: AddedColumns, summary: StreamSummary) -> Decisions:
    rate = rule.alert_rate
    usual = "" if rate is None else f"{percent(rate)} on the calibration set"
    return Decisions(
        rows=summary.rows, selected=summary.selected, column=next(iter(added.types)), usual=usual
    )


def _parts(rule: Saved, roles: Roles, added: AddedColumns, summary: StreamSummary) -> list[ApplyPart]:
    """Return the parts that follow from the rule, whatever decides about its rows."""
    rows, undecided = summary.rows, summary.undecided
    parts: list[ApplyPart] = [WrittenPart(kind=rule.kind, rows=rows, undecided=undecided)]
    if rule.decides:
        parts.append(_decisions(rule, added, summary))
    if ZONES in added.texts.values():
        parts.append(Reviewed(rows=rows, reviewed=summary.texts.get(REVIEWED, 0)))
    if isinstance(rule, BoundaryArtifact):
        parts += outside_range(rule, rows - undecided, summary.outside)
    if roles.features:
        parts.append(new_categories(summary.unknown, is_calibrator=isinstance(rule, CalibratorArtifact)))
    return parts

"""``uqcli apply``: apply a rule to files."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from uqcli.apply.capacity import capacity_of
from uqcli.apply.options import ApplyRequest
from uqcli.apply.report import LEVEL, ApplyReport, Likeness, metrics_of
from uqcli.base.choices import FileFormat
from uqcli.base.errors import UsageError
from uqcli.base.rows import Rows
from uqcli.boundary.rule import REVIEWED, ZONES, BoundaryArtifact
from uqcli.engines.inputs import format_of
from uqcli.engines.open import reusable_streams
from uqcli.engines.protocol import StreamSummary
from uqcli.estimates.flagged_rows import flagged_interval
from uqcli.reports.checks import apply_checks
from uqcli.reports.written_rows import WrittenRows
from uqcli.rules.codec import content_of, load_unedited
from uqcli.rules.columns import NewColumns
from uqcli.rules.result import Result
from uqcli.rules.rows_output import stream
from uqcli.rules.saved import Saved


def run(request: ApplyRequest) -> Result[ApplyReport, None]:
    """Add the rule's columns to every row of the inputs.

    Raises
    ------
    UsageError, DataError, ArtifactError
        The rule or rows cannot be read, a check is invalid, or the output cannot be written.
    """
    rule, output = load_unedited(request.artifact), request.output
    selected = 0 if rule.decides else None
    if not rule.has_sets:
        request.columns.refuse(("no_empty",), f"with a rule file of kind {rule.kind}")
    if request.only_selected and not rule.decides:
        raise UsageError(f"--only-selected with a rule file of kind {rule.kind}", expected="a boundary")
    lists = format_of(output.target, output.output_format) is not FileFormat.CSV
    form = NewColumns(prefix=output.prefix, lists=lists, no_empty=request.no_empty)
    roles = rule.reads(request.columns)
    added = replace(rule.adds(roles, form), made_by=content_of(rule)["digest"])
    has_zones = ZONES in added.texts.values()
    reviewed = 0 if has_zones else None
    has_categories = bool(roles.features)
    unknown = 0 if has_categories else None
    empty = metrics_of(rows=0, selected=selected, undecided=0, reviewed=reviewed, unknown=unknown)
    apply_checks(request.checks, {"": empty})
    only = f"{output.prefix}decision" if request.only_selected else None
    data, capacity = replace(request.data, roles=roles), None
    with nullcontext() if request.top is None else reusable_streams():  # a capacity needs two passes
        if request.top is not None:
            if not isinstance(rule, BoundaryArtifact):
                raise UsageError(f"--top with a rule file of kind {rule.kind}", expected="a boundary")
            rule.place_of(Rows(numbers=dict.fromkeys(roles.all_numbers(), np.empty(0))))  # before any row
            capacity = capacity_of(data, rule, request.top, request.per)
            data, added = capacity.reads(data), capacity.adds(rule, added)
        ranges = rule.ranges if isinstance(rule, BoundaryArtifact) else {}
        summary = stream(data, added, output, only, ranges)
    report = ApplyReport(
        source=WrittenRows(rows=summary.rows, dropped=summary.dropped, columns=roles.column_by_role()),
        columns=list(added.types),
        on_invalid=request.data.on_invalid,
        only_selected=request.only_selected,
        top=request.top,
        per=request.per,
        rule=rule,
        selected=summary.selected if rule.decides else None,
        undecided=summary.undecided,
        reviewed=summary.texts.get(REVIEWED, 0) if has_zones else None,
        taken=None if capacity is None else tuple(capacity.cuts.taken.tolist()),
        likeness=_likeness(rule, summary, by_threshold=capacity is None),
        unknown=summary.unknown if has_categories else None,
    )
    return Result(report=report, artifact=None)


def _likeness(rule: Saved, summary: StreamSummary, *, by_threshold: bool) -> Likeness | None:
    """Compare the decided rows with the rule's calibration rows; None for rules that flag nothing.

    The share of flagged rows is not compared if a capacity decides, if the rule is for other class priors, or
    if it was fitted on rows with high scores.
    """
    if not isinstance(rule, BoundaryArtifact):
        return None
    (selected, calibrated), rows = rule.fit.flagged, summary.rows - summary.undecided
    explained = None
    if by_threshold and not rule.has_target and rule.region is None:
        explained = flagged_interval(selected, calibrated, rows, LEVEL)
    # the range of k numbers leaves out at most the share that 2 k calibration rows have
    extremes = min(2 * len(rule.ranges), calibrated)
    most_outside = flagged_interval(max(extremes - 1, 0), calibrated, rows, LEVEL)[1]
    return Likeness(
        rows=rows,
        selected=summary.selected,
        explained=explained,
        outside=summary.outside if rule.ranges else None,
        most_outside=most_outside,
        roles=tuple(rule.ranges),
    )

"""``uqcli apply``: apply a rule to files; ``--top`` flags the first rows of each group, up to a number."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from uqcli.apply.options import ApplyRequest
from uqcli.apply.report import LEVEL, ApplyReport, Likeness, metrics_of
from uqcli.base.choices import FileFormat, OnInvalid
from uqcli.base.counts import Ints
from uqcli.base.errors import DataError, UsageError
from uqcli.base.rows import Rows
from uqcli.boundary.rule import REVIEWED, ZONES, BoundaryArtifact
from uqcli.boundary.search.capacity import Cuts, FirstRows
from uqcli.engines.columns import key_named_by
from uqcli.engines.inputs import format_of
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.engines.protocol import AddedColumns, StreamSummary
from uqcli.engines.refusals import NoRowsError
from uqcli.engines.request import DataRequest, FeatureRequest
from uqcli.estimates.flagged_rows import flagged_interval
from uqcli.reports.checks import apply_checks
from uqcli.rules.codec import content_of, load_unedited
from uqcli.rules.columns import NewColumns
from uqcli.rules.result import Result
from uqcli.rules.rows_output import WrittenRows, stream
from uqcli.rules.saved import Saved


def decide_by_capacity(
    data: DataRequest, rule: BoundaryArtifact, added: AddedColumns, top: int, per: str | None
) -> tuple[DataRequest, AddedColumns, Cuts]:
    """Find the cuts of the groups in a first pass.

    Returns
    -------
    The request for the second pass, where groups are read as a feature of known levels; the columns to add
    there, with the decision by capacity; and the cuts.

    Raises
    ------
    UsageError, DataError
        The rule does not order rows, these cannot be read, or the engine cannot order rows at a cut.
    """
    usable = OnInvalid.ERROR if data.on_invalid is OnInvalid.ERROR else OnInvalid.DROP
    keys = () if per is None else (per,)
    request = replace(data, roles=replace(data.roles, keys=keys), on_invalid=usable)
    first, batches = FirstRows(top), open_engine(data.engine).batches(request)
    try:
        with key_named_by(per, "--per"):
            for rows in batches:
                place, score = rule.place_of(rows)
                group: Ints = np.zeros(len(rows), dtype=np.int64) if per is None else rows.groups[per]
                first.add(group, place, score, rows.position, rows.weights())
    except NoRowsError:  # as without a capacity, the header is written
        levels: Mapping[str, int] = {"": 0} if per is None else {}
    else:
        levels = {"": 0} if per is None else batches.levels[per]
    cuts = first.cuts(len(levels))
    if cuts.splits_tie:
        raise DataError(
            "rows with equal scores are at the cut of --top, and rows on a cluster have no order",
            expected="scores that differ there",
            remedy="use --engine polars",
        )
    (decision,) = added.types
    order = np.array([*levels.values(), -1], dtype=np.int64)  # the last is any other text

    def decided(rows: Rows) -> dict[str, np.ndarray]:
        place, score = rule.place_of(rows)
        group = np.zeros(len(rows), dtype=np.int64)
        if per is not None:
            level = rows.features[per].value.astype(np.int64)
            group = order[level]
        return {decision: cuts.takes(group, place, score, rows.position)}

    if per is not None:
        feature = FeatureRequest(name=per, text=True, levels=tuple(levels))
        roles = data.roles
        keyed = replace(roles, keys=(*roles.keys, per), features=(*roles.features, feature))
        data = replace(data, roles=keyed)
    return data, replace(added, compute=decided), cuts


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
    data, cuts = replace(request.data, roles=roles), None
    with nullcontext() if request.top is None else reusable_streams():  # a capacity needs two passes
        if request.top is not None:
            if not isinstance(rule, BoundaryArtifact):
                raise UsageError(f"--top with a rule file of kind {rule.kind}", expected="a boundary")
            rule.place_of(Rows(numbers=dict.fromkeys(roles.all_numbers(), np.empty(0))))  # before any row
            data, added, cuts = decide_by_capacity(data, rule, added, request.top, request.per)
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
        taken=None if cuts is None else tuple(cuts.taken.tolist()),
        likeness=_likeness(rule, summary, by_threshold=cuts is None),
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

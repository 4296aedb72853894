"""``uqcli apply``: apply a rule to files; ``--top`` flags the first rows of each group, up to a number."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np

from uqcli.apply.options import ApplyRequest
from uqcli.base.choices import FileFormat, OnInvalid
from uqcli.base.counts import Ints
from uqcli.base.errors import DataError, UsageError
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.rows import Rows
from uqcli.base.running.messages import caution
from uqcli.base.wording import count, percent, rows_of
from uqcli.boundary.rule import REVIEWED, ZONES, BoundaryArtifact
from uqcli.boundary.search.thresholds import Cuts, FirstRows
from uqcli.calibrate.rule import CalibratorArtifact
from uqcli.engines.columns import key_named_by
from uqcli.engines.inputs import format_of
from uqcli.engines.open import open_engine, reusable_streams
from uqcli.engines.protocol import AddedColumns, StreamSummary
from uqcli.engines.refusals import NoRowsError
from uqcli.engines.request import DataRequest, FeatureRequest
from uqcli.estimates.proportion import flagged_interval
from uqcli.reports.checks import apply_checks
from uqcli.reports.document import Document, HeadCard, KeyNumber, Metrics, OneResult, Verdict, head_of
from uqcli.reports.rows_read import SHARE
from uqcli.rules.codec import content_of, load_unedited
from uqcli.rules.columns import NewColumns
from uqcli.rules.result import Result, WrittenRows, stream
from uqcli.rules.saved import Saved

_TITLES: Final = {
    "boundary": "Decided",
    "calibrator": "Calibrated the probabilities of",
    "conformal": "Added prediction sets to",
}


_LEVEL: Final = 0.999
"""Level of the range of flagged rows, and of the limit on rows outside the range of the calibration rows."""

_MOST_OUTSIDE: Final = 0.01
"""Share of rows outside the range of the calibration rows up to which there is no caution."""


def metrics_of(
    *,
    rows: int,
    selected: int | None,
    undecided: int,
    reviewed: int | None = None,
    outside: float | None = None,
    unknown: int | None = None,
) -> Metrics:
    """Return the counts of the output by key.

    Selected or reviewed rows are None if the rule makes no decisions, or has no review. ``outside`` is the
    share of the rows outside the range of the calibration rows; None if unknown. ``unknown`` are rows with a
    category that the rule does not know; None if it reads no categories.
    """
    categories = {} if unknown is None else {"new_categories": unknown}
    if selected is None:
        return {"rows": rows, "undecided": undecided, **categories}
    share = reviewed / rows if reviewed is not None and rows else None
    zones = {} if reviewed is None else {"reviewed": reviewed, "review_share": share}
    return {
        **zones,
        "rows": rows,
        "selected": selected,
        "undecided": undecided,
        "selected_share": selected / rows if rows else None,
        "outside_range": outside,
        **categories,
    }


@dataclass(frozen=True, kw_only=True)
class ApplyReport(OneResult):
    """Rows written with what a rule adds to them, and how they compare with the calibration rows.

    ``taken`` are the rows flagged in each group within a capacity; None without one. ``explained`` is the
    fewest and most flagged rows that the rate on the calibration rows explains; None if not compared.
    ``outside`` are rows with a number outside the range of the calibration rows, None if the rule does not
    know it; ``most_outside`` is how many there are at most if the rows are like the calibration rows, and
    ``ranges`` the numbers with such a range. ``unknown`` are rows with a category that the rule does not
    know; None if it reads no categories.
    """

    command: ClassVar = "apply"

    rule: Saved
    source: WrittenRows
    columns: list[str]
    on_invalid: str
    only_selected: bool = False
    top: int | None = None
    per: str | None = None
    selected: int | None
    undecided: int
    reviewed: int | None = None
    taken: tuple[int, ...] | None = None
    explained: tuple[int, int] | None = None
    outside: int | None = None
    most_outside: int = 0
    ranges: tuple[str, ...] = ()
    unknown: int | None = None

    @property
    def metrics(self) -> Metrics:
        """Counts of the output."""
        return metrics_of(
            rows=self.source.rows,
            selected=self.selected,
            undecided=self.undecided,
            reviewed=self.reviewed,
            outside=self._share_outside,
            unknown=self.unknown,
        )

    @property
    def _decided(self) -> int:
        return self.source.rows - self.undecided

    @property
    def _share_outside(self) -> float | None:
        return self.outside / self._decided if self.outside is not None and self._decided else None

    @property
    def _is_usual(self) -> bool:
        """Whether the rate on the calibration rows explains the flagged rows; true if it is not compared."""
        return self.explained is None or self.explained[0] <= (self.selected or 0) <= self.explained[1]

    @property
    def warnings(self) -> list[Notice]:
        """How the rows differ from the calibration rows; empty if they do not."""
        warnings = list[Notice]()
        if self.explained is not None and not self._is_usual:
            numbers = (self.selected or 0, *self.explained)
            rate, low, high = (_percent(number / self._decided) for number in numbers)
            warnings.append(
                Notice(
                    "unusual-alerts",
                    f"the alert rate is {rate}. For rows like the calibration set, "
                    f"its {100 * _LEVEL:g} % range is {low} to {high}. Check the columns, or fit the rule "
                    "again.",
                )
            )
        share = self._share_outside
        if share is not None and share > _MOST_OUTSIDE and (self.outside or 0) > self.most_outside:
            numbers_outside = "a score or an uncertainty" if len(self.ranges) > 1 else "a score"
            warnings.append(
                Notice(
                    "outside-range",
                    f"{_percent(share)} of rows have {numbers_outside} outside the range of the calibration "
                    "set. Check the columns, or fit the rule again.",
                )
            )
        return warnings

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **head_of(self.command, self.source, self._parameters()),
            "metrics": dict(self.metrics),
            "notes": self.warnings,
        }

    def _parameters(self) -> dict[str, Any]:
        given = {"only_selected": self.only_selected, "top": self.top, "per": self.per}
        always = {"kind": self.rule.kind, "columns": self.columns, "on_invalid": self.on_invalid}
        return always | {name: value for name, value in given.items() if value}

    def document(self) -> Document:
        """Return the readable form."""
        rows = self.source.rows
        title = f"{_TITLES.get(self.rule.kind, 'Added columns to')} {rows_of(rows)}"
        if self.selected is not None:
            rate = f" ({percent(self.selected / rows)})" if rows else ""
            title = f"Flagged {count(self.selected)} of {rows_of(rows)}{rate}"
        if self.reviewed is not None:
            rate = f" ({percent(self.reviewed / rows)})" if rows else ""
            title = f"{title} and sent {count(self.reviewed)}{rate} to review"
        title = f"{title}."
        cautions = self.warnings
        if self.undecided:
            has = "has" if self.undecided == 1 else "have"
            undecided = f"{rows_of(self.undecided)} {has} a missing value, and so no result."
            cautions.append(Notice("undecided-rows", undecided))
        if self.unknown and not isinstance(self.rule, CalibratorArtifact):
            belong = "belongs" if self.unknown == 1 else "belong"
            cautions.append(
                Notice(
                    "unknown-groups",
                    f"{rows_of(self.unknown)} {belong} to groups that the rule does not know; "
                    "the rule of all rows decides there.",
                )
            )
        elif self.unknown:
            has, a_category = ("has", "a new category") if self.unknown == 1 else ("have", "new categories")
            unknown = f"{rows_of(self.unknown)} {has} {a_category}, which the rule does not know."
            cautions.append(Notice("unknown-groups", unknown))
        added = f"Columns added: {', '.join(self.columns)}."
        if self.only_selected:
            added += " Only flagged rows are written."
        added += self._capacity()
        return Document(
            title=title,
            tables=[],
            lead=[f"{self.rule.in_a_sentence().rstrip('.')}.", added],
            cautions=cautions,
            card=self._card(title),
        )

    def _capacity(self) -> str:
        """State the capacity and the groups below it; empty without one."""
        top, per = self.top, self.per
        if self.taken is None or top is None:
            return ""
        if not self.taken:  # no row has a group
            return ""
        below = sum(rows < top for rows in self.taken)
        first = "The highest-ranked row" if top == 1 else f"The {count(top)} highest-ranked rows"
        verb = "is" if top == 1 else "are"
        if per is not None:
            fewer = f"; {count(below)} {'has' if below == 1 else 'have'} fewer" if below else ""
            groups = f"each of {count(len(self.taken))} groups" if len(self.taken) != 1 else "1 group"
            flagged = f"{first} of {groups} {verb} flagged{fewer}."
        elif below:
            flagged = f"All usable rows are flagged, since there are fewer than {count(top)}."
        else:
            flagged = f"{first} {verb} flagged, whatever the thresholds."
        certified = isinstance(self.rule, BoundaryArtifact) and self.rule.risk
        return f" {flagged}{' No certificate is about them.' if certified else ''}"

    def _card(self, title: str) -> HeadCard:
        rows = self.source.rows
        written = self.selected if self.only_selected else rows
        numbers = [KeyNumber(label="rows written", value=count(written or 0))]
        if self.selected is not None and rows:
            usual = None if self.taken is not None else self.rule.alert_rate
            beside = "" if usual is None else f"{percent(usual)} on the calibration set"
            numbers.append(KeyNumber(label="flagged", value=percent(self.selected / rows), interval=beside))
        if self.reviewed is not None and rows:
            numbers.append(KeyNumber(label="for review", value=percent(self.reviewed / rows)))
        else:
            numbers.append(KeyNumber(label="undecided", value=count(self.undecided)))
        action = "When labels arrive, check the rule with uqcli evaluate."
        if self.selected is not None:
            evaluated = "" if self.taken is not None else f" {action}"  # evaluate tests the thresholds
            action = f"Handle the rows whose {self.columns[0]} is true.{evaluated}"
        verdict = None
        if self.selected is not None:
            rate = "" if self.explained is None else "alert rate as usual; "
            verdict = Verdict(text=f"{rate}hit rate unknown until labels arrive")
        if not self._is_usual:
            verdict = Verdict(text="unusual alert rate", tone="bad")
        elif self.warnings:
            verdict = Verdict(text="unusual rows", tone="bad")
        subject = "{rules} applied to {inputs}; rows written to {output}."
        return HeadCard(title=title, subject=subject, verdict=verdict, numbers=numbers, action=action)


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def decide_by_capacity(
    data: DataRequest, rule: BoundaryArtifact, added: AddedColumns, top: int, per: str | None
) -> tuple[DataRequest, AddedColumns, Cuts]:
    """Find the cuts of the groups in a first pass.

    Returns the request for the second pass, where groups are read as a feature of known levels; the columns
    to add there, with the decision by capacity; and the cuts.
    """
    usable = OnInvalid.ERROR if data.on_invalid is OnInvalid.ERROR else OnInvalid.DROP
    keys = () if per is None else (per,)
    request = replace(data, roles=replace(data.roles, keys=keys, per=per), on_invalid=usable)
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
    if tied := int(cuts.tied.sum()):
        caution("ties-at-the-cut", _tied(tied, int(np.count_nonzero(cuts.tied)), per))
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
        feature = FeatureRequest(name=per, text=True, levels=tuple(levels), dated=True)
        roles = data.roles
        keyed = replace(roles, keys=(*roles.keys, per), per=per, features=(*roles.features, feature))
        data = replace(data, roles=keyed)
    return data, replace(added, compute=decided), cuts


def _tied(rows: int, groups: int, per: str | None) -> str:
    """Caution of rows that are not flagged only since they come after equal ones."""
    ranks, are = ("ranks", "is") if rows == 1 else ("rank", "are")
    where = "" if per is None else f", in {count(groups)} group{'' if groups == 1 else 's'}"
    return (
        f"{rows_of(rows)} {ranks} as the last flagged row does{where}, and {are} not flagged: of rows of "
        "equal scores the first ones in the input are taken. Use scores of more digits, or another --top."
    )


def run(request: ApplyRequest) -> Result[ApplyReport, None]:
    """Add the rule's columns to every row of the inputs."""
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
    apply_checks(request.checks, {"": {**empty, SHARE: None}})
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
    explained, outside, most_outside, compared = _likeness(rule, summary, by_threshold=cuts is None)
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
        explained=explained,
        outside=outside,
        most_outside=most_outside,
        ranges=compared,
        unknown=summary.unknown if has_categories else None,
    )
    return Result(report=report, artifact=None)


def _likeness(
    rule: Saved, summary: StreamSummary, *, by_threshold: bool
) -> tuple[tuple[int, int] | None, int | None, int, tuple[str, ...]]:
    """Compare the decided rows with the rule's calibration rows, unless the rule flags nothing.

    The share of flagged rows is not compared if a capacity decides, if the rule is for other class priors, if
    it was fitted on rows with high scores, or if its rows depend on each other. Returns the attributes
    explained, outside, most_outside and ranges of the report.
    """
    if not isinstance(rule, BoundaryArtifact):
        return None, None, 0, ()
    (selected, calibrated), rows = rule.fit.flagged, summary.rows - summary.undecided
    explained = None
    is_alike = not rule.has_target and rule.region is None and rule.source.dependence is None
    if by_threshold and is_alike:
        explained = flagged_interval(selected, calibrated, rows, _LEVEL)
    # the range of k numbers leaves out at most the share that 2 k calibration rows have
    extremes = min(2 * len(rule.ranges), calibrated)
    most_outside = flagged_interval(max(extremes - 1, 0), calibrated, rows, _LEVEL)[1]
    return explained, summary.outside if rule.ranges else None, most_outside, tuple(rule.ranges)

"""Reports of ``uqcli boundary`` for several bounds, and of what usual bounds would bring if none is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from uqcli.base.choices import AlgorithmChoice
from uqcli.base.defaults import VERSION
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import ADD_POSITIVES, MOST_NAMED, count, percent, printable, ranges, rows_of
from uqcli.boundary.expected import Expected, agreed, expected_cells
from uqcli.boundary.report import JOINT_TARGET, NO_UNCERTAINTY, UNTESTED, BoundaryReport, fit_cells
from uqcli.boundary.rule import precision_cell, ranges_by, rule, rule_in_short
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.estimates.estimate import FEWEST_FLAGGED, interval
from uqcli.estimates.proportion import range_of_few
from uqcli.reports.document import (
    Document,
    Figure,
    HeadCard,
    KeyNumber,
    Metrics,
    OneResult,
    Table,
    Verdict,
    head_of,
    in_order,
    plain,
)
from uqcli.rules.saved import Source

_KEY_NUMBERS = 3
"""Most numbers at the head of a page."""


@dataclass(frozen=True, kw_only=True)
class SeveralBoundariesReport:
    """Boundaries for several bounds, in the order of the bounds."""

    reports: tuple[BoundaryReport, ...]

    @property
    def checked_metrics(self) -> Mapping[str, Metrics]:
        """Metrics by bound."""
        return {report.constraint.value: report.metrics for report in self.reports}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: ``results``, each like the report of a single bound."""
        return {
            "command": "boundary",
            "uqcli_version": VERSION,
            "results": [report.payload() for report in self.reports],
            "notes": [*self._verdicts(), *self._cautions(), *self._notes()],
        }

    def document(self) -> Document:
        """Return the readable form, with one line per bound."""
        header: tuple[str, ...] = (
            "target",
            "recall",
            "precision",
            "flagged",
            "expected recall",
            "expected precision",
        )
        if self.reports[0].review is not None:
            header = (*header, "reviewed", "caught")
        table = Table(title="", header=header, rows=list(map(_line, self.reports, agreeing(self.reports))))
        return Document(
            title=self._answer(),
            tables=[table, *self._gains(), *self._decisions()],
            lead=[NO_UNCERTAINTY] if self.reports[0].lacks_uncertainty else [],
            cautions=self._cautions(),
            notes=[*self._verdicts(), *self._notes()],
            claims=[report.claim for report in self.reports],
            card=self._card(),
            figures=self._figures(),
            operating_points=self._finest.operating_points,
        )

    def _answer(self) -> str:
        parts: list[str] = []
        for report in self.reports:
            boundary, target = report.chosen.boundary, report.constraint.text()
            share_found = "nothing" if boundary is None else percent(boundary.fit.recall)
            of_all = " of all positives" if not parts and boundary is not None else ""
            right = ""
            if boundary is not None and 0 < boundary.fit.selected < FEWEST_FLAGGED:
                right = f" ({precision_cell(boundary.fit)} flagged rows right)"
            parts.append(f"{share_found}{of_all} with {target}{right}")
        if len(parts) > MOST_NAMED:
            more = f"the table has {len(parts) - MOST_NAMED} more targets"
            return f"Finds {', '.join(parts[:MOST_NAMED])}; {more}."
        *others, last = parts
        return f"Finds {', '.join(others)} and {last}." if others else f"Finds {last}."

    @property
    def _finest(self) -> BoundaryReport:
        return max(self.reports, key=lambda report: 0 if report.cells is None else len(report.cells.rows))

    def _figures(self) -> list[Figure]:
        if self._finest.cells is None or self._finest.certification is not None:
            return []
        return [self._finest.frontier([report.constraint for report in self.reports])]

    def _card(self) -> HeadCard:
        """Build the head of the page: the positives found for each of the first targets."""
        feasible = [report for report in self.reports if report.chosen.boundary is not None]
        missing = len(self.reports) - len(feasible)
        verdict = Verdict(text="not tested on new rows yet")
        if missing:
            verdict = Verdict(text=f"{missing} infeasible", tone="bad")
        elif self.reports[0].certification is not None:
            verdict = Verdict(text="each certified by itself")
        numbers = [
            KeyNumber(
                label=f"positives found at {report.constraint.text()}",
                value=report.card.numbers[1].value,
                interval=f"{report.card.numbers[2].value} of rows flagged",
            )
            for report in feasible[:_KEY_NUMBERS]
        ]
        return HeadCard(
            title=self._answer(),
            verdict=verdict,
            numbers=numbers,
            subject=self.reports[0].card.subject.replace("Rule", "Rules", 1),
            action="Choose one, and test it: uqcli evaluate RULE.json TEST.csv.",
        )

    def _verdicts(self) -> list[str]:
        """State for each bound whether the uncertainty helps; empty without ``--compare``."""
        return [
            f"{report.constraint.text()}: {sentence}"
            for report in self.reports
            for sentence in report.sentence()
        ]

    def _gains(self) -> list[Table]:
        """Build the table of the best uncertainty column for each bound."""
        best = [(report.constraint.text(), report.compared[0]) for report in self.reports if report.compared]
        rows = [(bound, *compared.cells) for bound, compared in best]
        header = ("uncertainty at equal alerts", "points of recall", "p", "verdict")
        return [Table(title="", header=header, rows=rows, text_last=True)] if rows else []

    def _cautions(self) -> list[Notice]:
        one_class = _of_one_class(self.reports)
        first = self.reports[0].certification
        if first is None:
            return one_class
        risk = f"{100 * first.delta:g} %"
        return [
            *one_class,
            Notice(
                "several-certificates",
                f"each rule is certified at a risk of {risk} by itself, and that of the best one picked "
                "afterwards is higher: choose the target beforehand.",
            ),
        ]

    def _decisions(self) -> list[Table]:
        """Build tables of the thresholds, with bounds side by side that have the same uncertainty edges."""
        if any(report.groups is not None for report in self.reports):
            return self._group_rules()
        by_edges: dict[tuple[float, ...], list[BoundaryReport]] = {}
        for report in self.reports:
            if report.chosen.boundary is not None:
                by_edges.setdefault(tuple(report.chosen.boundary.uncertainty_edges.tolist()), []).append(
                    report
                )
        return [_decision(edges, reports) for edges, reports in by_edges.items()]

    def _group_rules(self) -> list[Table]:
        """Build the table of the rules by group, with bounds side by side."""
        with_groups = [
            report for report in self.reports if report.groups is not None and report.groups.boundaries
        ]
        rules = [report.groups for report in with_groups if report.groups is not None]
        if not rules:
            return []
        rows = [
            (printable(name, 30), *(rule_in_short(groups.boundaries[name].printed) for groups in rules))
            for name in in_order(rules[0].boundaries)
        ]
        header = (rules[0].name, *(report.constraint.text() for report in with_groups))
        return [Table(title="", header=header, rows=rows, left=len(header))]

    def _notes(self) -> list[str]:
        first = self.reports[0]
        notes = [
            f"Calibration set: {count(first.source.rows)} rows, {count(first.source.positives)} positive.",
            f"Goal: {first.constraint.aim('its target met')}.",
            *(
                f"{report.constraint.text()}: {report.shortfall()}."
                for report in self.reports
                if report.chosen.boundary is None
            ),
        ]
        if first.certification is None:
            notes += [
                *([UNTESTED] if any(report.is_untested for report in self.reports) else []),
                *([JOINT_TARGET] if any(report.has_several_thresholds for report in self.reports) else []),
            ]
        return notes


def _line(report: BoundaryReport, expected: Expected | None) -> tuple[str, ...]:
    boundary, bound = report.chosen.boundary, report.constraint.text()
    zones = ("", "") if report.review else ()
    if boundary is None:
        return (bound, "infeasible", *[""] * 4, *zones)
    if boundary.fit.zones:
        reviewed, caught = boundary.fit.zones
        zones = count(reviewed), percent(caught / boundary.fit.positives)
    return (bound, *fit_cells(boundary.fit), *expected_cells(expected), *zones)


def _decision(edges: Sequence[float], reports: Sequence[BoundaryReport]) -> Table:
    bounds = [report.constraint.text() for report in reports]
    rules = [
        [rule(threshold, raised=bool(report.recalibrated)) for threshold in report.chosen.boundary.printed]
        for report in reports
        if report.chosen.boundary
    ]
    rows = list(zip(ranges(edges), *rules, strict=True))
    return Table(title="", header=("flag when", *bounds), rows=rows, left=1 + len(bounds))


_ENOUGH_ALERTS = 100
"""Flagged rows from which on a target is an example: 30 tell a precision within 17 points only."""


def _alerts(report: BoundaryReport) -> int:
    return 0 if report.chosen.boundary is None else report.chosen.boundary.fit.selected


def agreeing(reports: Sequence[BoundaryReport]) -> list[Expected | None]:
    """Return what the rules of several targets are expected to do, for one table; few flagged rows: None."""
    expected = [None if _alerts(report) < FEWEST_FLAGGED else report.chosen.expected for report in reports]
    return agreed(
        expected, [report.chosen.boundary and report.chosen.boundary.thresholds for report in reports]
    )


_TARGETS = (ConstraintKind.PRECISION, ConstraintKind.MAX_SELECTED)
"""Kinds of usual bounds, in the order of their tables."""


@dataclass(frozen=True, kw_only=True)
class TargetsReport(OneResult):
    """What rules for usual precisions and shares of alerts would bring; rows and positives are by weight.

    There is a report of each rule, the precisions first, in ascending order of the bound; none if none is
    reached. ``lacks_uncertainty`` says that the rows have none, though none was ruled out. ``line`` is the
    command line to which the option of a target is added, if there is one.
    """

    source: Source
    algorithm: AlgorithmChoice
    on_invalid: str
    positive: str | None
    seed: int
    rows: int
    positives: int
    reports: tuple[BoundaryReport, ...]
    lacks_uncertainty: bool = False
    line: str = ""

    @property
    def metrics(self) -> Metrics:
        """Counts of all rows."""
        return {"rows": self.rows, "positives": self.positives}

    def payload(self) -> dict[str, Any]:
        """Return the JSON form: ``targets``, each with the metrics of its rule."""
        parameters = {
            "algorithm": str(self.algorithm),
            "on_invalid": self.on_invalid,
            "positive": self.positive,
            "seed": self.seed,
        }
        document = self.document()
        return {
            **head_of("boundary", self.source, parameters),
            "metrics": plain(self.metrics),
            "targets": self.targets(),
            "notes": [document.title, *document.cautions, *document.notes],
        }

    def targets(self) -> list[dict[str, Any]]:
        """Return the JSON form of each target: its option, the value, and the metrics of its rule."""
        return [
            {
                "option": f"--{report.constraint.kind}",
                "value": report.constraint.value,
                "metrics": plain(report.metrics),
            }
            for report in self.reports
        ]

    def document(self) -> Document:
        """Return the readable form."""
        example = "" if self.is_reversed else self.example
        return Document(
            title=self.sentence(),
            lead=[f"Choose a line and add its option, such as {example}."] if example else [],
            tables=self.tables(),
            cautions=self._cautions(),
            notes=self._notes(),
            figures=self._figures(),
            next=f"{self.line.removeprefix('uqcli ')} {example} -o boundary.json" if example else "",
            card=HeadCard(
                title=self.sentence().removesuffix("."), verdict=Verdict(text="no target chosen yet")
            ),
            operating_points=self.reports[0].operating_points if self.reports else None,
        )

    @property
    def example(self) -> str:
        """Option of the advised target, with its value; empty if none is reached."""
        advised = self.advised
        return "" if advised is None else f"--{advised.constraint.kind} {advised.constraint.value}"

    @property
    def advised(self) -> BoundaryReport | None:
        """Report of the highest precision, else of the least share, that flags enough rows to rest on.

        These are 100 rows, or 30 if no target flags so many; if none does, the report with the most. None if
        no target is reached.
        """
        precisions = self.of_kind(ConstraintKind.PRECISION)
        for reports in (precisions, self.of_kind(ConstraintKind.MAX_SELECTED)[::-1]):
            for enough in (_ENOUGH_ALERTS, FEWEST_FLAGGED):
                if chosen := [report for report in reports if _alerts(report) >= enough]:
                    return chosen[-1]
        return max(self.reports, key=_alerts, default=None)

    def why_advised(self) -> str:
        """State why a target is the example, to follow it; empty without any."""
        advised = self.advised
        if advised is None:
            return ""
        alerts = _alerts(advised)
        if alerts < FEWEST_FLAGGED:
            return "the one with the most flagged rows here"
        enough = _ENOUGH_ALERTS if alerts >= _ENOUGH_ALERTS else FEWEST_FLAGGED
        of_kind = "share" if advised.constraint.limits_alerts else "precision"
        side = "highest" if of_kind == "precision" else "smallest"
        return f"the {side} usual {of_kind} that flags {enough} rows or more here"

    def of_kind(self, kind: ConstraintKind) -> list[BoundaryReport]:
        """Return the reports of one kind of target."""
        return [report for report in self.reports if report.constraint.kind is kind]

    @property
    def is_reversed(self) -> bool:
        """Whether low scores are more often positive than high ones, so that no target is of use."""
        return any(report.reversed_score() for report in self.reports)

    def few_flagged(self) -> str:
        """State what the advised target brings if no target flags enough rows for a rate; else empty."""
        advised = self.advised
        if advised is None or advised.chosen.boundary is None or _alerts(advised) >= FEWEST_FLAGGED:
            return ""
        fit = advised.chosen.boundary.fit
        independent = advised.source.dependence is None
        hits = fit.true_positives
        ends = f" (95 % interval {range_of_few(hits, fit.selected)})" if independent else ""
        return (
            f"No usual target flags {FEWEST_FLAGGED} rows; {self.example} flags {count(fit.selected)}, "
            f"of which {count(hits)} {'is' if hits == 1 else 'are'} right{ends}."
        )

    def sentence(self) -> str:
        """State what the lowest and the highest precision bring that flag enough rows for a rate."""
        if not self.positives:
            return "No row is positive, so no rule can be found."
        if few := self.few_flagged():
            return few
        precisions = self.of_kind(ConstraintKind.PRECISION)
        recalls = [
            (report.constraint.bound, percent(report.chosen.boundary.fit.recall))
            for report in precisions
            if report.chosen.boundary is not None and _alerts(report) >= FEWEST_FLAGGED
        ]
        if not recalls and precisions and (advised := self.advised) and (boundary := advised.chosen.boundary):
            found = f"{self.example} finds {percent(boundary.fit.recall)} of positives"
            return f"No usual precision flags {FEWEST_FLAGGED} rows; {found}."
        if not recalls:
            rate = percent(self.positives / self.rows)
            return f"No usual precision above the positive rate ({rate}) is reached."
        (low, most), (high, least) = recalls[0], recalls[-1]
        alone = "By the score alone, a" if self.lacks_uncertainty else "A"
        also = "" if low == high else f", and {least} at {high}"
        return f"{alone} rule finds {most} of positives at precision {low}{also}."

    def tables(self, whose: str = "On the calibration set") -> list[Table]:
        """Build a table for each kind of target; ``whose`` begins the title of the first."""
        counted = any(
            _alerts(report) < FEWEST_FLAGGED and not report.source.dependence for report in self.reports
        )
        of_counts = "; counts 95 %" if counted else ""
        first = self.reports[0].constraint.kind if self.reports else None
        return [
            Table(
                title=f"{whose}, and expected on new data ({ranges_by(self.source)}{of_counts})"
                if kind is first
                else "",
                header=(f"--{kind}", "flagged", "recall", "expected recall", "expected precision"),
                rows=list(map(self._line, reports, agreeing(reports))),
            )
            for kind in _TARGETS
            if (reports := self.of_kind(kind))
        ]

    def _line(self, report: BoundaryReport, expected: Expected | None) -> tuple[str, ...]:
        assert report.chosen.boundary is not None  # others are left out
        fit = report.chosen.boundary.fit
        cells = ("-", "-") if expected is None else (interval(expected.recall), interval(expected.precision))
        if fit.selected < FEWEST_FLAGGED:
            right = f"{count(fit.true_positives)} of {count(fit.selected)} right"
            independent = report.source.dependence is None
            cells = (
                "-",
                f"{right}, {range_of_few(fit.true_positives, fit.selected)}" if independent else right,
            )
        return (
            report.constraint.bound.replace(" %", "%"),  # as it can be typed
            f"{count(fit.selected)} ({percent(fit.selected / self.rows)})",
            percent(fit.recall),
            *cells,
        )

    def _cautions(self) -> list[Notice]:
        one_class = _of_one_class(self.reports)
        if not self.positives:
            one_class = [Notice("one-class", f"no row is positive: {ADD_POSITIVES}.")]
        is_low = [
            Notice("reversed-score", sentence)
            for report in self.reports
            if (sentence := report.reversed_score())
        ][:1]
        alike = [report.alike.caution for report in self.reports if report.alike][:1]
        return [*one_class, *is_low, *alike]

    def _notes(self) -> list[str]:
        return [
            f"Calibration set: {rows_of(self.rows)}, {count(self.positives)} positive.",
            "Each line of the table is the rule that its option finds on these rows. About half of the "
            "rules that are fitted for a precision miss it on new data (one in six with --margin 1); "
            "--certify 0.1 guarantees it (10 % risk).",
        ]

    def _figures(self) -> list[Figure]:
        if not self.reports or self.reports[0].cells is None:
            return []
        figure = self.reports[0].frontier([report.constraint for report in self.reports])
        return [replace(figure, title="Precision and recall expected on new rows, by target")]


def _of_one_class(reports: Sequence[BoundaryReport]) -> list[Notice]:
    """Caution once that every row is positive."""
    sentences = [sentence for report in reports if (sentence := report.only_positives())]
    return [Notice("one-class", sentence) for sentence in sentences[:1]]

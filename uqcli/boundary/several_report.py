"""Report of ``uqcli boundary`` for several bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uqcli.base.defaults import VERSION
from uqcli.base.escaping import printable
from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, ranges, share
from uqcli.boundary.expected_report import expected_cells
from uqcli.boundary.report import JOINT_TARGET, NO_UNCERTAINTY, UNTESTED, BoundaryReport, fit_cells
from uqcli.boundary.rule import rule, rule_in_short
from uqcli.reports.document import Document, Figure, HeadCard, KeyNumber, Metrics, Table, Verdict, in_order

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
        table = Table(title="", header=header, rows=[_line(report) for report in self.reports])
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
        """State what each rule finds, in one sentence."""
        parts: list[str] = []
        for report in self.reports:
            boundary, target = report.chosen.boundary, report.constraint.text()
            found = "nothing" if boundary is None else percent(boundary.fit.recall)
            of_all = " of all positives" if not parts and boundary is not None else ""
            parts.append(f"{found}{of_all} with {target}")
        *others, last = parts
        return f"Finds {', '.join(others)} and {last}." if others else f"Finds {last}."

    @property
    def _finest(self) -> BoundaryReport:
        """The report with most uncertainty bins."""
        return max(self.reports, key=lambda report: 0 if report.cells is None else len(report.cells.rows))

    def _figures(self) -> list[Figure]:
        """Build the figure of all targets on one curve."""
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

    def _cautions(self) -> list[str]:
        one_class = [sentence for report in self.reports if (sentence := report.only_positives())][:1]
        first = self.reports[0].certification
        if first is None:
            return one_class
        risk = f"{100 * first.delta:g} %"
        return [
            *one_class,
            f"each rule is certified at a risk of {risk} by itself, and that of the best one picked "
            "afterwards "
            "is higher: choose the target beforehand.",
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
            (printable(name, 30), *(rule_in_short(groups.boundaries[name].thresholds) for groups in rules))
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


def _line(report: BoundaryReport) -> tuple[str, ...]:
    boundary, bound = report.chosen.boundary, report.constraint.text()
    zones = ("", "") if report.review else ()
    if boundary is None:
        return (bound, "infeasible", *[""] * 4, *zones)
    if boundary.fit.zones:
        reviewed, caught = boundary.fit.zones
        zones = count(reviewed), share(caught / boundary.fit.positives)
    return (bound, *fit_cells(boundary.fit), *expected_cells(report.chosen.expected), *zones)


def _decision(edges: Sequence[float], reports: Sequence[BoundaryReport]) -> Table:
    bounds = [report.constraint.text() for report in reports]
    rules = [
        [rule(threshold, raised=bool(report.recalibrated)) for threshold in report.chosen.boundary.thresholds]
        for report in reports
        if report.chosen.boundary
    ]
    rows = list(zip(ranges(edges), *rules, strict=True))
    return Table(title="", header=("flag when", *bounds), rows=rows, left=1 + len(bounds))

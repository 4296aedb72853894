"""Report of ``uqcli boundary`` for several bounds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from uqcli.base.defaults import VERSION
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import MOST_NAMED, count, percent, printable, ranges, rows_of
from uqcli.boundary.expected import Expected, agreed, expected_cells
from uqcli.boundary.outcome import Outcome
from uqcli.boundary.report import BoundaryReport, FoundReport
from uqcli.boundary.results import fit_cells
from uqcli.boundary.rule_words import Holes, precision_cell, rule, rule_in_short
from uqcli.boundary.statements import Fact, Slot
from uqcli.estimates.estimate import FEWEST_FLAGGED
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
        has_review = Fact.TWO_ZONES not in self._first.story.facts
        if has_review:
            header = (*header, "reviewed", "caught")
        lines = map(_line, self.reports, agreeing(self.reports))
        rows = [(*line, *[""] * (len(header) - len(line))) for line in lines]
        table = Table(title="", header=header, rows=rows)
        return Document(
            title=self._answer(),
            tables=[table, *self._gains(), *self._decisions()],
            lead=self._first.says("score-alone"),
            cautions=self._cautions(),
            notes=[*self._verdicts(), *self._notes()],
            claims=[report.claim for report in self.reports],
            card=self._card(),
            figures=self._figures(),
            operating_points=self._finest.operating_points,
        )

    @property
    def _first(self) -> Outcome:
        return self.reports[0].outcome

    @property
    def _found(self) -> list[FoundReport]:
        """Reports of the bounds for which a rule was found."""
        return [report for report in self.reports if isinstance(report, FoundReport)]

    def _answer(self) -> str:
        parts: list[str] = []
        for report in self.reports:
            target = report.constraint.text()
            if not isinstance(report, FoundReport):
                parts.append(f"nothing with {target}")
                continue
            fit = report.fit
            of_all = "" if parts else " of all positives"
            right = (
                f" ({precision_cell(fit)} flagged rows right)" if 0 < fit.selected < FEWEST_FLAGGED else ""
            )
            parts.append(f"{percent(fit.recall)}{of_all} with {target}{right}")
        if len(parts) > MOST_NAMED:
            more = f"the table has {len(parts) - MOST_NAMED} more targets"
            return f"Finds {', '.join(parts[:MOST_NAMED])}; {more}."
        *others, last = parts
        return f"Finds {', '.join(others)} and {last}." if others else f"Finds {last}."

    @property
    def _finest(self) -> BoundaryReport:
        return max(self.reports, key=lambda report: report.grid_size)

    def _figures(self) -> list[Figure]:
        if Fact.UNCERTIFIED not in self._finest.outcome.story.facts:
            return []
        return self._finest.frontiers([report.constraint for report in self.reports])

    def _card(self) -> HeadCard:
        """Build the head of the page: the positives found for each of the first targets."""
        missing = len(self.reports) - len(self._found)
        verdict = Holes().verdict
        if missing:
            verdict = Verdict(text=f"{missing} infeasible", tone="bad")
        elif Fact.UNCERTIFIED not in self._first.story.facts:
            verdict = Verdict(text="each certified by itself")
        numbers = [
            KeyNumber(
                label=f"positives found at {report.constraint.text()}",
                value=report.card.numbers[1].value,
                interval=f"{report.card.numbers[2].value} of rows flagged",
            )
            for report in self._found[:_KEY_NUMBERS]
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
            for sentence in report.outcome.says("verdict-of-bound")
        ]

    def _gains(self) -> list[Table]:
        """Build the table of the best uncertainty column for each bound."""
        best = [(report.constraint.text(), report.compared[0]) for report in self.reports if report.compared]
        rows = [(bound, *compared.cells) for bound, compared in best]
        header = ("uncertainty at equal alerts", "points of recall", "p", "verdict")
        return [Table(title="", header=header, rows=rows, text_last=True)] if rows else []

    def _cautions(self) -> list[Notice]:
        return [*said_once(self.reports, "one-class"), *self._first.said(Slot.ABOUT_BOUNDS)]

    def _decisions(self) -> list[Table]:
        """Build tables of the thresholds, with bounds side by side that have the same uncertainty edges."""
        if self._first.said(Slot.GROUPS):
            return self._group_rules()
        by_edges: dict[tuple[float, ...], list[FoundReport]] = {}
        for report in self._found:
            edges = tuple(report.outcome.boundary.uncertainty_edges.tolist())
            by_edges.setdefault(edges, []).append(report)
        return [_decision(edges, reports) for edges, reports in by_edges.items()]

    def _group_rules(self) -> list[Table]:
        """Build the table of the rules by group, with bounds side by side."""
        with_groups = [(report, *report.outcome.said(Slot.GROUPS)) for report in self._found]
        rules = [groups for _, groups in with_groups]
        if not rules:
            return []
        rows = [
            (printable(name, 30), *(rule_in_short(groups.boundaries[name].printed) for groups in rules))
            for name in in_order(rules[0].boundaries)
        ]
        header = (rules[0].name, *(report.constraint.text() for report, _ in with_groups))
        return [Table(title="", header=header, rows=rows, left=len(header))]

    def _notes(self) -> list[str]:
        source = self._first.calibration.source
        return [
            f"Calibration set: {rows_of(source.rows)}, {count(source.positives)} positive.",
            f"Goal: {self._first.calibration.constraint.aim('its target met')}.",
            *(
                f"{report.constraint.text()}: {shortfall}."
                for report in self.reports
                if (shortfall := report.shortfall())
            ),
            *said_once(self.reports, "untested-bound"),
            *said_once(self.reports, "joint-target-bound"),
        ]


def _line(report: BoundaryReport, expected: Expected | None) -> tuple[str, ...]:
    bound = report.constraint.text()
    if not isinstance(report, FoundReport):
        return bound, "infeasible"
    fit = report.fit
    zones = [count(fit.zones[0]), percent(fit.zones[1] / fit.positives)] if fit.zones else []
    return (bound, *fit_cells(fit), *expected_cells(expected), *zones)


def _decision(edges: Sequence[float], reports: Sequence[FoundReport]) -> Table:
    bounds = [report.constraint.text() for report in reports]
    rules = [
        [
            rule(threshold, raised=report.outcome.story.phrases.raised)
            for threshold in report.outcome.boundary.printed
        ]
        for report in reports
    ]
    rows = list(zip(ranges(edges), *rules, strict=True))
    return Table(title="", header=("flag when", *bounds), rows=rows, left=1 + len(bounds))


def said_once(reports: Sequence[BoundaryReport], name: str) -> list[Any]:
    """Return what reports say by a name, once."""
    return [body for report in reports for body in report.outcome.says(name)][:1]


def agreeing(reports: Sequence[BoundaryReport]) -> list[Expected | None]:
    """Return what the rules of several targets are expected to do, for one table; few flagged rows: None."""
    expected, thresholds = list[Expected | None](), list[Hashable]()
    for report in reports:
        of_rule, own = None, None
        if isinstance(report, FoundReport):
            own = report.outcome.boundary.thresholds
            of_rule = None if report.fit.selected < FEWEST_FLAGGED else report.outcome.expected
        expected.append(of_rule)
        thresholds.append(own)
    return agreed(expected, thresholds)

"""Report of what usual bounds would bring, if none is given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from uqcli.base.choices import AlgorithmChoice
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import ADD_POSITIVES, count, percent, rows_of
from uqcli.boundary.expected import Expected
from uqcli.boundary.report import FoundReport
from uqcli.boundary.rule_words import ranges_by
from uqcli.boundary.search.constraint_kinds import ConstraintKind
from uqcli.boundary.several_report import agreeing, said_once
from uqcli.estimates.estimate import FEWEST_FLAGGED, interval
from uqcli.estimates.proportion import range_of_few
from uqcli.reports.document import (
    Document,
    Figure,
    HeadCard,
    Metrics,
    OneResult,
    Table,
    Verdict,
    head_of,
    no_points,
    plain,
)
from uqcli.rules.saved import Source

_ENOUGH_ALERTS = 100
"""Flagged rows from which on a target is an example: 30 tell a precision within 17 points only."""

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
    reports: tuple[FoundReport, ...]
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
            operating_points=self.reports[0].operating_points if self.reports else no_points,
        )

    @property
    def example(self) -> str:
        """Option of the advised target, with its value; empty if none is reached."""
        advised = self.advised
        return "" if advised is None else f"--{advised.constraint.kind} {advised.constraint.value}"

    @property
    def advised(self) -> FoundReport | None:
        """Report of the highest precision, else of the least share, that flags enough rows to rest on.

        These are 100 rows, or 30 if no target flags so many; if none does, the report with the most. None if
        no target is reached.
        """
        precisions = self.of_kind(ConstraintKind.PRECISION)
        for reports in (precisions, self.of_kind(ConstraintKind.MAX_SELECTED)[::-1]):
            for enough in (_ENOUGH_ALERTS, FEWEST_FLAGGED):
                if chosen := [report for report in reports if report.fit.selected >= enough]:
                    return chosen[-1]
        return max(self.reports, key=lambda report: report.fit.selected, default=None)

    def why_advised(self) -> str:
        """State why a target is the example, to follow it; empty without any."""
        advised = self.advised
        if advised is None:
            return ""
        alerts = advised.fit.selected
        if alerts < FEWEST_FLAGGED:
            return "the one with the most flagged rows here"
        enough = _ENOUGH_ALERTS if alerts >= _ENOUGH_ALERTS else FEWEST_FLAGGED
        of_kind = "share" if advised.constraint.limits_alerts else "precision"
        side = "highest" if of_kind == "precision" else "smallest"
        return f"the {side} usual {of_kind} that flags {enough} rows or more here"

    def of_kind(self, kind: ConstraintKind) -> list[FoundReport]:
        """Return the reports of one kind of target."""
        return [report for report in self.reports if report.constraint.kind is kind]

    @property
    def is_reversed(self) -> bool:
        """Whether low scores are more often positive than high ones, so that no target is of use."""
        return bool(said_once(self.reports, "reversed-score"))

    def few_flagged(self) -> str:
        """State what the advised target brings if no target flags enough rows for a rate; else empty."""
        advised = self.advised
        if not advised or advised.fit.selected >= FEWEST_FLAGGED:
            return ""
        fit, hits = advised.fit, advised.fit.true_positives
        ends = "" if self.source.dependence else f" (95 % interval {range_of_few(hits, fit.selected)})"
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
            (report.constraint.bound, percent(report.fit.recall))
            for report in precisions
            if report.fit.selected >= FEWEST_FLAGGED
        ]
        if not recalls and precisions and (advised := self.advised):
            found = f"{self.example} finds {percent(advised.fit.recall)} of positives"
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
        has_few = any(report.fit.selected < FEWEST_FLAGGED for report in self.reports)
        counted = has_few and not self.source.dependence
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

    def _line(self, report: FoundReport, expected: Expected | None) -> tuple[str, ...]:
        fit = report.fit
        cells = (interval(expected.recall), interval(expected.precision)) if expected else ("-", "-")
        if fit.selected < FEWEST_FLAGGED:
            right = f"{count(fit.true_positives)} of {count(fit.selected)} right"
            if not self.source.dependence:
                right = f"{right}, {range_of_few(fit.true_positives, fit.selected)}"
            cells = ("-", right)
        return (
            report.constraint.bound.replace(" %", "%"),  # as it can be typed
            f"{count(fit.selected)} ({percent(fit.selected / self.rows)})",
            percent(fit.recall),
            *cells,
        )

    def _cautions(self) -> list[Notice]:
        one_class = said_once(self.reports, "one-class")
        if not self.positives:
            one_class = [Notice("one-class", f"no row is positive: {ADD_POSITIVES}.")]
        others = [*said_once(self.reports, "reversed-score"), *said_once(self.reports, "dependent-rows")]
        return [*one_class, *others]

    def _notes(self) -> list[str]:
        return [
            f"Calibration set: {rows_of(self.rows)}, {count(self.positives)} positive.",
            "Each line of the table is the rule that its option finds on these rows. About half of the "
            "rules that are fitted for a precision miss it on new data (one in six with --margin 1); "
            "--certify 0.1 guarantees it (10 % risk).",
        ]

    def _figures(self) -> list[Figure]:
        marked = [report.constraint for report in self.reports]
        figures = [figure for report in self.reports[:1] for figure in report.frontiers(marked)]
        return [
            replace(figure, title="Precision and recall expected on new rows, by target")
            for figure in figures
        ]

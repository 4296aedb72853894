"""Report of ``uqcli boundary`` without a constraint: what each target would bring."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from uqcli.base.choices import AlgorithmChoice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent, rows_of, share
from uqcli.boundary.expected_report import expected_metrics
from uqcli.boundary.report import BoundaryReport
from uqcli.boundary.rule import ranges_by
from uqcli.boundary.search.constraint import ConstraintKind
from uqcli.estimates.estimate import interval
from uqcli.reports.document import (
    Document,
    Figure,
    HeadCard,
    Metrics,
    OneResult,
    Table,
    Verdict,
    head_of,
    plain,
)
from uqcli.rules.saved import Source

_TITLES = {
    ConstraintKind.PRECISION: "Rules by precision",
    ConstraintKind.MAX_SELECTED: "Rules by share of alerts",
}


@dataclass(frozen=True, kw_only=True)
class TargetsReport(OneResult):
    """What rules for usual precisions and shares of alerts would bring.

    Attributes
    ----------
    rows, positives
        By weight.
    reports
        Report of each rule, the precisions first, in ascending order of the bound; empty if none is reached.
    lacks_uncertainty
        Whether the rows have no uncertainty, though none was ruled out.
    line
        Command line to which the option of a target is added; empty if there is none.
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
        example = self.example
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
        """Option of the target in the middle, with its value; empty if none is reached."""
        middle = self.middle
        return "" if middle is None else f"--{middle.constraint.kind} {middle.constraint.value}"

    @property
    def middle(self) -> BoundaryReport | None:
        """Report of a target in the middle of the precisions, else of the shares; None if none is reached."""
        chosen = self.of_kind(ConstraintKind.PRECISION) or self.reports
        return chosen[len(chosen) // 2] if chosen else None

    def of_kind(self, kind: ConstraintKind) -> list[BoundaryReport]:
        """Return the reports of one kind of target."""
        return [report for report in self.reports if report.constraint.kind is kind]

    def sentence(self) -> str:
        """State what the lowest and the highest precision bring."""
        if not self.positives:
            return "No row is positive, so no rule can be found."
        recalls = [
            (report.constraint.value, percent(report.chosen.boundary.fit.recall))
            for report in self.of_kind(ConstraintKind.PRECISION)
            if report.chosen.boundary is not None
        ]
        if not recalls:
            rate = percent(self.positives / self.rows)
            return f"No usual precision above the positive rate ({rate}) is reached."
        (low, most), (high, least) = recalls[0], recalls[-1]
        alone = "By the score alone, a" if self.lacks_uncertainty else "A"
        also = "" if low == high else f", and {least} at {high}"
        return f"{alone} rule finds {most} of positives at precision {low}{also}."

    def tables(self, whose: str = "On the calibration set") -> list[Table]:
        """Build a table for each kind of target; ``whose`` begins the title."""
        return [
            Table(
                title=f"{whose}, and expected on new data ({ranges_by(self.source)})"
                if kind is ConstraintKind.PRECISION
                else "",
                header=(f"--{kind}", "flagged", "recall", "expected recall", "expected precision"),
                rows=[self._line(report) for report in self.of_kind(kind)],
            )
            for kind in _TITLES
            if self.of_kind(kind)
        ]

    def _line(self, report: BoundaryReport) -> tuple[str, ...]:
        assert report.chosen.boundary is not None  # others are left out
        fit = report.chosen.boundary.fit
        expected = expected_metrics(report.chosen.expected)
        return (
            report.constraint.value,
            f"{count(fit.selected)} ({percent(fit.selected / self.rows)})",
            share(fit.recall),
            *("" if each is None else interval(each) for each in (expected["recall"], expected["precision"])),
        )

    def _cautions(self) -> list[str]:
        one_class = [sentence for report in self.reports if (sentence := report.only_positives())][:1]
        if not self.positives:
            one_class = ["no row is positive: check --label, and --positive for labels such as yes."]
        alike = [report.alike for report in self.reports if report.alike][:1]
        return [*one_class, *alike]

    def _notes(self) -> list[str]:
        return [
            f"Calibration set: {rows_of(self.rows)}, {count(self.positives)} positive.",
            "Each line of the table is the rule that its option finds on these rows. About half of the "
            "rules that are fitted for a precision miss it on new data (one in six with --margin 1); "
            "--certify 0.1 guarantees it (10 % risk).",
        ]

    def _figures(self) -> list[Figure]:
        """Build the figure of the precisions on one curve."""
        if not self.reports or self.reports[0].cells is None:
            return []
        figure = self.reports[0].frontier([report.constraint for report in self.reports])
        return [replace(figure, title="Precision and recall expected on new rows, by target")]

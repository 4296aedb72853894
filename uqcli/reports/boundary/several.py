"""The report of several boundaries that were asked for at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from uqcli.defaults import VERSION
from uqcli.document import Document, Metrics, Table, count, share
from uqcli.reports.boundary.report import BoundaryReport


@dataclass(frozen=True, kw_only=True)
class SeveralBoundariesReport:
    """Boundaries for several bounds, in the order given."""

    reports: tuple[BoundaryReport, ...]

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """Metrics by bound."""
        return {each.constraint.value: each.metrics for each in self.reports}

    def payload(self) -> dict[str, Any]:
        """The JSON form: ``results``, each as if it had been asked for alone."""
        return {
            "command": "boundary",
            "uqcli_version": VERSION,
            "results": [each.payload() for each in self.reports],
            "notes": self._notes(),
        }

    def document(self) -> Document:
        """The readable form: one line for each bound."""
        first = self.reports[0]
        rows = [self._line(each) for each in self.reports]
        bins = range(1, max(len(row) for row in rows) - 4)
        header = ("bound", "recall", "precision", "selected", "true positives", *_thresholds_header(bins))
        return Document(
            title=f"Boundaries ({first.chosen.algorithm}) for several bounds",
            tables=[Table(title="On the rows they were chosen on", header=header, rows=_padded(rows))],
            notes=self._notes(),
            promises=[each.promise for each in self.reports],
        )

    def _line(self, report: BoundaryReport) -> tuple[str, ...]:
        found, bound = report.chosen.found, report.constraint.promise()
        if found is None:
            return (bound, "infeasible", "", "", "")
        fit = found.fit
        cells = (share(fit.recall), share(fit.precision), count(fit.selected), count(fit.true_positives))
        thresholds = ("never" if each is None else f"{each:.6g}" for each in found.thresholds)
        return (bound, *cells, *thresholds)

    def _notes(self) -> list[str]:
        first = self.reports[0]
        notes = [
            f"Chosen on {count(first.source.rows)} rows, {count(first.source.positives)} positive.",
            *(
                f"{each.constraint.promise()}: {each.shortfall()}."
                for each in self.reports
                if each.chosen.found is None
            ),
            *(
                f"{each.constraint.promise()}: {sentence}"
                for each in self.reports
                for sentence in each.sentence()
            ),
        ]
        if first.certification is not None:
            notes.append(
                f"Each is certified by itself at a risk of {100 * first.certification.delta:g} %: whoever "
                "takes the best of them afterwards runs a higher one."
            )
        else:
            notes.append("Measured on the rows they were chosen on: expect less on new rows.")
        return notes


def _thresholds_header(bins: range) -> list[str]:
    if len(bins) == 1:
        return ["score from"]
    return [f"bin {number}: score from" for number in bins]


def _padded(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    width = max(map(len, rows))
    return [row + ("",) * (width - len(row)) for row in rows]

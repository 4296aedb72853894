"""The report of ``uqcli boundary``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.artifacts.models import BoundaryParameters, Source
from uqcli.choices import Algorithm
from uqcli.defaults import VERSION
from uqcli.methods.boundary.result import FitCounts, FittedBoundary
from uqcli.reports.document import Document, Metrics, Table, count, plain, share
from uqcli.reports.thresholds import threshold_table


@dataclass(frozen=True, kw_only=True)
class BoundaryReport:
    """What was found on the hold-out rows.

    Attributes
    ----------
    found
        The boundary, or None where the constraint cannot be met.
    best
        The boundary of highest precision, where nothing was found and there is a positive row.
    score_only
        What a single score threshold reaches on the same rows; None if the algorithm is that one or
        nothing meets the constraint.
    rows, positives
        By weight.
    """

    source: Source
    parameters: BoundaryParameters
    found: FittedBoundary | None
    best: FittedBoundary | None
    score_only: FittedBoundary | None
    empty_bins: tuple[int, ...]
    rows: int
    positives: int

    @property
    def metrics(self) -> Metrics:
        """Recall, precision and counts on the hold-out rows."""
        fit = self.found.fit if self.found else self._nothing()
        return {
            "recall": fit.recall if self.found else None,
            "precision": fit.precision,
            "selected": fit.selected,
            "true_positives": fit.true_positives,
            "rows": self.rows,
            "positives": self.positives,
            "score_only_recall": self.score_only.fit.recall if self.score_only else None,
            "best_precision": self._closest.precision if self._closest else None,
            "recall_at_best_precision": self._closest.recall if self._closest else None,
        }

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """One set of metrics."""
        return {"": self.metrics}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "command": "boundary",
            "uqcli_version": VERSION,
            "source": msgspec.to_builtins(self.source),
            "parameters": msgspec.to_builtins(self.parameters),
            "metrics": plain(self.metrics),
            "feasible": self.found is not None,
            "uncertainty_edges": self.found.uncertainty_edges.tolist() if self.found else None,
            "thresholds": list(self.found.thresholds) if self.found else None,
            "notes": list(self._notes()),
        }

    def document(self) -> Document:
        """The readable form."""
        title = f"Boundary ({self.parameters.algorithm}) for precision >= {self.parameters.precision}"
        if self.found is None:
            return Document(title=title, tables=[], notes=self._notes())
        rows = [(str(self.parameters.algorithm), *_cells(self.found.fit))]
        if self.score_only:
            rows.append(("score only", *_cells(self.score_only.fit)))
        header = ("on the hold-out rows", "recall", "precision", "selected", "true positives")
        tables = [
            Table(title="", header=header, rows=rows),
            threshold_table(self.found.uncertainty_edges.tolist(), self.found.thresholds),
        ]
        return Document(title=title, tables=tables, notes=self._notes())

    @property
    def _closest(self) -> FitCounts | None:
        return self.best.fit if self.best else None

    def _nothing(self) -> FitCounts:
        return FitCounts(selected=0, true_positives=0, rows=self.rows, positives=self.positives)

    def _notes(self) -> list[str]:
        notes = [
            f"Hold-out: {count(self.source.rows)} rows, {count(self.source.positives)} positive"
            f"{f', {count(self.source.dropped)} dropped' if self.source.dropped else ''}."
        ]
        if self.empty_bins:
            listed = ", ".join(str(number + 1) for number in self.empty_bins)
            notes.append(f"Uncertainty bins without any row (never positive): {listed}.")
        if self.found is None:
            notes.append(self.shortfall())
        else:
            notes.append(
                "Measured on the rows it was chosen on: expect less on new rows; "
                "check with uqcli evaluate on labelled data not used here."
            )
        if self.found is not None and self.parameters.algorithm is not Algorithm.ST and not self.score_only:
            notes.append("No single score threshold meets the bound on these rows.")
        return notes

    def shortfall(self) -> str:
        """Say how close the best boundary comes."""
        if self._closest is None:
            return "Infeasible: no row is positive."
        return (
            f"Infeasible: no boundary reaches precision {self.parameters.precision}; the best is "
            f"{share(self._closest.precision)} at recall {share(self._closest.recall)} "
            f"({count(self._closest.selected)} selected)."
        )


def _cells(fit: FitCounts) -> tuple[str, str, str, str]:
    return share(fit.recall), share(fit.precision), count(fit.selected), count(fit.true_positives)

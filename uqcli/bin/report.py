"""Report of ``uqcli bin``: positive rates by score and uncertainty, and errors of isotonic fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from uqcli.base.counts import Floats
from uqcli.base.notices import Notice
from uqcli.base.records import dataclass
from uqcli.base.wording import count, percent
from uqcli.bin.isotonic_error import cumulative, errors_by_chance
from uqcli.bin.rule import GridArtifact
from uqcli.estimates.binning import BINNINGS
from uqcli.reports.document import Document, HeadCard, KeyNumber, Metrics, OneResult, Table
from uqcli.reports.positivity import positive_rate_figure

_ERROR_NOTES: Final = (
    "IST calibrates the score with one isotonic fit, MIST with one in each uncertainty bin. Both errors are "
    "measured on the rows of the fit, so they are too low.",
    "By chance: the error that perfectly calibrated scores would show in cells of these sizes.",
    "To measure both on rows that were not used for the fit, run uqcli calibrate --method mist.",
)


@dataclass(frozen=True, kw_only=True)
class BinReport(OneResult):
    """A grid of counts, and errors of isotonic fits (IST and MIST), if it was counted from rows."""

    artifact: GridArtifact
    errors: tuple[Floats, ...]
    warnings: tuple[Notice, ...]

    @property
    def metrics(self) -> Metrics:
        """Totals, and the mean errors over all score bins."""
        metrics = dict(self.artifact.metrics())
        if self.errors:
            ist, mist = self.errors
            metrics["ist_ece"], metrics["mist_ece"] = float(cumulative(ist)[0]), float(cumulative(mist)[0])
        return metrics

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        content = {**self.artifact.payload(), "metrics": dict(self.metrics), "notes": list(self.warnings)}
        if self.errors:
            ist, mist = self.errors
            content["ece_at"] = {"ist": _numbers(ist), "mist": _numbers(mist)}
            content["cumulative_ece_at"] = {
                "ist": _numbers(cumulative(ist)),
                "mist": _numbers(cumulative(mist)),
            }
        return content

    def document(self) -> Document:
        """Return the readable form of the grid, with the errors by score bin."""
        grid = self.artifact.document()
        *_, lines = grid.tables
        errors = []
        if self.errors:
            errors.append(self._errors_table([row[0] for row in lines.rows]))
        several = len(self.artifact.count) > 1
        notes = (
            f"Binning: {self.artifact.binning}: {BINNINGS[self.artifact.binning]}.",
            *grid.notes,
            *(_ERROR_NOTES if several and self.errors else ()),
        )
        return replace(
            grid,
            tables=[*grid.tables, *errors],
            cautions=self.warnings,
            notes=notes,
            next="boundary --grid {rule} --precision 0.9",
            figures=[positive_rate_figure(self.artifact.cells(), {})],
            card=self._card(grid.title),
        )

    def _card(self, title: str) -> HeadCard:
        source = self.artifact.source
        numbers = [
            KeyNumber(label="rows", value=count(source.rows)),
            KeyNumber(
                label="positive", value=percent((source.positives or 0) / source.rows) if source.rows else "-"
            ),
        ]
        if self.errors and len(self.artifact.count) > 1:
            ist, mist = self.errors
            numbers.append(
                KeyNumber(
                    label="error of one isotonic fit",
                    value=f"{cumulative(ist)[0]:.4f}",
                    interval=f"{cumulative(mist)[0]:.4f} with one per uncertainty bin",
                )
            )
        return HeadCard(title=title, subject="Counts of {inputs} by score and uncertainty.", numbers=numbers)

    def _errors_table(self, names: Sequence[str]) -> Table:
        groups = self.artifact.table_groups()
        columns = (*self.errors, errors_by_chance(self.artifact.cells(), groups))
        rows = [
            (name, *(_format(column, group[0]) for column in columns))
            for name, group in zip(names, groups, strict=True)
        ]
        title = "Mean calibration error in these score bins and all higher ones"
        return Table(title=title, header=("score bins", "IST", "MIST", "by chance"), rows=rows, detail=True)


def _format(error: Floats, first: int) -> str:
    value = cumulative(error)[first]
    return "-" if math.isnan(value) else f"{value:.4f}"


def _numbers(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]

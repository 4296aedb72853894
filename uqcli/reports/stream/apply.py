"""The report of ``uqcli apply``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from uqcli.artifacts.saved import Saved
from uqcli.document import Document, Metrics, OneResult, Table, count, head_of, rows_of

_NEXT: Final = (
    "Without labels nothing here tells how good this is: where they come in, hold the model against them "
    "with uqcli evaluate."
)
_NEXT_OF_COLUMNS: Final = (
    "Whether an uncertainty tells more than the score alone is not known from this: where there are labels, "
    "uqcli boundary --compare tests it, for several columns as --uncertainty A,B."
)
_MEANINGS: Final = (
    "what the model takes for the chance of a positive; uqcli tce tests whether it is",
    "entropy of the Beta distribution that the probability has, nats; it has no lower bound",
    "standard deviation of the probability",
    "entropy of a label drawn with the score, nats: high near 0.5, whatever is known",
    "what of that entropy would go if the probability were known, nats",
)
"""Of the columns of ``uqcli uncertainty``, in order; higher where less is certain, but for the score."""

_TITLES: Final = {
    "boundary": "Decisions for",
    "calibrator": "Calibrated probabilities for",
    "conformal": "Sets of classes for",
}


class ApplySource(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: rows written, rows dropped, role to column name."""

    rows: int
    dropped: int
    columns: dict[str, str]


class ApplyParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shape the output."""

    kind: str | None
    columns: list[str]
    on_invalid: str


def metrics_of(*, rows: int, selected: int | None, undecided: int) -> Metrics:
    """Counts of the output by their contract names; ``selected`` is None where nothing is decided."""
    if selected is None:
        return {"rows": rows, "undecided": undecided}
    return {
        "rows": rows,
        "selected": selected,
        "undecided": undecided,
        "selected_share": selected / rows if rows else None,
    }


@dataclass(frozen=True, kw_only=True)
class ApplyReport(OneResult):
    """What was written, by ``apply`` or another command that adds columns.

    Attributes
    ----------
    model
        What was applied; None where there is no saved model.
    added_from
        What columns were made of where there is none; with it their meanings are shown.
    """

    command: str = "apply"
    model: Saved | None = None
    added_from: str = ""

    source: ApplySource
    parameters: ApplyParameters
    selected: int | None
    undecided: int

    @property
    def metrics(self) -> Metrics:
        """Counts of the output."""
        return metrics_of(rows=self.source.rows, selected=self.selected, undecided=self.undecided)

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            **head_of(self.command, self.source, self.parameters),
            "metrics": dict(self.metrics),
        }

    def document(self) -> Document:
        """The readable form."""
        cells = {"rows written": count(self.source.rows)}
        if self.selected is not None:
            cells["decided positive"] = count(self.selected)
            cells["share"] = f"{100 * self.selected / self.source.rows:.2f} %" if self.source.rows else "-"
        cells |= {
            "dropped": count(self.source.dropped),
            "undecided, a value is missing": count(self.undecided),
        }
        added = f"Columns added: {', '.join(self.parameters.columns)}."
        table = Table(title="", header=list(cells), rows=[list(cells.values())], left=0)
        if self.model is None:
            notes = [f"{added[:-1]}; made of {self.added_from}.", _NEXT_OF_COLUMNS]
        else:
            notes = [f"By: {self.model.in_a_sentence()}.", added, _NEXT]
        made = _TITLES.get(self.parameters.kind or "", "Columns added to")
        return Document(
            title=f"{made} {rows_of(self.source.rows)}",
            tables=[table, self._meanings()] if self.model is None else [table],
            notes=notes,
        )

    def _meanings(self) -> Table:
        """What the added columns hold, by the names they got."""
        rows = list(zip(self.parameters.columns, _MEANINGS, strict=True))
        return Table(title="Columns", header=("column", "meaning"), rows=rows, left=2)

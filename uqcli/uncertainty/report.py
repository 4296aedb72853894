"""Report of ``uqcli uncertainty``."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from uqcli.base.records import dataclass
from uqcli.base.wording import rows_of
from uqcli.reports.document import Document, Metrics, OneResult, Table, head_of
from uqcli.rules.rows_output import WrittenRows

_MEANINGS: Final = (
    "the predicted probability of a positive",
    "entropy of the probability's Beta distribution, nats",
    "standard deviation of the probability",
    "entropy of the label, nats: high near 0.5",
    "how much knowing the probability would reduce that entropy, nats",
)
"""Meanings of the added columns, in order; except the score, higher is less certain."""


def metrics_of(*, rows: int, undecided: int) -> Metrics:
    """Return the counts of the output by key."""
    return {"rows": rows, "undecided": undecided}


@dataclass(frozen=True, kw_only=True)
class UncertaintyReport(OneResult):
    """Rows written with a score and its uncertainties.

    Attributes
    ----------
    added_from
        The columns from which the added ones are computed, in words.
    """

    command: ClassVar = "uncertainty"

    source: WrittenRows
    columns: list[str]
    added_from: str
    on_invalid: str
    undecided: int

    @property
    def metrics(self) -> Metrics:
        """Counts of the output."""
        return metrics_of(rows=self.source.rows, undecided=self.undecided)

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        parameters = {"kind": None, "columns": self.columns, "on_invalid": self.on_invalid}
        return {**head_of(self.command, self.source, parameters), "metrics": dict(self.metrics), "notes": []}

    def document(self) -> Document:
        """Return the readable form."""
        cautions = []
        if self.undecided:
            cautions.append(f"{rows_of(self.undecided)} undecided: a value is missing.")
        if self.source.dropped:
            cautions.append(f"{rows_of(self.source.dropped)} dropped.")
        meanings = list(zip(self.columns, _MEANINGS, strict=True))
        return Document(
            title=f"Added a score and its uncertainties to {rows_of(self.source.rows)}.",
            tables=[Table(title="", header=("column", "meaning"), rows=meanings, left=2)],
            cautions=cautions,
            notes=[f"Columns added: {', '.join(self.columns)}.", f"Made from {self.added_from}."],
            next="boundary {rule} --precision 0.9 --compare",
        )

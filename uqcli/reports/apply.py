"""The report of ``uqcli apply``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.defaults import VERSION
from uqcli.reports.document import Document, Metrics, Table, count


class ApplySource(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: rows written, rows dropped, role to column name."""

    rows: int
    dropped: int
    columns: dict[str, str]


class ApplyParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The options that shape the output."""

    kind: str
    columns: list[str]
    on_invalid: str


def metrics_of(*, rows: int, selected: int, undecided: int) -> Metrics:
    """Counts of the output by their contract names."""
    return {
        "rows": rows,
        "selected": selected,
        "undecided": undecided,
        "selected_share": selected / rows if rows else None,
    }


@dataclass(frozen=True, kw_only=True)
class ApplyReport:
    """What was written."""

    source: ApplySource
    parameters: ApplyParameters
    selected: int
    undecided: int

    @property
    def metrics(self) -> Metrics:
        """Counts of the output."""
        return metrics_of(rows=self.source.rows, selected=self.selected, undecided=self.undecided)

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """One set of metrics."""
        return {"": self.metrics}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "command": "apply",
            "uqcli_version": VERSION,
            "source": msgspec.to_builtins(self.source),
            "parameters": msgspec.to_builtins(self.parameters),
            "metrics": dict(self.metrics),
        }

    def document(self) -> Document:
        """The readable form."""
        rows = self.source.rows
        percent = f"{100 * self.selected / rows:.2f} %" if rows else "-"
        counted = "positive" if self.parameters.kind == "boundary" else "counted"
        cells = (
            count(rows),
            count(self.selected),
            percent,
            count(self.source.dropped),
            count(self.undecided),
        )
        header = ("rows written", counted, "share", "dropped", "undecided")
        return Document(title="Applied", tables=[Table(title="", header=header, rows=[cells], left=0)])

"""The report of ``uqcli conformal``, and saved conformal sets in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.artifacts.models import ConformalArtifact
from uqcli.defaults import VERSION
from uqcli.document import Document, Metrics, Table, count, printable

_MOST_ROWS = 60


@dataclass(frozen=True, kw_only=True)
class ConformalReport:
    """Thresholds of conformal sets.

    Attributes
    ----------
    rows_of_class
        Calibration rows of each class, by weight.
    """

    artifact: ConformalArtifact
    rows_of_class: Sequence[int]
    notes: Sequence[str]

    @property
    def metrics(self) -> Metrics:
        """Counts of what the thresholds rest on."""
        return {
            "rows": sum(self.rows_of_class),
            "classes": len(self.artifact.classes),
            "always_in": sum(threshold >= 1 for threshold in self.artifact.thresholds),
        }

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """One set of metrics."""
        return {"": self.metrics}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        artifact = self.artifact
        return {
            "command": "conformal",
            "uqcli_version": VERSION,
            "source": msgspec.to_builtins(artifact.source),
            "parameters": msgspec.to_builtins(artifact.parameters),
            "metrics": dict(self.metrics),
            "classes": artifact.classes,
            "thresholds": artifact.thresholds,
            "weights": artifact.weights,
            "groups": msgspec.to_builtins(artifact.groups),
            "notes": list(self.notes),
        }

    def document(self) -> Document:
        """The readable form."""
        rows = count(self.artifact.source.rows)
        return Document(
            title=f"Conformal sets ({describe(self.artifact)}) from {rows} rows",
            tables=threshold_tables(self.artifact, self.rows_of_class),
            notes=[promise(self.artifact), *self.notes],
        )


def describe(artifact: ConformalArtifact) -> str:
    """Method, mode and alpha."""
    return f"{artifact.method}, {artifact.mode}, alpha {artifact.parameters.alpha}"


def promise(artifact: ConformalArtifact) -> str:
    """What the sets promise, in words."""
    percent = f"{100 * (1 - artifact.alpha):g} %"
    if artifact.groups is not None:
        return f"Sets hold the true class in at least {percent} of rows like these, in each group by itself."
    whom = {
        "marginal": f"in at least {percent} of rows like these, on average over all classes",
        "label-conditional": f"in at least {percent} of rows of each class"
        + (" (or as its own alpha says)" if artifact.parameters.alpha_by_class else ""),
        "label-shift": f"in at least {percent} of rows of the target, if the class weights are right",
    }[artifact.mode]
    return f"Sets hold the true class {whom}."


def threshold_tables(artifact: ConformalArtifact, rows_of_class: Sequence[int] | None = None) -> list[Table]:
    """Thresholds by class, and by group where there are any."""
    header = ["class", "threshold"]
    columns: list[Sequence[str]] = [
        [printable(name) for name in artifact.classes],
        [f"{threshold:.6f}" for threshold in artifact.thresholds],
    ]
    if artifact.weights is not None:
        header.append("weight")
        columns.append([f"{weight:.4f}" for weight in artifact.weights])
    if rows_of_class is not None:
        header.append("rows of it")
        columns.append([count(rows) for rows in rows_of_class])
    rows = [tuple(cells) for cells in zip(*columns, strict=True)][:_MOST_ROWS]
    tables = [Table(title="Thresholds", header=header, rows=rows)]
    if artifact.groups is not None:
        lines = zip(artifact.groups.names, artifact.groups.thresholds, strict=True)
        groups = [(printable(name), f"{line[0]:.6f}") for name, line in lines][:_MOST_ROWS]
        title = f"Thresholds by {artifact.groups.column}"
        tables.append(Table(title=title, header=("group", "threshold"), rows=groups))
    return tables


@dataclass(frozen=True, kw_only=True)
class ShowConformalReport:
    """Saved conformal sets."""

    artifact: ConformalArtifact

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """Counts of what they rest on."""
        source = self.artifact.source
        return {"": {"rows": source.rows, "dropped": source.dropped, "classes": len(self.artifact.classes)}}

    def payload(self) -> dict[str, Any]:
        """The artifact itself."""
        content: dict[str, Any] = msgspec.to_builtins(self.artifact)
        return content

    def document(self) -> Document:
        """The readable form."""
        source = self.artifact.source
        return Document(
            title=f"Conformal sets ({describe(self.artifact)})",
            tables=threshold_tables(self.artifact),
            notes=[
                promise(self.artifact),
                f"Made by uqcli {self.artifact.uqcli_version} from {count(source.rows)} rows, "
                f"{count(source.dropped)} dropped.",
            ],
        )

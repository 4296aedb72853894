"""Report of ``uqcli conformal``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.artifacts.conformal import ConformalArtifact
from uqcli.document import Document, Metrics, OneResult, count, head_of
from uqcli.reports.in_words import CONFORMAL, describe


@dataclass(frozen=True, kw_only=True)
class ConformalReport(OneResult):
    """Thresholds of prediction sets.

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
        """Counts of rows and classes, and of classes that are in every set."""
        return {
            "rows": sum(self.rows_of_class),
            "classes": len(self.artifact.classes),
            "always_in": sum(threshold >= 1 for threshold in self.artifact.thresholds),
        }

    def payload(self) -> dict[str, Any]:
        """Return the JSON form."""
        artifact = self.artifact
        return {
            **head_of("conformal", artifact.source, artifact.parameters),
            "metrics": dict(self.metrics),
            "classes": artifact.classes,
            "thresholds": artifact.thresholds,
            "weights": artifact.weights,
            "groups": msgspec.to_builtins(artifact.groups),
            "notes": list(self.notes),
        }

    def document(self) -> Document:
        """Return the readable form."""
        rows = count(self.artifact.source.rows)
        return Document(
            title=f"Prediction sets ({self.artifact.in_short()}) from {rows} rows",
            lead=[self.artifact.guarantee()],
            tables=self.artifact.tables(self.rows_of_class),
            cautions=self.notes,
            notes=[f"{describe(self.artifact.method, CONFORMAL)}."],
            next="evaluate {rule} TEST.csv",
        )

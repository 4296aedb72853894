"""The report of ``uqcli show``: a saved model in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.artifacts.models import BoundaryArtifact
from uqcli.reports.document import Document, Metrics, Table, count, share
from uqcli.reports.thresholds import threshold_table


@dataclass(frozen=True, kw_only=True)
class ShowReport:
    """A saved boundary."""

    artifact: BoundaryArtifact

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """What the artifact promises."""
        fit = self.artifact.fit
        return {"": {"precision": fit.precision, "recall": fit.recall, "selected": fit.selected}}

    def payload(self) -> dict[str, Any]:
        """The artifact itself."""
        content: dict[str, Any] = msgspec.to_builtins(self.artifact)
        return content

    def document(self) -> Document:
        """The readable form."""
        artifact, fit = self.artifact, self.artifact.fit
        columns = ", ".join(f"{role} '{name}'" for role, name in artifact.source.columns.items())
        title = (
            f"Boundary ({artifact.algorithm}) for {artifact.constraint.kind} >= {artifact.constraint.value}"
        )
        cells = (share(fit.recall), share(fit.precision), count(fit.selected), count(fit.true_positives))
        header = ("recall", "precision", "selected", "true positives")
        return Document(
            title=title,
            tables=[
                threshold_table(artifact.uncertainty_edges, artifact.thresholds),
                Table(title="On the rows it was found on", header=header, rows=[cells], left=0),
            ],
            notes=[
                f"Columns: {columns}.",
                f"Made by uqcli {artifact.uqcli_version} from {count(artifact.source.rows)} rows, "
                f"{count(artifact.source.positives)} positive, {count(artifact.source.dropped)} dropped.",
            ],
        )

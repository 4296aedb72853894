"""The report of ``uqcli show``: a saved model in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.artifacts.models import BoundaryArtifact
from uqcli.document import Document, Metrics, Table, count, share
from uqcli.methods.boundary.constraint import parse_constraint
from uqcli.reports.boundary.thresholds import recalibration_in_words, threshold_table


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
        promise = parse_constraint(artifact.constraint.kind, artifact.constraint.value).promise()
        title = f"Boundary ({artifact.algorithm}) for {promise}"
        cells = (share(fit.recall), share(fit.precision), count(fit.selected), count(fit.true_positives))
        header = ("recall", "precision", "selected", "true positives")
        return Document(
            title=title,
            tables=[
                threshold_table(artifact.uncertainty_edges, artifact.thresholds),
                Table(title="On the rows it was found on", header=header, rows=[cells], left=0),
            ],
            notes=[
                *self._scores(),
                f"Columns: {columns}.",
                f"Made by uqcli {artifact.uqcli_version} from {count(artifact.source.rows)} rows, "
                f"{count(artifact.source.positives)} positive, {count(artifact.source.dropped)} dropped.",
            ],
        )

    def _scores(self) -> list[str]:
        """What is done to scores before they are compared, and for which class mix."""
        said, by, target = [], self.artifact.recalibration, self.artifact.target
        if not isinstance(by, msgspec.UnsetType):
            said.append(recalibration_in_words(by.coefficient, by.low, by.high))
        if not isinstance(target, msgspec.UnsetType):
            negative, positive = target.weights
            said.append(
                f"For a target in which negatives are {negative:.4g} and positives {positive:.4g} times as "
                f"frequent; the precision there is {share(target.precision)}."
            )
        return said

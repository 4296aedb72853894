"""A saved calibrator in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.artifacts.models import CalibratorArtifact
from uqcli.document import Document, Metrics, Table, count


def map_tables(artifact: CalibratorArtifact) -> list[Table]:
    """What the map does, as tables."""
    return artifact.calibration.tables(artifact.undersampled)


@dataclass(frozen=True, kw_only=True)
class ShowCalibratorReport:
    """A saved calibrator."""

    artifact: CalibratorArtifact

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """Counts of the rows it was fitted on."""
        source = self.artifact.source
        return {"": {"rows": source.rows, "positives": source.positives, "dropped": source.dropped}}

    def payload(self) -> dict[str, Any]:
        """The artifact itself."""
        content: dict[str, Any] = msgspec.to_builtins(self.artifact)
        return content

    def document(self) -> Document:
        """The readable form."""
        artifact, source = self.artifact, self.artifact.source
        columns = ", ".join(f"{role} '{name}'" for role, name in source.columns.items())
        reads = "real scores such as logits" if artifact.logit else "probabilities"
        notes = [
            f"Reads {reads}; columns: {columns}.",
            f"Made by uqcli {artifact.uqcli_version} from {count(source.rows)} rows, "
            f"{count(source.positives)} positive, {count(source.dropped)} dropped.",
        ]
        if artifact.undersampled > 1:
            notes.insert(
                0, f"Odds are first divided by {artifact.undersampled:g}, for undersampled negatives."
            )
        if artifact.weights is not None:
            negative, positive = artifact.weights
            notes.append(
                f"Then corrected for a target in which negatives are {negative:.4g} and positives "
                f"{positive:.4g} times as frequent: the odds are multiplied by {positive / negative:.4g}."
            )
        return Document(title=f"Calibrator ({artifact.method})", tables=map_tables(artifact), notes=notes)

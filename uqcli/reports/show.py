"""The report of ``uqcli show``: a saved model in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from uqcli.artifacts.codec import content_of
from uqcli.artifacts.saved import Saved
from uqcli.choices import ArtifactKind
from uqcli.document import Document, Metrics, OneResult

_ORIGIN: Final = "Which files these were, the page of its making tells (SHA-256 of the inputs)."
_USE: Final = "uqcli apply puts it to use on new rows, uqcli evaluate holds it against labelled ones."
_NEXT: Final[Mapping[ArtifactKind, str]] = MappingProxyType(
    {
        ArtifactKind.BOUNDARY: _USE,
        ArtifactKind.CALIBRATOR: _USE,
        ArtifactKind.CONFORMAL: _USE,
        ArtifactKind.GRID: "uqcli boundary --grid finds boundaries on it, uqcli apply numbers bins of rows.",
        ArtifactKind.SHIFT: "boundary, calibrate, conformal and evaluate take it by --shift.",
    }
)
"""What to do with a model of each kind."""


@dataclass(frozen=True, kw_only=True)
class ShowReport(OneResult):
    """A saved model, of whatever kind."""

    model: Saved

    @property
    def metrics(self) -> Metrics:
        """Its numbers."""
        return self.model.facts()

    def payload(self) -> dict[str, Any]:
        """The JSON form: as it is saved, or what is wrong with it in the place of a digest."""
        content = content_of(self.model)
        if not self.model.unsealed:
            return content
        return {**content, "digest": None, "seal": str(self.model.seal)}

    def document(self) -> Document:
        """The readable form."""
        document = self.model.document()
        lead = [f"Careful: {self.model.unsealed}."] if self.model.unsealed else []
        return replace(document, lead=lead, notes=(*document.notes, _ORIGIN, _NEXT[self.model.kind]))

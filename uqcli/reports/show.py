"""The report of ``uqcli show``: a saved model in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from uqcli.artifacts.codec import content_of
from uqcli.artifacts.saved import Saved
from uqcli.document import Document, Metrics, OneResult


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
        return replace(document, cautions=[f"{self.model.unsealed}."] if self.model.unsealed else [])

"""The report of ``uqcli show``: a saved model in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from uqcli.artifacts.saved import Saved
from uqcli.document import Document, Metrics


@dataclass(frozen=True, kw_only=True)
class ShowReport:
    """A saved model, of whatever kind."""

    model: Saved

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """Its numbers."""
        return {"": self.model.facts()}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        return self.model.payload()

    def document(self) -> Document:
        """The readable form."""
        return self.model.document()

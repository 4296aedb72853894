"""The report of ``uqcli simulate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from uqcli.defaults import VERSION
from uqcli.document import Document, Metrics, Table, count, share


class PosteriorParameters(msgspec.Struct, frozen=True, kw_only=True):
    """How the data came about."""

    kind: str
    rows: int
    seed: int
    tau: float
    omega: float
    xi: float
    prior: float
    nu: float
    gamma: list[float]


class GaussianParameters(msgspec.Struct, frozen=True, kw_only=True):
    """How the data came about, with the model that was learned."""

    kind: str
    rows: int
    seed: int
    prevalence: float
    train_prevalence: float
    train_rows: int
    intercept: float
    slope: float


def metrics_of(*, rows: int, positives: int) -> Metrics:
    """Counts of the output by their contract names."""
    return {"rows": rows, "positives": positives, "positivity": positives / rows if rows else None}


@dataclass(frozen=True, kw_only=True)
class SimulateReport:
    """What was written."""

    parameters: PosteriorParameters | GaussianParameters
    positives: int

    @property
    def metrics(self) -> Metrics:
        """Counts of the output."""
        return metrics_of(rows=self.parameters.rows, positives=self.positives)

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """One set of metrics."""
        return {"": self.metrics}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "command": "simulate",
            "uqcli_version": VERSION,
            "source": {},
            "parameters": msgspec.to_builtins(self.parameters),
            "metrics": dict(self.metrics),
        }

    def document(self) -> Document:
        """The readable form."""
        rows = self.parameters.rows
        cells = (count(rows), count(self.positives), share(self.positives / rows if rows else None))
        table = Table(title="", header=("rows", "positive", "positivity"), rows=[cells], left=0)
        return Document(title=f"Simulated ({self.parameters.kind})", tables=[table])

"""The report of ``uqcli bin``: positivity by score and uncertainty, and how well isotonic fits do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from uqcli.artifacts.models import GridArtifact
from uqcli.counts import Cells, Floats
from uqcli.defaults import VERSION
from uqcli.document import Document, Metrics, Table, count, number
from uqcli.methods.bin.isotonic_error import BinError

_SHOWN_BINS = 20


@dataclass(frozen=True, kw_only=True)
class BinReport:
    """A grid of counts.

    Attributes
    ----------
    errors
        Calibration error by score bin of IST and MIST; None where the rows were not at hand.
    warnings
        What to know about the sizes of bins.
    """

    artifact: GridArtifact
    cells: Cells
    errors: tuple[BinError, BinError] | None
    warnings: tuple[str, ...]

    @property
    def metrics(self) -> Metrics:
        """Totals, and the mean errors over all score bins."""
        filled = sum(int(np.count_nonzero(row.count)) for row in self.cells.rows)
        metrics: dict[str, Any] = {
            "rows": self.cells.total,
            "positives": self.cells.positives,
            "cells": sum(len(row.count) for row in self.cells.rows),
            "filled_cells": filled,
        }
        if self.errors:
            ist, mist = self.errors
            metrics["ist_ece"], metrics["mist_ece"] = float(ist.cumulative[0]), float(mist.cumulative[0])
        return metrics

    @property
    def gated(self) -> Mapping[str, Metrics]:
        """One set of metrics."""
        return {"": self.metrics}

    def payload(self) -> dict[str, Any]:
        """The JSON form."""
        content = {
            "command": "bin",
            "uqcli_version": VERSION,
            "source": msgspec.to_builtins(self.artifact.source),
            "parameters": msgspec.to_builtins(self.artifact.parameters),
            "metrics": dict(self.metrics),
            "uncertainty_edges": self.artifact.uncertainty_edges,
            "score_edges": self.artifact.score_edges,
            "count": self.artifact.count,
            "positives": self.artifact.positives,
            "notes": list(self.warnings),
        }
        if self.errors:
            ist, mist = self.errors
            content["ece_at"] = {"ist": _numbers(ist.ece), "mist": _numbers(mist.ece)}
            content["cumulative_ece_at"] = {
                "ist": _numbers(ist.cumulative),
                "mist": _numbers(mist.cumulative),
            }
        return content

    def document(self) -> Document:
        """The readable form; many score bins are shown together, in groups."""
        width = len(self.cells.rows[0].count)
        groups = np.array_split(np.arange(width), min(width, _SHOWN_BINS))
        title = f"Grid ({self.artifact.binning}): {len(self.cells.rows)} x {width} cells, "
        rows = [self._row(group) for group in groups]
        names = [f"uncertainty bin {i + 1}" for i in range(len(self.cells.rows))]
        columns = (
            "score bins",
            *(("score from",) if self._shares_edges() else ()),
            *(names if len(names) > 1 else ["positivity"]),
            *self._error_names(),
        )
        table = Table(title="Positivity by score bin", header=columns, rows=rows, left=1)
        return Document(
            title=title + f"{count(self.cells.total)} rows, {count(self.cells.positives)} positive",
            tables=[table],
            notes=[*self._edge_notes(), *self.warnings, *self._error_notes()],
        )

    def _row(self, group: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[str, ...]:
        first, last = int(group[0]), int(group[-1])
        label = str(first + 1) if first == last else f"{first + 1}-{last + 1}"
        lower = "" if first == 0 else number(float(self.cells.rows[0].lower[first]))
        shared = (lower,) if self._shares_edges() else ()
        cells = []
        for row in self.cells.rows:
            rows, positives = int(row.count[group].sum()), int(row.positives[group].sum())
            cells.append(f"{positives / rows:.4f} ({count(rows)})" if rows else "-")
        return (label, *shared, *cells, *self._errors(first))

    def _shares_edges(self) -> bool:
        first = self.cells.rows[0].lower
        return all(np.array_equal(first, row.lower) for row in self.cells.rows)

    def _errors(self, first: int) -> tuple[str, ...]:
        if self.errors is None:
            return ()
        return tuple(
            "-" if math.isnan(each.cumulative[first]) else f"{each.cumulative[first]:.4f}"
            for each in self.errors
        )

    def _error_names(self) -> tuple[str, ...]:
        return ("IST error from here", "MIST error from here") if self.errors else ()

    def _edge_notes(self) -> list[str]:
        edges = self.artifact.uncertainty_edges
        return [f"Uncertainty edges: {', '.join(map(number, edges))}."] if edges else []

    def _error_notes(self) -> list[str]:
        if self.errors is None or len(self.cells.rows) == 1:
            return []
        return [
            "Error: mean calibration error of the score bins from this one up, of one isotonic fit on the "
            "score (IST) and of one in each uncertainty bin (MIST), on the rows they were fitted on."
        ]


def _numbers(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]

"""Write the trade-off curve of a boundary as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from uqcli.choices import Algorithm
from uqcli.engines.open import write_frames
from uqcli.engines.protocol import Destination
from uqcli.errors import UsageError
from uqcli.jobs.boundary.calibration_set import CalibrationSet
from uqcli.methods.boundary.registry import WorksOn, entry_of
from uqcli.methods.boundary.result import FittedBoundary
from uqcli.methods.boundary.trade_off import trade_off


def write_frontier(calibration_set: CalibrationSet, algorithm: Algorithm, output: Destination) -> None:
    """Compute the trade-off curve and write it.

    Raises
    ------
    UsageError
        The boundary's algorithm uses no grid.
    DataError
        The output cannot be written.
    """
    if entry_of(algorithm).works_on is not WorksOn.GRID:
        raise UsageError(
            "--frontier without a grid", expected="--algorithm vw-dpmt, smooth or another that works on one"
        )
    cells = calibration_set.cells(algorithm)
    frontier = trade_off(cells, calibration_set.every_score)
    bins = len(cells.rows)
    kinds = {"algorithm": pl.String, "selected": pl.Int64, "true_positives": pl.Int64}
    table = _columns(frontier, bins)
    frame = pl.DataFrame(table, schema={name: kinds.get(name, pl.Float64) for name in table})
    write_frames([frame], frame.clear(), output)


def _columns(frontier: Mapping[Algorithm, Sequence[FittedBoundary]], bins: int) -> dict[str, list[Any]]:
    """Build the columns of a table of boundaries; a single threshold is repeated for each uncertainty bin."""
    points = [(algorithm, boundary) for algorithm, boundaries in frontier.items() for boundary in boundaries]
    table: dict[str, list[Any]] = {
        "algorithm": [str(algorithm) for algorithm, _ in points],
        "selected": [boundary.fit.selected for _, boundary in points],
        "true_positives": [boundary.fit.true_positives for _, boundary in points],
        "recall": [boundary.fit.recall for _, boundary in points],
        "precision": [boundary.fit.precision for _, boundary in points],
    }
    for bin_index in range(bins):
        table[f"threshold_{bin_index + 1}"] = [
            boundary.thresholds[bin_index if len(boundary.thresholds) > 1 else 0] for _, boundary in points
        ]
    return table

"""Grid artifacts as cells, and cells as grid artifacts."""

from __future__ import annotations

import numpy as np

from uqcli.artifacts.models import GridArtifact, GridParameters, Source
from uqcli.choices import ArtifactKind
from uqcli.counts import LOWEST_EDGE, CellRow, Cells


def cells_of(grid: GridArtifact) -> Cells:
    """The counts of a saved grid."""
    rows = (
        CellRow(
            lower=np.concatenate([LOWEST_EDGE, np.array(edges, dtype=np.float64)]),
            count=np.array(count, dtype=np.int64),
            positives=np.array(positives, dtype=np.int64),
        )
        for edges, count, positives in zip(grid.score_edges, grid.count, grid.positives, strict=True)
    )
    return Cells(uncertainty_edges=np.array(grid.uncertainty_edges, dtype=np.float64), rows=tuple(rows))


def grid_artifact(cells: Cells, source: Source, parameters: GridParameters) -> GridArtifact:
    """Counts as a saved grid."""
    return GridArtifact(
        kind=ArtifactKind.GRID,
        source=source,
        parameters=parameters,
        binning=parameters.binning,
        uncertainty_edges=cells.uncertainty_edges.tolist(),
        score_edges=[row.lower[1:].tolist() for row in cells.rows],
        count=[row.count.tolist() for row in cells.rows],
        positives=[row.positives.tolist() for row in cells.rows],
    )

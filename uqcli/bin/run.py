"""``uqcli bin``: count rows in a new grid or in the cells of a saved one, or merge grids."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from uqcli.base import defaults
from uqcli.base.choices import Binning
from uqcli.base.counts import Bools, Cells, Floats, RangeCounts
from uqcli.base.defaults import MAX_ROWS
from uqcli.base.errors import DataError, UsageError, words
from uqcli.base.notices import Notice
from uqcli.base.running.messages import caution
from uqcli.bin.grid import (
    GridSpec,
    cells_from,
    cells_under,
    grid_parts,
    ranges_for_edges,
    uncertainty_axis,
    usual_uncertainty_bins,
)
from uqcli.bin.isotonic_error import isotonic_errors, ranges_for_blocks
from uqcli.bin.options import BinRequest
from uqcli.bin.report import BinReport
from uqcli.bin.rule import GridArtifact, GridParameters, grid_artifact
from uqcli.engines.protocol import CountTable, Partition
from uqcli.engines.request import DataRequest
from uqcli.estimates.binning import size_notes
from uqcli.rules.codec import load_kind
from uqcli.rules.labelled import open_table, source_of
from uqcli.rules.result import Result, keeps_doubts
from uqcli.rules.saved import Source

BinResult = Result[BinReport, GridArtifact]


@keeps_doubts
def run(request: BinRequest) -> BinResult:
    """Count rows in a grid of score x uncertainty cells."""
    if request.merge:
        return merge_grids(request.data.inputs)
    if request.edges is not None:
        return count_under(request.edges, request.data)
    return bin_rows(request.data, _spec(request))


def _spec(request: BinRequest) -> GridSpec:
    """Return the grid, with the default numbers of bins."""
    binning = request.binning or defaults.GRID_BINNING
    usual = defaults.SCORE_BINS if binning.cuts_uncertainty else defaults.SINGLE_SCORE_BINS
    return GridSpec(
        binning=binning,
        uncertainty_bins=request.uncertainty_bins or usual_uncertainty_bins(binning),
        score_bins=request.score_bins or usual,
        n_min=request.n_min,
        n_max=request.n_max,
    )


def bin_rows(data: DataRequest, spec: GridSpec) -> BinResult:
    """Bin rows into a new grid."""
    spec.check()
    if not spec.binning.cuts_uncertainty and spec.uncertainty_bins > 1:
        raise UsageError(f"{spec.uncertainty_bins} uncertainty bins with {spec.binning}", expected="1")
    table = open_table(data, uses_uncertainty=spec.uncertainty_bins > 1)
    edges = uncertainty_axis(table, spec).edges
    blocks = table.isotonic(Partition(edges=edges))
    parts = grid_parts(table, edges, spec, lambda counts: ranges_for_blocks(counts, blocks))
    scores = [part.counts for part in parts[:-1]]
    cells = cells_from(edges, scores, spec)
    parameters = _parameters(data, spec, cells)
    artifact = grid_artifact(cells, source_of(table.summary), parameters)
    by_size = spec.binning is Binning.PAVA_BC
    notes = size_notes(cells.rows[0].count, spec.sizes, *_bounds(spec, cells)) if by_size else []
    return _result(artifact, notes, isotonic_errors(scores, blocks, cells))


@keeps_doubts
def count_under(edges: str, data: DataRequest) -> BinResult:
    """Count rows in the cells of a saved grid."""
    old = load_kind(edges, GridArtifact)
    old_cells = old.cells()
    table = open_table(data, uses_uncertainty=len(old_cells.rows) > 1)
    cells = _counted_under(table, old_cells)
    parameters = msgspec.structs.replace(
        old.parameters, on_invalid=data.on_invalid, positive=data.positive_value
    )
    return _result(grid_artifact(cells, source_of(table.summary), parameters), [], ())


def _counted_under(table: CountTable, old: Cells) -> Cells:
    edges = [row.lower[1:] for row in old.rows]

    def query(counts: Sequence[RangeCounts]) -> list[Bools]:
        masks = [
            ranges_for_edges(part, score_edges) for part, score_edges in zip(counts[:-1], edges, strict=True)
        ]
        return [*masks, np.zeros(len(counts[-1].value), dtype=np.bool_)]

    parts = table.range_counts(Partition(edges=old.uncertainty_edges), query)[:-1]
    return cells_under([part.counts for part in parts], old)


def merge_grids(names: Sequence[str]) -> BinResult:
    """Add the counts of at least two grids with equal edges and columns."""
    if not names:
        raise UsageError("no grid to merge", expected="rule files of kind grid")
    grids = [load_kind(name, GridArtifact) for name in names]
    first = grids[0]
    for name, grid in zip(names[1:], grids[1:], strict=True):
        if (grid.uncertainty_edges, grid.score_edges) != (first.uncertainty_edges, first.score_edges):
            raise UsageError(
                f"the edges of '{name}' differ from '{names[0]}'",
                expected="equal edges",
                remedy=words("count the rows again with uqcli bin --edges"),
            )
        if _meaning(grid) != _meaning(first):
            raise UsageError(
                f"'{name}' and '{names[0]}' count different things",
                expected="the same columns and the same positive label",
            )
    _caution_copies(names, grids)
    merged = msgspec.structs.replace(
        first,
        source=Source(
            rows=sum(grid.source.rows for grid in grids),
            positives=sum(grid.source.positives or 0 for grid in grids),
            dropped=sum(grid.source.dropped for grid in grids),
            columns=first.source.columns,
        ),
        count=_added([grid.count for grid in grids]),
        positives=_added([grid.positives for grid in grids]),
    )
    if sum(map(sum, merged.count)) > MAX_ROWS:
        raise DataError(f"the grids add up to more than {MAX_ROWS} rows", expected="fewer rows by weight")
    return _result(merged, [], ())


def _caution_copies(names: Sequence[str], grids: Sequence[GridArtifact]) -> None:
    """Caution that rows count twice if a grid is named twice, or two grids have the same counts."""
    by_name = dict(zip(names, grids, strict=True))
    names_by_counts: dict[str, list[str]] = {}
    for name, grid in by_name.items():
        if grid.source.rows:
            names_by_counts.setdefault(repr((grid.count, grid.positives)), []).append(f"'{name}'")
    copies = [" and ".join(alike) for alike in names_by_counts.values() if len(alike) > 1]
    if copies or len(by_name) < len(names):
        problem = f"{copies[0]} have the same counts" if copies else "a grid is named twice"
        caution("grids-twice", f"{problem}: rows that are in both count twice.")


def _meaning(grid: GridArtifact) -> tuple[dict[str, str], str | None]:
    return grid.source.columns, grid.parameters.positive


def _added(matrices: list[list[list[int]]]) -> list[list[int]]:
    return [[sum(cell) for cell in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def _parameters(data: DataRequest, spec: GridSpec, cells: Cells) -> GridParameters:
    by_size = spec.binning is Binning.PAVA_BC
    n_min, n_max = _bounds(spec, cells)
    has_bin_count = spec.binning not in (Binning.PAVA, Binning.PAVA_BC)
    return GridParameters(
        binning=spec.binning,
        uncertainty_bins=spec.uncertainty_bins,
        score_bins=spec.score_bins if has_bin_count else None,
        n_min=n_min if by_size else None,
        n_max=n_max if by_size else None,
        on_invalid=data.on_invalid,
        positive=data.positive_value,
    )


def _bounds(spec: GridSpec, cells: Cells) -> tuple[int, int]:
    return spec.sizes.bounds_for(cells.total, cells.positives)


def _result(artifact: GridArtifact, notes: list[Notice], errors: tuple[Floats, ...]) -> BinResult:
    report = BinReport(artifact=artifact, errors=errors, warnings=tuple(notes))
    return Result(report=report, artifact=artifact)

"""``uqcli bin``: rows as a grid of counts, counted under old edges, or grids added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from uqcli.artifacts.codec import load_kind
from uqcli.artifacts.models import GridArtifact, GridParameters, Source
from uqcli.choices import Binning, EngineName, OnInvalid
from uqcli.counts import Cells
from uqcli.defaults import MOST_ROWS
from uqcli.engines.open import open_engine
from uqcli.engines.protocol import DataRequest, LabelledRows
from uqcli.errors import DataError, UsageError
from uqcli.jobs.grids import cells_of, grid_artifact
from uqcli.jobs.search import refuse_weightless
from uqcli.methods.binning.calibration_error import BinError, isotonic_errors
from uqcli.methods.binning.grid import GridSpec, HoldOut, cells_from, recount, split_by_uncertainty
from uqcli.methods.binning.registry import BINNINGS, BinSizes
from uqcli.reports.bin import BinReport


@dataclass(frozen=True, kw_only=True)
class BinOutcome:
    """The report and the grid."""

    report: BinReport
    artifact: GridArtifact


def bin_rows(data: DataRequest, spec: GridSpec, engine: EngineName) -> BinOutcome:
    """Cut rows into a new grid.

    Raises
    ------
    UsageError, DataError
        See the parts.
    """
    rule = BINNINGS[spec.binning]
    if not rule.two_dimensional and spec.uncertainty_bins > 1:
        raise UsageError(f"{spec.uncertainty_bins} uncertainty bins with {spec.binning}", expected="1")
    rows, hold_out = _read(data, engine, looks_at_uncertainty=spec.uncertainty_bins > 1)
    edges, parts = split_by_uncertainty(hold_out, spec)
    cells = cells_from(edges, parts, spec)
    parameters = _parameters(data, spec, cells)
    artifact = grid_artifact(cells, _source(rows), parameters)
    notes = _size_notes(cells, spec) if spec.binning is Binning.PAVA_BC else []
    return _outcome(artifact, cells, notes, isotonic_errors(parts, cells))


def count_under(edges: str, data: DataRequest, engine: EngineName) -> BinOutcome:
    """Count rows under the edges of a saved grid.

    Raises
    ------
    DataError, ArtifactError
        See the parts.
    """
    old = load_kind(edges, GridArtifact)
    under = cells_of(old)
    rows, hold_out = _read(data, engine, looks_at_uncertainty=len(under.rows) > 1)
    cells = recount(hold_out, under)
    parameters = msgspec.structs.replace(
        old.parameters, on_invalid=data.on_invalid, positive=data.positive_value
    )
    return _outcome(grid_artifact(cells, _source(rows), parameters), cells, [], None)


def merge_grids(names: Sequence[str]) -> BinOutcome:
    """Add the counts of grids with equal edges.

    Raises
    ------
    UsageError
        Fewer than two grids, or different edges or columns.
    DataError, ArtifactError
        A grid cannot be read.
    """
    if not names:
        raise UsageError("no grid to merge", expected="grid artifacts")
    first, *others = [load_kind(name, GridArtifact) for name in names]
    for name, other in zip(names[1:], others, strict=True):
        if (other.uncertainty_edges, other.score_edges) != (first.uncertainty_edges, first.score_edges):
            raise UsageError(
                f"the edges of '{name}' differ from '{names[0]}'",
                expected="equal edges",
                remedy="count the rows again with uqcli bin --edges",
            )
        if _meaning(other) != _meaning(first):
            raise UsageError(
                f"'{name}' and '{names[0]}' count different things",
                expected="the same columns and the same positive label",
            )
    merged = msgspec.structs.replace(
        first,
        source=Source(
            rows=sum(grid.source.rows for grid in (first, *others)),
            positives=sum(grid.source.positives for grid in (first, *others)),
            dropped=sum(grid.source.dropped for grid in (first, *others)),
            columns=first.source.columns,
        ),
        count=_added([grid.count for grid in (first, *others)]),
        positives=_added([grid.positives for grid in (first, *others)]),
    )
    if sum(map(sum, merged.count)) > MOST_ROWS:
        raise DataError(f"the grids add up to more than {MOST_ROWS} rows", expected="fewer rows by weight")
    return _outcome(merged, cells_of(merged), [], None)


def _meaning(grid: GridArtifact) -> tuple[dict[str, str], str | None]:
    return grid.source.columns, grid.parameters.positive


def saved_report(grid: GridArtifact) -> BinReport:
    """The report of a saved grid."""
    return _outcome(grid, cells_of(grid), [], None).report


def _added(matrices: list[list[list[int]]]) -> list[list[int]]:
    return [[sum(cell) for cell in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def _read(
    data: DataRequest, engine: EngineName, *, looks_at_uncertainty: bool
) -> tuple[LabelledRows, HoldOut]:
    if data.on_invalid is OnInvalid.KEEP:
        raise UsageError("--on-invalid keep is for apply", expected="error or drop")
    needed = data if looks_at_uncertainty else replace(data, roles=data.roles.without("uncertainty"))
    rows = open_engine(engine).labelled_rows(needed)
    hold_out = HoldOut(
        score=rows.score, uncertainty=rows.uncertainty, positive=rows.positive, weight=rows.weight
    )
    refuse_weightless(hold_out)
    return rows, hold_out


def _source(rows: LabelledRows) -> Source:
    facts = rows.facts
    return Source(rows=facts.rows, positives=facts.positives, dropped=facts.dropped, columns=facts.columns)


def _parameters(data: DataRequest, spec: GridSpec, cells: Cells) -> GridParameters:
    by_size = spec.binning is Binning.PAVA_BC
    n_min, n_max = _bounds(spec, cells)
    counted = spec.binning not in (Binning.PAVA, Binning.PAVA_BC)
    return GridParameters(
        binning=spec.binning,
        uncertainty_bins=spec.uncertainty_bins,
        score_bins=spec.score_bins if counted else None,
        n_min=n_min if by_size else None,
        n_max=n_max if by_size else None,
        on_invalid=data.on_invalid,
        positive=data.positive_value,
    )


def _bounds(spec: GridSpec, cells: Cells) -> tuple[int, int]:
    return BinSizes(bins=1, n_min=spec.n_min, n_max=spec.n_max).bounds(cells.total)


def _size_notes(cells: Cells, spec: GridSpec) -> list[str]:
    n_min, n_max = _bounds(spec, cells)
    notes = []
    if n_max < 2 * n_min:
        notes.append(f"n_max {n_max} is below twice n_min {n_min}: blocks cannot always be split.")
    large = [number + 1 for number, size in enumerate(cells.rows[0].count.tolist()) if size > n_max]
    if large:
        listed = ", ".join(map(str, large))
        notes.append(f"Bins with more than {n_max} rows, by ties or forced merges: {listed}.")
    return notes


def _outcome(
    artifact: GridArtifact, cells: Cells, notes: list[str], errors: tuple[BinError, BinError] | None
) -> BinOutcome:
    report = BinReport(artifact=artifact, cells=cells, errors=errors, warnings=tuple(notes))
    return BinOutcome(report=report, artifact=artifact)

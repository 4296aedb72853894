"""Kind ``grid``: counts of rows in score x uncertainty cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.choices import ArtifactKind, Binning, OnInvalid
from uqcli.base.counts import LOWEST_EDGE, CellRow, Cells, Ints
from uqcli.base.defaults import MAX_ROWS
from uqcli.base.rows import Rows
from uqcli.base.wording import count, number, percent, rows_of
from uqcli.bin.grid import bins_of
from uqcli.engines.protocol import AddedColumns
from uqcli.engines.request import Roles
from uqcli.reports.document import Document, Metrics, Table, head_of
from uqcli.rules.columns import NewColumns
from uqcli.rules.expressions import Column, Constant, Expression, Formula, Output, Steps
from uqcli.rules.saved import Bins, Count, Saved, Source

_SHOWN_BINS = 20


class GridParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a grid."""

    binning: Binning
    uncertainty_bins: Bins
    score_bins: Bins | None
    n_min: Bins | None
    n_max: Bins | None
    on_invalid: OnInvalid
    positive: str | None


class GridArtifact(Saved, frozen=True, kw_only=True):
    """Counts of rows in score x uncertainty cells; a value v is in bin #{edges <= v}."""

    parameters: GridParameters
    binning: Binning
    uncertainty_edges: list[float]
    score_edges: Annotated[list[list[float]], Meta(min_length=1)]
    count: Annotated[list[list[Count]], Meta(min_length=1)]
    positives: Annotated[list[list[Count]], Meta(min_length=1)]

    @property
    def needs_uncertainty(self) -> bool:
        """Whether there is more than one uncertainty bin."""
        return bool(self.uncertainty_edges)

    def contradiction(self) -> str:
        """See Saved."""
        rows = len(self.uncertainty_edges) + 1
        if not rows == len(self.score_edges) == len(self.count) == len(self.positives):
            return "its matrices do not have a row for each uncertainty bin"
        widths = {len(row) for row in (*self.count, *self.positives)}
        if widths | {len(row) + 1 for row in self.score_edges} != widths or len(widths) != 1:
            return "its rows differ in length"
        for edges in (self.uncertainty_edges, *self.score_edges):
            if not all(map(math.isfinite, edges)) or edges != sorted(edges):
                return "its edges are not finite and ascending"
        return self._in_counts() or self.missing_columns()

    def _in_counts(self) -> str:
        counts_by_row = zip(self.count, self.positives, strict=True)
        if any(p > n for counts, positives in counts_by_row for n, p in zip(counts, positives, strict=True)):
            return "a cell has more positives than rows"
        if not 0 < sum(map(sum, self.count)) <= MAX_ROWS:
            return f"it does not count between 1 and {MAX_ROWS} rows"
        shape = self.binning, len(self.count)
        if shape != (self.parameters.binning, self.parameters.uncertainty_bins):
            return "its bins are not those of its parameters"
        return ""

    def cells(self) -> Cells:
        """Convert the counts to ``Cells``."""
        rows = (
            CellRow(
                lower=np.concatenate([LOWEST_EDGE, np.array(edges, dtype=np.float64)]),
                count=np.array(counts, dtype=np.int64),
                positives=np.array(positives, dtype=np.int64),
            )
            for edges, counts, positives in zip(self.score_edges, self.count, self.positives, strict=True)
        )
        return Cells(uncertainty_edges=np.array(self.uncertainty_edges, dtype=np.float64), rows=tuple(rows))

    def adds(self, roles: Roles, new_columns: NewColumns) -> AddedColumns:
        """See Saved: the bin numbers."""
        del roles
        uncertainty_bin, score_bin = f"{new_columns.prefix}uncertainty_bin", f"{new_columns.prefix}score_bin"
        cells = self.cells()

        def binned(rows: Rows) -> dict[str, Ints]:
            return dict(zip((uncertainty_bin, score_bin), bins_of(rows, cells), strict=True))

        return AddedColumns(types={uncertainty_bin: "int64", score_bin: "int64"}, compute=binned)

    def formula(self) -> Formula:
        """See Saved."""
        score = Column(name=self.columns["score"])
        score_bins: list[Expression] = [
            Steps(score, tuple(edges), tuple(Constant(bin_index) for bin_index in range(len(edges) + 1)))
            for edges in self.score_edges
        ]
        inputs: tuple[Column, ...] = (score,)
        edges = tuple(self.uncertainty_edges)
        uncertainty_bin: Expression = Constant(0)
        score_bin = score_bins[0]
        uncertainty = self.exported_uncertainty()
        if uncertainty is not None:
            inputs = (score, Column(name=self.source.uncertainty or ""))
            uncertainty_bin = Steps(uncertainty, edges, tuple(map(Constant, range(len(edges) + 1))))
            score_bin = Steps(uncertainty, edges, tuple(score_bins))
        return Formula(
            inputs=inputs,
            required=tuple(column.name for column in inputs),
            roles=self.arguments(),
            outputs=(
                Output(name="uncertainty_bin", kind="integer", value=uncertainty_bin),
                Output(name="score_bin", kind="integer", value=score_bin),
            ),
        )

    def metrics(self) -> Metrics:
        """See Saved: totals."""
        return {
            "rows": sum(map(sum, self.count)),
            "positives": sum(map(sum, self.positives)),
            "cells": sum(map(len, self.count)),
            "filled_cells": sum(cell > 0 for row in self.count for cell in row),
        }

    def payload(self) -> dict[str, Any]:
        """See Saved: as printed by ``uqcli bin``, without what only the rows give."""
        return {
            **head_of("bin", self.source, self.parameters),
            "metrics": dict(self.metrics()),
            "uncertainty_edges": self.uncertainty_edges,
            "score_edges": self.score_edges,
            "count": self.count,
            "positives": self.positives,
            "notes": [],
        }

    def document(self) -> Document:
        """See Saved: many score bins are shown in groups."""
        groups = self.table_groups()
        names = _in_short(self.uncertainty_edges)
        alike = self._shares_edges()
        columns = (
            "score bins",
            *(("score from",) if alike else ()),
            *(names if len(names) > 1 else ["positive rate"]),
        )
        rows = [self._line(group, alike=alike) for group in groups]
        totals, edges = self.metrics(), self.uncertainty_edges
        counted, size = rows_of(sum(map(sum, self.count))), f"{len(self.count[0])} score bins"
        if len(self.count) > 1:
            size = f"{len(self.count)} uncertainty bins with {size} each"
        return Document(
            title=f"Counted {counted} ({totals['positives']:,} positive) in {size}.",
            tables=[
                self._by_uncertainty(names),
                Table(
                    title=f"Positive rates by score bin and uncertainty{self._grouping(groups)}",
                    header=columns,
                    rows=rows,
                    left=1,
                    detail=True,
                ),
            ],
            notes=[f"Uncertainty edges: {', '.join(map(number, edges))}."] if edges else [],
        )

    def _by_uncertainty(self, names: Sequence[str]) -> Table:
        """Return the rows and positive rate of each uncertainty bin."""
        sums = [(sum(rows), sum(hits)) for rows, hits in zip(self.count, self.positives, strict=True)]
        rows_of_table = [
            (name, count(rows), percent(hits / rows if rows else None))
            for name, (rows, hits) in zip(names, sums, strict=True)
        ]
        return Table(title="", header=("uncertainty", "rows", "positive rate"), rows=rows_of_table)

    def in_a_sentence(self) -> str:
        """See Saved: its title names its rows."""
        return self.document().title

    def _grouping(self, groups: Sequence[range]) -> str:
        """Describe the lines and cells of the table."""
        together = " (several score bins in a line)" if len(groups) < len(self.count[0]) else ""
        scores = "" if self._shares_edges() else "scores, "
        return f"{together}: {scores}positive rate (number of rows)"

    def table_groups(self) -> Sequence[range]:
        """Return the score bins that share a line, for each line."""
        width = len(self.count[0])
        n_lines = min(width, _SHOWN_BINS)
        min_size, n_longer = divmod(width, n_lines)
        starts = [line_index * min_size + min(line_index, n_longer) for line_index in range(n_lines + 1)]
        return [range(*bounds) for bounds in pairwise(starts)]

    def _line(self, group: range, *, alike: bool) -> tuple[str, ...]:
        first, last = group[0], group[-1]
        label = str(first + 1) if first == last else f"{first + 1}-{last + 1}"
        lower = ("" if first == 0 else number(self.score_edges[0][first - 1]),) if alike else ()
        cells = []
        for counts, positives, edges in zip(self.count, self.positives, self.score_edges, strict=True):
            rows, hits = (sum(row[first : last + 1]) for row in (counts, positives))
            scores = "" if alike else f"{_between(edges, first, last)}: "
            cells.append(f"{scores}{hits / rows:.4f} ({count(rows)})" if rows else "-")
        return (label, *lower, *cells)

    def _shares_edges(self) -> bool:
        return all(edges == self.score_edges[0] for edges in self.score_edges)


def _between(edges: Sequence[float], first: int, last: int) -> str:
    """Format the scores of adjacent bins, given the edges between bins."""
    low = "" if first == 0 else f"{edges[first - 1]:.3g} "
    if last == len(edges):
        return f"from {low}".rstrip() if low else "all"
    return f"{low}to {edges[last]:.3g}"


def _in_short(edges: Sequence[float]) -> list[str]:
    """Format uncertainty ranges for column headers; the exact edges are printed elsewhere."""
    if not edges:
        return ["all"]
    texts = [f"{edge:.3g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *between, f"from {texts[-1]}"]


def grid_artifact(cells: Cells, source: Source, parameters: GridParameters) -> GridArtifact:
    """Build the rule file of a grid."""
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

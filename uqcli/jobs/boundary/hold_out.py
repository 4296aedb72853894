"""What boundaries are found on, rows or a saved grid: which algorithm applies, on which cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from uqcli.artifacts.boundary import BoundaryParameters
from uqcli.artifacts.grid import GridArtifact
from uqcli.artifacts.saved import Source
from uqcli.choices import Algorithm, AlgorithmChoice
from uqcli.counts import Bools, Cells, Floats, RangeCounts, ValueCounts, distinct_cells
from uqcli.engines.protocol import WHOLE, Table
from uqcli.jobs.boundary.auto_bins import fewest_of, tried_bins
from uqcli.jobs.boundary.request import BoundaryRequest
from uqcli.jobs.grids import grid_parts, uncertainty_edges
from uqcli.jobs.labelled import open_table, source_of
from uqcli.methods.bin.grid import GridSpec, cells_from
from uqcli.methods.boundary.algorithms.st import unsettled_by_threshold
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.optimum import Optimum, optimise, optimise_recalibrated
from uqcli.methods.boundary.registry import WorksOn, entry_of
from uqcli.reports.boundary.bins_tried import BinsTried


@dataclass(frozen=True, kw_only=True)
class HoldOutRows:
    """Labelled rows to be counted, and the grid to cut them into.

    Attributes
    ----------
    constraint
        What boundaries have to keep on these rows.
    parameters
        Options that are saved with the result.
    uncertain
        Whether there is an uncertainty.
    gridded
        Whether the grid is looked at, too: the scores are then counted with it.
    """

    constraint: Constraint
    source: Source
    parameters: BoundaryParameters
    table: Table
    uncertain: bool
    gridded: bool
    spec: GridSpec
    tried: tuple[BinsTried, ...] = ()

    @classmethod
    def of(cls, request: BoundaryRequest, constraint: Constraint) -> HoldOutRows:
        """The rows of a request.

        Raises
        ------
        UsageError, DataError
            A number of bins is out of range, or the rows cannot be read.
        """
        data, spec = request.data, request.grid
        spec.check()
        works_on = {entry_of(algorithm).works_on for algorithm in algorithms_of(request.searched)}
        gridded, every = WorksOn.GRID in works_on, request.searched is AlgorithmChoice.ALL
        # of all algorithms, hr alone does not make the uncertainty be read
        raised = WorksOn.RAISED_SCORES in works_on and not every
        auto = request.auto_bins and gridded
        uncertain = raised or (gridded and (auto or spec.uncertainty_bins > 1))
        table = open_table(data, looks_at_uncertainty=uncertain)
        tried: tuple[BinsTried, ...] = ()
        if auto:
            tried = tried_bins(table.rows().pooled(), spec, constraint, request.seed)
            spec = replace(spec, uncertainty_bins=fewest_of(tried))
        return cls(
            constraint=constraint,
            source=source_of(table.facts),
            parameters=request.parameters(spec),
            table=table,
            uncertain=uncertain,
            gridded=gridded,
            spec=spec,
            tried=tried,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Uncertainty bins and score bins; 0 score bins for every distinct score."""
        return self.spec.uncertainty_bins, self.spec.score_bins or 0

    def obstacle(self, algorithm: Algorithm) -> str | None:
        """Why an algorithm does not apply; None if it does."""
        entry = entry_of(algorithm)
        if self.constraint.kind not in entry.kinds:
            return f"works for {' and '.join(sorted(entry.kinds))} only"
        if entry.equal_rows and self.spec.score_bins is None:
            return "needs a number of score bins, not all"
        if entry.works_on is WorksOn.RAISED_SCORES and not self.uncertain:
            return "needs the uncertainty"
        return None

    def optimum(self, algorithm: Algorithm) -> Optimum:
        """The best boundary of an algorithm that applies."""
        if entry_of(algorithm).works_on is WorksOn.RAISED_SCORES:
            return optimise_recalibrated(self.table.rows(), self.constraint)
        found = optimise(self.cells(algorithm), algorithm, self.constraint)
        if found.found is None and entry_of(algorithm).works_on is WorksOn.SCORES:
            return optimise(self.every_score, algorithm, self.constraint)  # the closest may be anywhere
        return found

    def is_grid(self, algorithm: Algorithm) -> bool:
        """Whether an algorithm works on the grid."""
        return entry_of(algorithm).works_on is WorksOn.GRID

    def cells(self, algorithm: Algorithm) -> Cells:
        """The cells an algorithm works on."""
        return self._grid if self.is_grid(algorithm) else self._scores

    @cached_property
    def _edges(self) -> Floats:
        return uncertainty_edges(self.table, self.spec)

    @cached_property
    def _parts(self) -> tuple[RangeCounts, ...]:
        """Scores of each uncertainty bin for the grid, and last of all rows for the single threshold."""
        return grid_parts(self.table, self._edges, self.spec, self._unsettled)

    @cached_property
    def _grid(self) -> Cells:
        return cells_from(self._edges, [each.counts for each in self._parts[:-1]], self.spec)

    @cached_property
    def _scores(self) -> Cells:
        """All scores among which the best single threshold is."""
        if self.gridded:
            return single_row(self._parts[-1].counts)
        whole = self.table.counted(WHOLE, self._unsettled)[-1]
        return single_row(whole.counts)

    @property
    def grid(self) -> Cells | None:
        """The grid, where one is looked at."""
        return self._grid if self.gridded else None

    @cached_property
    def every_score(self) -> Cells:
        """All distinct scores."""
        return single_row(self.table.pooled(WHOLE)[0])

    def _unsettled(self, counts: Sequence[RangeCounts]) -> list[Bools]:
        *parts, whole = counts
        named = unsettled_by_threshold(whole, self.constraint.goal(single_row(whole.counts)))
        return [*(np.zeros(len(part.value), dtype=np.bool_) for part in parts), named]


def single_row(counts: ValueCounts) -> Cells:
    """A cell for each distinct score, whatever the uncertainty."""
    return Cells(uncertainty_edges=np.empty(0), rows=(distinct_cells(counts),))


@dataclass(frozen=True, kw_only=True)
class HoldOutGrid:
    """The cells of a saved grid (see HoldOutRows)."""

    constraint: Constraint
    source: Source
    parameters: BoundaryParameters
    saved: Cells
    tried: tuple[BinsTried, ...] = ()

    @classmethod
    def of(cls, request: BoundaryRequest, grid: GridArtifact, constraint: Constraint) -> HoldOutGrid:
        """A grid in the place of rows."""
        cells = grid.cells()
        spec = GridSpec(
            binning=grid.binning, uncertainty_bins=len(cells.rows), score_bins=len(cells.rows[0].count)
        )
        read = grid.parameters
        parameters = msgspec.structs.replace(
            request.parameters(spec), on_invalid=read.on_invalid, positive=read.positive
        )
        return cls(constraint=constraint, source=grid.source, parameters=parameters, saved=cells)

    @property
    def grid(self) -> Cells | None:
        """The saved cells."""
        return self.saved

    @property
    def every_score(self) -> Cells | None:
        """All cells, where no uncertainty divides them."""
        return self.saved if len(self.saved.rows) == 1 else None

    @property
    def shape(self) -> tuple[int, int]:
        """Uncertainty bins and score bins."""
        return len(self.saved.rows), len(self.saved.rows[0].count)

    def obstacle(self, algorithm: Algorithm) -> str | None:
        """Why an algorithm does not apply; None if it does."""
        entry = entry_of(algorithm)
        if self.constraint.kind not in entry.kinds:
            return f"works for {' and '.join(sorted(entry.kinds))} only"
        if entry.works_on is WorksOn.RAISED_SCORES:
            return "needs the rows, not a grid"
        if entry.works_on is WorksOn.SCORES and len(self.saved.rows) > 1:
            return "needs a grid of one uncertainty bin"
        return None

    def optimum(self, algorithm: Algorithm) -> Optimum:
        """The best boundary of an algorithm that applies."""
        return optimise(self.saved, algorithm, self.constraint)

    def is_grid(self, algorithm: Algorithm) -> bool:
        """All work on the grid."""
        del algorithm
        return True

    def cells(self, algorithm: Algorithm) -> Cells:
        """The cells an algorithm works on."""
        del algorithm
        return self.saved


HoldOut = HoldOutRows | HoldOutGrid


def algorithms_of(asked: AlgorithmChoice) -> tuple[Algorithm, ...]:
    """The algorithms that are asked for, in order."""
    return tuple(Algorithm) if asked is AlgorithmChoice.ALL else (Algorithm(asked),)

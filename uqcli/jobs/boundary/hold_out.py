"""What boundaries are found on, rows or a saved grid: which algorithm applies, on which cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from uqcli import defaults
from uqcli.choices import Algorithm, ConstraintKind
from uqcli.counts import Bools, Cells, Floats, RangeCounts, ValueCounts, distinct_cells
from uqcli.engines.protocol import Table
from uqcli.errors import DataError, UsageError
from uqcli.jobs.grids import grid_parts, uncertainty_edges
from uqcli.methods.bin.grid import GridSpec, cells_from
from uqcli.methods.boundary.algorithms.st import unsettled_by_threshold
from uqcli.methods.boundary.constraint import Constraint
from uqcli.methods.boundary.optimum import Optimum, optimise, optimise_recalibrated
from uqcli.methods.boundary.registry import WorksOn, entry_of


@dataclass(frozen=True, kw_only=True)
class HoldOutRows:
    """Labelled rows to be counted, the grid to cut them into, and what the scores alone are asked.

    Attributes
    ----------
    uncertain
        Whether there is an uncertainty.
    gridded
        Whether the grid is looked at, too: the scores are then counted with it.
    """

    table: Table
    uncertain: bool
    gridded: bool
    spec: GridSpec
    constraint: Constraint

    @property
    def shape(self) -> tuple[int, int]:
        """Uncertainty bins and score bins; 0 score bins for every distinct score."""
        return self.spec.uncertainty_bins, self.spec.score_bins or 0

    def obstacle(self, algorithm: Algorithm, kind: ConstraintKind) -> str | None:
        """Why an algorithm does not apply; None if it does."""
        entry = entry_of(algorithm)
        if kind not in entry.kinds:
            return f"works for {' and '.join(sorted(entry.kinds))} only"
        if entry.equal_rows and self.spec.score_bins is None:
            return "needs a number of score bins, not all"
        if entry.works_on is WorksOn.RAISED_SCORES and not self.uncertain:
            return "needs the uncertainty"
        return None

    def optimum(self, algorithm: Algorithm, constraint: Constraint) -> Optimum:
        """The best boundary of an algorithm that applies."""
        if entry_of(algorithm).works_on is WorksOn.RAISED_SCORES:
            return optimise_recalibrated(self.table.rows(), constraint)
        found = optimise(self.cells(algorithm), algorithm, constraint)
        if found.found is None and entry_of(algorithm).works_on is WorksOn.SCORES:
            return optimise(self._every_score, algorithm, constraint)  # what comes closest may be anywhere
        return found

    def cells(self, algorithm: Algorithm) -> Cells:
        """The cells an algorithm works on."""
        return self._grid if entry_of(algorithm).works_on is WorksOn.GRID else self._scores

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
        whole = self.table.counted(np.empty(0), self._unsettled)[-1]
        return single_row(whole.counts)

    @cached_property
    def _every_score(self) -> Cells:
        return single_row(self.table.pooled(np.empty(0))[0])

    def _unsettled(self, counts: Sequence[RangeCounts]) -> list[Bools]:
        *parts, whole = counts
        named = unsettled_by_threshold(whole, self.constraint.goal(single_row(whole.counts)))
        return [*(np.zeros(len(part.value), dtype=np.bool_) for part in parts), named]


def single_row(counts: ValueCounts) -> Cells:
    """A cell for each distinct score, whatever the uncertainty."""
    return Cells(uncertainty_edges=np.empty(0), rows=(distinct_cells(counts),))


@dataclass(frozen=True, kw_only=True)
class HoldOutGrid:
    """The cells of a saved grid."""

    saved: Cells

    @property
    def shape(self) -> tuple[int, int]:
        """Uncertainty bins and score bins."""
        return len(self.saved.rows), len(self.saved.rows[0].count)

    def obstacle(self, algorithm: Algorithm, kind: ConstraintKind) -> str | None:
        """Why an algorithm does not apply; None if it does."""
        entry = entry_of(algorithm)
        if kind not in entry.kinds:
            return f"works for {' and '.join(sorted(entry.kinds))} only"
        if entry.works_on is WorksOn.RAISED_SCORES:
            return "needs the rows, not a grid"
        if entry.works_on is WorksOn.SCORES and len(self.saved.rows) > 1:
            return "needs a grid of one uncertainty bin"
        return None

    def optimum(self, algorithm: Algorithm, constraint: Constraint) -> Optimum:
        """The best boundary of an algorithm that applies."""
        return optimise(self.saved, algorithm, constraint)

    def cells(self, algorithm: Algorithm) -> Cells:
        """The cells an algorithm works on."""
        del algorithm
        return self.saved


HoldOut = HoldOutRows | HoldOutGrid


def require_applicable(hold_out: HoldOut, algorithm: Algorithm, constraint: Constraint) -> None:
    """Refuse an algorithm that does not apply.

    Raises
    ------
    UsageError
        It says why.
    DataError
        Its table would not fit into memory.
    """
    obstacle = hold_out.obstacle(algorithm, constraint.kind)
    if obstacle is not None:
        raise UsageError(f"--algorithm {algorithm} does not apply: it {obstacle}", remedy="use vw-dpmt")
    oversize = oversize_of(hold_out, algorithm)
    if oversize is not None:
        raise DataError(
            f"--algorithm {algorithm} {oversize}",
            expected=f"at most {defaults.MOST_TABLE_BYTES / 1e9:.1f} GB",
            remedy="use --algorithm vw-dpmt, or fewer bins (--uncertainty-bins, --score-bins)",
        )


def oversize_of(hold_out: HoldOut, algorithm: Algorithm) -> str | None:
    """What an algorithm would need beyond all reason; None where it fits."""
    needs = entry_of(algorithm).table_bytes
    size = 0 if needs is None else needs(*hold_out.shape)
    if size <= defaults.MOST_TABLE_BYTES:
        return None
    bins = " x ".join(map(str, hold_out.shape))
    return f"needs a table of {size / 1e9:,.1f} GB for {bins} bins"

"""Boundaries of groups: each group has its own thresholds, for a common bound or one in each group.

The classes of the knapsack are the uncertainty bins of all groups, in the order of the groups. Smoothed rates
rank the cells of each group by itself; for a common bound the rankings are merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from uqcli.base.choices import Algorithm, GroupBound
from uqcli.base.counts import Cells, Ints
from uqcli.base.records import dataclass
from uqcli.boundary.expected import Expected, expected_of
from uqcli.boundary.search.algorithms.smooth import best_prefix
from uqcli.boundary.search.constraint import Constraint
from uqcli.boundary.search.goals import Tops
from uqcli.boundary.search.registry import entry_of
from uqcli.boundary.search.result import FittedBoundary, boundary_at
from uqcli.boundary.search.smoothing import (
    Layout,
    NestedBoundaries,
    nested_boundaries,
    nested_of_draws,
)


@dataclass(frozen=True, kw_only=True)
class GroupSearch:
    """Search for the boundaries of several groups.

    Attributes
    ----------
    parts
        Cells of each group.
    """

    parts: tuple[Cells, ...]
    algorithm: Algorithm
    constraint: Constraint
    bound: GroupBound

    @cached_property
    def cells(self) -> Cells:
        """The cells of all groups as one table; its uncertainty edges only identify it."""
        edges = np.concatenate([part.uncertainty_edges for part in self.parts])
        return Cells(uncertainty_edges=edges, rows=tuple(row for part in self.parts for row in part.rows))

    @cached_property
    def _ends(self) -> list[int]:
        """First row of each group in the table, and the number of rows."""
        return [0, *np.cumsum([len(part.rows) for part in self.parts]).tolist()]

    @cached_property
    def _found(self) -> Tops | None:
        rankings = None
        if self.algorithm is Algorithm.SMOOTH:
            rankings = [nested_boundaries(part) for part in self.parts]
        return self._tops(self.parts, rankings)

    def boundaries(self) -> tuple[FittedBoundary, ...] | None:
        """Find the boundary of each group; without thresholds where the bound is out of reach.

        Returns
        -------
        None if no group has a boundary.
        """
        if self._found is None:
            return None
        split = [self._found[first:last] for first, last in pairwise(self._ends)]
        return tuple(boundary_at(part, tops) for part, tops in zip(self.parts, split, strict=True))

    def expected(self, seed: int) -> Expected | None:
        """Estimate the results on new data, over all groups (see ``expected``).

        The recall has no range: the thresholds of several groups vary more than one, and ranges covered 79 %.
        """
        if self._found is None:
            return None
        results = expected_of(self.cells, self._found, self._of_draws, self.algorithm, seed)
        if results is None or len(self.parts) == 1:
            return results
        return replace(results, recall=replace(results.recall, low=None, high=None))

    def _of_draws(self, samples: Ints) -> Iterator[Tops | None]:
        """Find the top cells in each bootstrap sample; int64, shape (2, draws, cells)."""
        sizes = [sum(len(row.count) for row in part.rows) for part in self.parts]
        by_part = np.split(samples, np.cumsum(sizes)[:-1], axis=2)
        rankings = None
        if self.algorithm is Algorithm.SMOOTH:
            layouts = [Layout.from_cells(part) for part in self.parts]
            rankings = [
                nested_of_draws(layout, *counts) for layout, counts in zip(layouts, by_part, strict=True)
            ]
        for draw in range(samples.shape[1]):
            parts = [
                part.with_counts(*counts[:, draw]) for part, counts in zip(self.parts, by_part, strict=True)
            ]
            yield self._tops(parts, None if rankings is None else [next(ranking) for ranking in rankings])

    def _tops(self, parts: Sequence[Cells], rankings: Sequence[NestedBoundaries] | None) -> Tops | None:
        """Find the top cells of all rows; rankings are those of smoothed rates."""
        if self.bound is GroupBound.EACH:
            return self._in_each(parts, rankings)
        rows = tuple(row for part in parts for row in part.rows)
        together = Cells(uncertainty_edges=self.cells.uncertainty_edges, rows=rows)
        goal = self.constraint.goal(together)
        if rankings is None:
            return entry_of(self.algorithm).method(together, goal)
        return best_prefix(merged(parts, rankings), goal, together)

    def _in_each(self, parts: Sequence[Cells], rankings: Sequence[NestedBoundaries] | None) -> Tops | None:
        chosen = []
        for index, part in enumerate(parts):
            goal = self.constraint.goal(part)
            if rankings is None:
                tops = entry_of(self.algorithm).method(part, goal)
            else:
                tops = best_prefix(rankings[index], goal, part)
            chosen.append(tops)
        if not any(chosen):
            return None
        return tuple(
            top for tops, part in zip(chosen, parts, strict=True) for top in tops or (0,) * len(part.rows)
        )


def merged(parts: Sequence[Cells], rankings: Sequence[NestedBoundaries]) -> NestedBoundaries:
    """Merge the rankings of several groups by rate; ties by position from the top, then by row."""
    layouts = [Layout.from_cells(part) for part in parts]
    first_row = np.cumsum([0, *(len(part.rows) for part in parts)])
    first_cell = np.cumsum([0, *(len(layout.lower) for layout in layouts)])
    rate = np.concatenate([ranking.rate for ranking in rankings])
    listed = list(zip(layouts, rankings, strict=True))
    from_top = np.concatenate([layout.from_top[ranking.order] for layout, ranking in listed])
    row = np.concatenate([ranking.row + first_row[index] for index, ranking in enumerate(rankings)])
    cell = np.concatenate([ranking.order + first_cell[index] for index, ranking in enumerate(rankings)])
    count, positives = (np.concatenate(column) for column in zip(*(part.flat for part in parts), strict=True))
    order = np.lexsort((row, from_top, -rate))
    return NestedBoundaries(
        order=cell[order],
        row=row[order],
        true_positives=np.cumsum(positives[cell[order]]),
        selected=np.cumsum(count[cell[order]]),
        rate=rate[order],
    )

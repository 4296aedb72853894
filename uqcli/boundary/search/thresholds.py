"""A boundary found on a calibration set, with its thresholds and counts, and its decisions on new rows.

Nested boundaries also order rows, for a daily capacity: those that they flag first, up to a number per group.
The place of a row is the tightest nested boundary that flags it. Rows are taken in the order of their places,
then by descending score, then by position.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from uqcli.base.counts import Bools, CellRow, Cells, Floats, Ints, bin_of, distinct_numbers
from uqcli.base.defaults import LOWEST
from uqcli.base.errors import DataError
from uqcli.base.records import dataclass
from uqcli.base.single_precision import shown
from uqcli.boundary.search.smoothing import NestedBoundaries
from uqcli.estimates.confusion import Confusion, Sums
from uqcli.kernels.keys import keys_of

_MAX_NESTED = 200
"""Nested boundaries that are saved to order rows, at most."""

Thresholds = tuple[float | None, ...]
"""Threshold of each uncertainty bin: None never flags, and the lowest finite double always flags."""


@dataclass(frozen=True, kw_only=True)
class FittedBoundary:
    """Boundary: a row is flagged iff its score reaches the threshold of its uncertainty bin.

    The K bins have K-1 edges. With a review, ``review_thresholds`` has the lowest reviewed score of each bin,
    None for no review there. ``shown`` and ``shown_review`` are the thresholds in few digits that decide
    alike on the calibration rows; none if these are not known.
    """

    uncertainty_edges: Floats
    thresholds: Thresholds
    fit: Confusion[int]
    review_thresholds: Thresholds = ()
    shown: Thresholds = ()
    shown_review: Thresholds = ()

    @property
    def printed(self) -> Thresholds:
        """The thresholds as texts and figures print them."""
        return self.shown or self.thresholds

    @property
    def printed_review(self) -> Thresholds:
        """The thresholds of the review as texts and figures print them."""
        return self.shown_review or self.review_thresholds


def as_numbers(thresholds: Sequence[float | None]) -> list[float]:
    """Return thresholds as numbers: one that never flags is infinity, which no score reaches.

    Examples
    --------
    >>> as_numbers([0.5, None])
    [0.5, inf]
    """
    return [math.inf if threshold is None else threshold for threshold in thresholds]


def shown_in_bins(thresholds: Thresholds, scores: Sequence[Floats | None]) -> Thresholds:
    """Return thresholds in few digits, given the scores of each bin; none if these are not known."""
    few: list[float | None] = []
    for threshold, known in zip(thresholds, scores, strict=True):
        if known is None:
            return ()
        few.append(threshold if threshold is None else float(shown(np.array([threshold]), known)[0]))
    return tuple(few)


def _lowest_flagged(row: CellRow, first: int, *, raised: bool) -> tuple[float | None, int, int]:
    """Find the threshold of a row of cells flagged from ``first`` on, its cell, and the rows below it there.

    For a saved grid it is the lower edge of the lowest non-empty cell, or the lowest double for the first
    cell. If the rows are available it is raised to the lowest score of a positive row, since lower scores add
    no true positive.
    """
    lowest, below = (row.lowest_positive, row.below_positive) if raised else (None, None)
    filled = np.flatnonzero((row.count if lowest is None else row.positives)[first:])
    if len(filled) == 0:
        return None, len(row.count), 0
    first += int(filled[0])
    if lowest is not None and below is not None:
        return float(lowest[first]), first, int(below[first])
    return (LOWEST if first == 0 else float(row.lower[first])), first, 0


def as_sums(sums: Ints) -> Sums:
    """Convert sums of shape (2, amounts)."""
    of_all, of_positives = sums.tolist()
    return tuple(of_all), tuple(of_positives)


def thresholds_at(cells: Cells, tops: Sequence[int]) -> Thresholds:
    """Return the lower edges of the cells taken, not raised, which uses no labels."""
    thresholds: list[float | None] = []
    for row, top in zip(cells.rows, tops, strict=True):
        first = len(row.count) - top
        thresholds.append(None if top == 0 else LOWEST if first == 0 else float(row.lower[first]))
    return tuple(thresholds)


def boundary_at(cells: Cells, tops: Sequence[int], *, raised: bool = True) -> FittedBoundary:
    """Convert the number of top cells in each row to thresholds and counts.

    Thresholds are the highest that select the same rows or, with ``raised`` and available rows, the same
    positive rows.
    """
    thresholds: list[float | None] = []
    selected = true_positives = 0
    sums_of_bins: list[Ints] = []
    for row, top in zip(cells.rows, tops, strict=True):
        threshold, first, n_below = _lowest_flagged(row, len(row.count) - top, raised=raised)
        thresholds.append(threshold)
        selected += int(row.count[first:].sum()) - n_below
        true_positives += int(row.positives[first:].sum())
        sums_of_bins.append(row.amounts[..., first:].sum(axis=-1))
        for index, below_positive in enumerate(row.sums_below if n_below else ()):
            sums_of_bins[-1][0, index] -= below_positive[first]
    fit = Confusion(
        selected=selected,
        true_positives=true_positives,
        rows=cells.total,
        positives=cells.positives,
        sums_selected=as_sums(np.sum(sums_of_bins, axis=0)),
        sums=as_sums(cells.flat_sums.sum(axis=-1)),
    )
    return FittedBoundary(
        uncertainty_edges=cells.uncertainty_edges,
        thresholds=tuple(thresholds),
        fit=fit,
        shown=shown_in_bins(tuple(thresholds), [row.scores for row in cells.rows]) if raised else (),
    )


def decide(
    score: Floats,
    uncertainty: Floats | None,
    uncertainty_edges: Sequence[float] | Floats,
    thresholds: Sequence[float | None],
) -> Bools:
    """Decide which rows are flagged: those whose score reaches the threshold of their uncertainty bin.

    Scores and uncertainties are float64, shape (n,). The uncertainty is used only if there are several
    thresholds; a DataError says that it is missing.

    Examples
    --------
    >>> decide(np.array([0.2, 0.9]), None, [], [0.5]).tolist()
    [False, True]
    """
    bin_thresholds = np.array(as_numbers(thresholds))
    if len(bin_thresholds) == 1:
        flagged: Bools = score >= bin_thresholds[0]
        return flagged
    if uncertainty is None:
        raise DataError("no uncertainty given", expected=f"values for {len(bin_thresholds)} uncertainty bins")
    edges = np.asarray(uncertainty_edges, dtype=np.float64)
    decisions: Bools = score >= bin_thresholds[bin_of(uncertainty, edges)]
    return decisions


def nested_thresholds(cells: Cells, nested: NestedBoundaries) -> list[Thresholds]:
    """Return the thresholds of nested boundaries, the tightest first.

    Their numbers of flagged rows grow in a geometric series up to all rows.
    """
    total = int(nested.selected[-1]) if len(nested.selected) else 0
    numbers = np.geomspace(1, max(total, 1), _MAX_NESTED).round()
    last = distinct_numbers(np.minimum(np.searchsorted(nested.selected, numbers), len(nested.order) - 1))
    last[-1] = len(nested.order) - 1
    return [thresholds_at(cells, nested.tops(int(index), len(cells.rows))) for index in last]


def places(
    score: Floats,
    uncertainty: Floats | None,
    edges: Sequence[float],
    nested: Sequence[Sequence[float | None]],
) -> Ints:
    """Return the index of the tightest nested boundary that flags each row, their number if none does.

    Scores and uncertainties have shape (n,); the latter are used only if there are edges. ``nested`` has the
    thresholds per uncertainty bin, the tightest boundary first.
    """
    by_boundary = np.array([as_numbers(row) for row in nested])
    index = np.zeros(len(score), dtype=np.int64)
    if len(edges) and uncertainty is not None:
        index = bin_of(uncertainty, np.asarray(edges))
    place = np.empty(len(score), dtype=np.int64)
    for bin_index, thresholds in enumerate(by_boundary.T):
        inside = index == bin_index
        reached = np.searchsorted(thresholds[::-1], score[inside], side="right")
        place[inside] = len(nested) - reached
    return place


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """The last row that is taken in each group, and the rows taken; shape (groups,).

    ``tied`` are rows that are not taken though they rank as the last one does, but for their positions.
    ``splits_tie`` says that rows at a cut cannot be told apart, since they have no positions.
    """

    place: Ints
    score: Floats
    position: Ints
    taken: Ints
    tied: Ints
    splits_tie: bool

    def takes(self, group: Ints, place: Ints, score: Floats, position: Ints | None) -> Bools:
        """Whether rows are taken; those of unknown groups (-1) are not."""
        if len(self.place) == 0:
            return np.zeros(len(group), dtype=np.bool_)
        known = group >= 0
        index = np.where(known, group, 0)
        last_place, last_score = self.place[index], self.score[index]
        equal = (place == last_place) & (score == last_score)
        before = (place < last_place) | ((place == last_place) & (score > last_score))
        if position is not None:
            equal &= position <= self.position[index]
        taken: Bools = known & (before | equal)
        return taken


_NO_PLACE: Final = np.iinfo(np.int64).max
"""Place of the floor where a group has room for more rows: every row is above it."""


def _are_beyond(group: Ints, place: Ints, score: Floats, limit: int) -> Bools:
    """Whether rows are certain to rank below ``limit`` others of their group: a full sort leaves them out.

    A row is one number of 64 bits, which sorts in a fraction of the time of four columns: its group, and the
    first 48 bits of its score. Rows that these bits do not tell apart are not beyond.
    """
    if len(group) <= limit or group.max() >> 16 or place.min() != place.max():
        return np.zeros(len(group), dtype=np.bool_)
    keys = keys_of(score + 0.0)  # adding 0 makes one number of both zeros
    rank = (keys ^ np.iinfo(np.int64).max).view(np.uint64)  # the highest score first
    rows = group.astype(np.uint64) << np.uint64(48) | rank >> np.uint64(16)
    ordered = np.sort(rows)
    groups = np.arange(int(group.max()) + 1)
    starts = np.searchsorted(ordered, groups.astype(np.uint64) << np.uint64(48))
    last = np.minimum(starts + limit, np.append(starts[1:], len(rows))) - 1
    beyond: Bools = rows > ordered[last][group]
    return beyond


class FirstRows:
    """The first rows of each group, found batch by batch, in memory for twice ``limit`` rows per group."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._group = self._place = self._position = self._count = np.empty(0, dtype=np.int64)
        self._score: Floats = np.empty(0)
        self._last = (self._group, self._place, self._score, self._count)  # last row of each group, and ties
        self._floor = (np.array([_NO_PLACE]), np.array([-np.inf]))  # by group, at last of others
        self._waiting: list[tuple[Ints, Ints, Floats, Ints, Ints]] = []
        self._have_positions = True

    def add(self, group: Ints, place: Ints, score: Floats, position: Ints | None, count: Ints) -> None:
        """Add rows, each of which stands for ``count`` equal ones; all have positions, or none.

        Those below the floor of their group are left out: they are neither taken nor tied. The others wait
        until they are as many as the rows kept, so that these are sorted a few times only.
        """
        places, scores = self._floor
        index = np.minimum(group, len(places) - 1)
        lowest = places[index]
        near = np.flatnonzero((place < lowest) | ((place == lowest) & (score >= scores[index])))
        self._have_positions = position is not None
        positions = np.zeros(len(near), dtype=np.int64) if position is None else position[near]
        self._waiting.append((group[near], place[near], score[near], positions, count[near]))
        if sum(len(columns[0]) for columns in self._waiting) > len(self._group):
            self._sort()

    def _sort(self) -> None:
        """Keep the first of the rows kept and of those that wait, if any do."""
        if not self._waiting:
            return
        kept = (self._group, self._place, self._score, self._position, self._count)
        rows = [np.concatenate(columns) for columns in zip(kept, *self._waiting, strict=True)]
        self._waiting.clear()
        if len(rows[0]) == 0:
            return
        near = ~_are_beyond(rows[0], rows[1], rows[2], self._limit)
        group, place, score, position, count = (column[near] for column in rows)
        order = np.lexsort((position, -score, place, group))
        if not self._have_positions:  # equal rows stand together, so that a cut among them is noticed
            keys = np.stack([group[order], place[order], score[order]])
            first = np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)))
            count[order[first]] = np.add.reduceat(count[order], first)
            order = order[first]
        self._take(group[order], place[order], score[order], position[order], count[order])

    def _take(self, group: Ints, place: Ints, score: Floats, position: Ints, count: Ints) -> None:
        """Keep the first of rows in their order."""
        before = np.cumsum(count) - count
        starts = np.searchsorted(group, group)  # of the row's group
        kept = before - before[starts] < self._limit
        ranks = (group, place, score)
        self._count_ties([column[kept] for column in ranks], [column[~kept] for column in (*ranks, count)])
        self._group, self._place, self._position = group[kept], place[kept], position[kept]
        self._score, self._count = score[kept], count[kept]
        starts = np.flatnonzero(np.append(True, np.diff(self._group) != 0))
        is_full = np.add.reduceat(self._count, starts) >= self._limit
        groups, *lowest, _ = (column[is_full] for column in self._last)
        size = int(groups.max(initial=-1)) + 2
        self._floor = (np.full(size, _NO_PLACE), np.full(size, -np.inf))
        for floor, column in zip(self._floor, lowest, strict=True):
            floor[groups] = column

    def _count_ties(self, kept: Sequence[np.ndarray], left: Sequence[np.ndarray]) -> None:
        """Count the rows left that rank as the last one kept of their group, which only rises in rank."""
        is_last = np.append(np.diff(kept[0]) != 0, True)
        group, place, score = (column[is_last] for column in kept)
        rows = [np.append(*columns) for columns in zip(self._last, left, strict=True)]
        index = np.searchsorted(group, rows[0])
        is_tied = (rows[1] == place[index]) & (rows[2] == score[index])
        tied = np.zeros(len(group), dtype=np.int64)
        np.add.at(tied, index[is_tied], rows[3][is_tied])
        self._last = (group, place, score, tied)

    def kept(self) -> tuple[Ints, Ints]:
        """Return the groups, ascending, and the positions of the first rows of each group, in their order."""
        self._sort()
        return self._group, self._position

    def up_to(self, limit: int) -> FirstRows:
        """Return the first rows up to a lower number; ties with rows that were not kept are not counted."""
        self._sort()
        fewer = FirstRows(limit)
        if len(self._group):
            fewer._take(self._group, self._place, self._score, self._position, self._count)
        return fewer

    def cuts(self, groups: int) -> Cuts:
        """Return the cut of each group; groups without rows take none."""
        self._sort()
        total = np.zeros(groups, dtype=np.int64)
        np.add.at(total, self._group, self._count)
        last = np.searchsorted(self._group, np.arange(groups), side="right") - 1
        present = total > 0
        place, position = np.full(groups, -1), np.full(groups, -1)
        score = np.full(groups, np.inf)
        place[present], position[present] = self._place[last[present]], self._position[last[present]]
        score[present] = self._score[last[present]]
        tied = np.zeros(groups, dtype=np.int64)
        tied[self._last[0]] = self._last[3]
        return Cuts(
            place=place,
            score=score,
            position=position,
            taken=np.minimum(total, self._limit),
            tied=tied,
            splits_tie=bool((total > self._limit).any()),
        )

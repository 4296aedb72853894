"""Counts of calibration rows by uncertainty bin and score, with which new rows are compared.

Each uncertainty bin has ten score bins of about equal weight. Only the ranges with their edges are opened.
Days or clusters of new rows are compared by a few cells of these bins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import Meta

from uqcli.base.counts import Bools, Floats, Ints, RangeCounts, bin_of, mask_for_all_rows
from uqcli.base.rows import Rows
from uqcli.base.running.concurrency import parallel_map
from uqcli.base.single_precision import highest_alike, lowered, lowest_alike, near_edges
from uqcli.engines.protocol import Places
from uqcli.estimates.binning import equal_ranks, outer_ranks
from uqcli.kernels.units import UnitTable
from uqcli.rules.saved import Count, given
from uqcli.shift.mixture import UnitCounts

SCORE_BINS = 10
"""Score bins of each uncertainty bin."""

MAX_ROWS_BETWEEN: Final = 10_000_000
"""Rows up to which clusters are compared: Spark cannot send the distinct ones of many more."""


class SavedEnds(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers at one end of the calibration rows; no uncertainty if the rule does not use it."""

    score: float
    uncertainty: float | msgspec.UnsetType = msgspec.UNSET

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers by role."""
        uncertainty = given(self.uncertainty)
        return {"score": self.score, **({} if uncertainty is None else {"uncertainty": uncertainty})}


class SavedBetween(msgspec.Struct, frozen=True, kw_only=True):
    """Covariance between clusters (such as days) of the shares of calibration rows in a few cells.

    The cells are those of ``drift_cells``. The ``units`` clusters count as ``effective`` ones of equal size;
    absent from older files, where their number is taken.
    """

    units: Annotated[int, Meta(ge=2)]
    effective: Annotated[float, Meta(ge=1)] | msgspec.UnsetType = msgspec.UNSET
    covariance: Annotated[list[list[float]], Meta(min_length=2)]


def drift_cells(bins: int) -> Ints:
    """Return the cells of a test of drift over dependent rows, by uncertainty bin and score bin; (bins, 10).

    They are few: five of two score bins each, or six of both halves of the uncertainty bins and three parts
    of the scores.

    Examples
    --------
    >>> drift_cells(1).tolist()
    [[0, 0, 1, 1, 2, 2, 3, 3, 4, 4]]
    """
    if bins == 1:
        return np.arange(SCORE_BINS)[None, :] // 2
    half, part = 2 * np.arange(bins) // bins, 3 * np.arange(SCORE_BINS) // SCORE_BINS
    cells: Ints = 3 * half[:, None] + part
    return cells


def number_of_drift_cells(bins: int) -> int:
    """Return how many cells ``drift_cells`` tells apart."""
    return int(drift_cells(bins).max()) + 1


class SavedReference(msgspec.Struct, frozen=True, kw_only=True):
    """Calibration rows, by weight, in score bins of each uncertainty bin, and the ends of their numbers."""

    score_edges: Annotated[
        list[Annotated[list[float], Meta(min_length=SCORE_BINS - 1, max_length=SCORE_BINS - 1)]],
        Meta(min_length=1),
    ]
    count: Annotated[
        list[Annotated[list[Count], Meta(min_length=SCORE_BINS, max_length=SCORE_BINS)]], Meta(min_length=1)
    ]
    lowest: SavedEnds
    highest: SavedEnds
    between: SavedBetween | msgspec.UnsetType = msgspec.UNSET

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Smallest and largest calibration number by role."""
        highest = self.highest.numbers
        return {role: (low, highest[role]) for role, low in self.lowest.numbers.items()}

    def places(self, edges: Floats, score: Floats, uncertainty: Floats | None) -> tuple[Ints, Ints]:
        """Return the uncertainty bin, by the edges, and the score bin of rows; shape (n,)."""
        row = np.zeros(len(score), dtype=np.int64)
        if len(edges) and uncertainty is not None:
            row = bin_of(uncertainty, edges)
        column = np.zeros(len(score), dtype=np.int64)
        for index, score_edges in enumerate(self.score_edges):
            inside = row == index
            column[inside] = bin_of(score[inside], np.array(score_edges, dtype=np.float64))
        return row, column

    def drift_cell(self, edges: Floats, rows: Rows) -> Ints:
        """Return the cell of each row by ``drift_cells``; ``edges`` are those of uncertainty bins."""
        cells: Ints = drift_cells(len(self.score_edges))[self.places(edges, rows.score, rows.uncertainty)]
        return cells

    def drift_places(self, edges: Floats) -> Places:
        """Return the columns of the rows by ``drift_cells``; ``edges`` are those of uncertainty bins."""
        score_edges = np.array(self.score_edges, dtype=np.float64)
        return Places(uncertainty_edges=edges, score_edges=score_edges, column=drift_cells(len(score_edges)))

    def contradicts(self, bins: int, rows: int, *, uncertain: bool) -> bool:
        """Whether it is not about a rule with ``bins`` uncertainty bins and its calibration rows."""
        roles = {"score", "uncertainty"} if uncertain else {"score"}
        if not roles == set(self.lowest.numbers) == set(self.highest.numbers):
            return True
        if not bins == len(self.score_edges) == len(self.count) or sum(map(sum, self.count)) != rows:
            return True
        if (between := given(self.between)) is not None:
            size, covariance = number_of_drift_cells(bins), between.covariance
            lengths = {len(covariance), *map(len, covariance)}
            if lengths != {size} or not all(math.isfinite(value) for row in covariance for value in row):
                return True
        low, high = self.ranges["score"]
        ascending = [[low, *edges, high] for edges in self.score_edges] + [
            list(self.ranges.get("uncertainty", ()))
        ]
        return not all(all(map(math.isfinite, edges)) and edges == sorted(edges) for edges in ascending)


def ranges_for_reference(counts: Sequence[RangeCounts], bin_counts: Sequence[int]) -> list[Bools]:
    """Mark the ranges to open until ``reference_of`` is exact.

    The counts are those of each uncertainty bin, then of all rows. ``bin_counts`` are the possible numbers of
    bins after runs of adjacent bins are merged.
    """
    total = counts[-1]
    mask = total.containing(outer_ranks(total.rows, SCORE_BINS))
    cumulative = _cumulative(counts)
    for bins in {1, *bin_counts}:
        for rows in _merged(cumulative, bins):
            mask[_positions(rows)] = True
    mask |= total.around(near_edges(total.value[mask]))
    return mask_for_all_rows(counts, mask & ~total.exact)


def reference_of(
    counts: Sequence[RangeCounts], bins: int, uncertainty: tuple[float, float] | None = None
) -> SavedReference:
    """Count the rows of ``bins`` merged uncertainty bins in score bins of equal weight.

    ``ranges_for_reference`` marks none of the counts. ``uncertainty`` is the smallest and the largest one;
    None if the rule does not use it.
    """
    total, cumulative = counts[-1], _cumulative(counts)
    of_all = _positions(cumulative.sum(axis=0))
    score_edges, count = [], []
    for rows in _merged(cumulative, bins):
        positions = _positions(rows) if rows[-1] else of_all
        below = np.concatenate([[0], rows])[positions]  # edges begin their bins
        score_edges.append(lowered(total.value[positions], total.value))
        count.append(np.diff(below, prepend=0, append=rows[-1]))
    least, most = widest(total.value[0], total.value[-1])
    lowest, highest = widest(*uncertainty) if uncertainty else (msgspec.UNSET, msgspec.UNSET)
    return SavedReference(
        score_edges=np.stack(score_edges).tolist(),
        count=np.stack(count).tolist(),
        lowest=SavedEnds(score=least, uncertainty=lowest),
        highest=SavedEnds(score=most, uncertainty=highest),
    )


def widest(low: float, high: float) -> tuple[float, float]:
    """Return the lowest and the highest double alike: no 32-bit number of a calibration row is outside."""
    return float(lowest_alike(np.array(low))), float(highest_alike(np.array(high)))


def _cumulative(counts: Sequence[RangeCounts]) -> Ints:
    """Return the rows of each part in and below each range of all rows; int64, shape (parts, ranges)."""
    *parts, total = counts
    if len(parts) == 1:
        return np.cumsum(total.count)[np.newaxis]

    def rows_below(part: RangeCounts) -> Ints:
        return np.concatenate([[0], np.cumsum(part.count)])[_stops(part, total)]

    return np.stack(list(parallel_map(rows_below, parts)))


def _stops(part: RangeCounts, total: RangeCounts) -> Ints:
    """Return the number of a part's ranges in and below each range of all rows, whose ranges are coarser."""
    return np.append(np.searchsorted(part.value, total.value[1:]), len(part.value))


def _merged(cumulative: Ints, bins: int) -> Ints:
    """Add the counts of adjacent parts; shape (bins, ranges)."""
    merged: Ints = cumulative.reshape(bins, -1, cumulative.shape[1]).sum(axis=1)
    return merged


def _positions(cumulative: Ints) -> Ints:
    """Return the ranges with the rows at which score bins begin; empty without rows."""
    rows = int(cumulative[-1])
    return np.searchsorted(cumulative, equal_ranks(rows, SCORE_BINS) if rows else [], side="right")


def with_between(reference: SavedReference, table: Ints) -> SavedReference:
    """Add the covariance between clusters, if there are two, from their rows by cell; shape (C, cells)."""
    counts = counts_of_units(table)
    if counts.present < 2:
        return reference
    between = SavedBetween(
        units=counts.present, effective=counts.effective, covariance=counts.covariance()[0, 0].tolist()
    )
    return msgspec.structs.replace(reference, between=between)


def between_rows(
    reference: SavedReference, edges: Floats, parts: Iterable[tuple[Ints, Rows]]
) -> SavedReference:
    """Add the covariance between clusters, from parts of the rows with the number of each row's cluster.

    ``edges`` are those of uncertainty bins.
    """
    counted = UnitTable()
    for cluster, rows in parts:
        counted.add(cluster, reference.drift_cell(edges, rows), rows.weight)
    return with_between(reference, counted.of(None, number_of_drift_cells(len(reference.score_edges))))


def counts_of_units(count: Ints, unit_of: Ints | None = None) -> UnitCounts:
    """Return the rows of a single class by unit and cell from their table, of shape (units, cells).

    ``unit_of`` has another number for each unit, such as its day; int64, shape (units,).
    """
    place = np.flatnonzero(count)
    cell = (place % count.shape[1]).astype(np.int8)
    unit = place // count.shape[1]
    return UnitCounts(
        unit=unit if unit_of is None else unit_of[unit],
        class_index=np.broadcast_to(np.int8(0), len(unit)),
        cell=cell,
        count=count.ravel()[place],
        shape=(len(count), 1, count.shape[1]),
    )

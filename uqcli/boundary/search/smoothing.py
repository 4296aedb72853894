"""Smoothed rates of grid cells, and the nested boundaries in their order.

The optimum on the calibration set follows the noise of its cells. Smoothed rates rank the cells better on new
data. They are estimated by score over all rows, then by uncertainty bin, then near each cell. Sums have a
fixed order over integer counts, so that results are identical on every engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import groupby, islice

import numpy as np

from uqcli.base.counts import Cells, Floats, Ints, Matrix, NarrowInts
from uqcli.base.records import dataclass
from uqcli.boundary.search.goals import Goal, TopRuns, Tops
from uqcli.kernels.logistic import sigmoid
from uqcli.kernels.neighbours import weighted_sums
from uqcli.kernels.pava import isotonic_means

_POOLED_BINS = 200
_NEWTON_STEPS = 8
_PRIOR_DEVIATION = 0.5
"""Standard deviation of the Gaussian prior on a bin's intercept and slope."""

_PRIOR_ROWS = 100.0
"""Weight of the smoothed rate against a cell's own rate, in rows."""

_GRIDS_TOGETHER = 15
"""Grids that are smoothed together, since the steps of a small one take longer than its numbers.

They are fewer than the rows that isotonic fits step through at once, so that a kernel fits each.
"""

_MIN_RATE = 1e-9
_MAX_SMOOTHED_CELLS = 2048
"""Number of cells per row up to which each is smoothed separately."""


@dataclass(frozen=True, kw_only=True)
class NestedBoundaries:
    """Cells in the order in which they are taken: each prefix is a boundary with one threshold per bin.

    ``order`` has the indices of the cells (by bin, then ascending in score) in that order, ``row`` the
    uncertainty bin of each, and ``from_top`` the number of cells above it in its bin. True positives and
    selected rows are the counts of the prefix that ends with each cell. The smoothed rates are
    non-increasing. All have shape (cells,).
    """

    order: NarrowInts
    row: NarrowInts
    from_top: NarrowInts
    true_positives: Ints
    selected: Ints
    rate: Floats

    @classmethod
    def by_score(cls, cells: Cells) -> NestedBoundaries:
        """Rank the cells of a single uncertainty bin from the highest score down, without smoothed rates."""
        count, positives = cells.flat
        order = np.arange(len(count))[::-1]
        return cls(
            order=order,
            row=np.zeros(len(count), dtype=np.int64),
            from_top=np.arange(len(count)),
            true_positives=np.cumsum(positives[order]),
            selected=np.cumsum(count[order]),
            rate=np.zeros(len(count)),
        )

    def runs(self, cells: Cells) -> TopRuns:
        """Return the counts of each prefix, with the sums of amounts, in the cells that were ranked."""
        sums = np.cumsum(cells.flat_sums[..., self.order], axis=-1)
        return TopRuns(true_positives=self.true_positives, selected=self.selected, sums=sums)

    def counts_of(self, cells: Cells) -> tuple[Ints, Ints]:
        """Return the true positives and selected rows of each prefix for other rows in the same cells."""
        count, positives = cells.flat
        return np.cumsum(positives[self.order]), np.cumsum(count[self.order])

    def tops(self, last: int, bins: int) -> tuple[int, ...]:
        """Return the number of top cells of each uncertainty bin in the prefix that ends at a position."""
        return tuple(np.bincount(self.row[: last + 1], minlength=bins).tolist())

    def filled(self, cells: Cells) -> NestedBoundaries:
        """Rank the cells with rows only, as ``Cells.filled`` has them; each keeps its place from the top.

        Indices are 32 bits wide, since there are many grids.
        """
        has_rows = cells.flat[0] > 0
        kept, number = has_rows[self.order], np.cumsum(has_rows) - 1
        order, row, from_top = (
            column[kept].astype(np.int32) for column in (number[self.order], self.row, self.from_top)
        )
        return NestedBoundaries(
            order=order,
            row=row,
            from_top=from_top,
            true_positives=self.true_positives[kept],
            selected=self.selected[kept],
            rate=self.rate[kept],
        )

    def best_for(self, goal: Goal, cells: Cells) -> Tops | None:
        """Find the best boundary for a goal in the cells that were ranked; None if none meets it."""
        best = goal.best_of(self.runs(cells))
        return None if best is None else self.tops(best, len(cells.rows))


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """Edges of a grid's cells, by bin, then ascending in score; bins may differ in length.

    ``lower`` is the lower edge of each cell, shape (1, cells), or (tables, cells) of several grids, and
    ``sizes`` the number of cells in each uncertainty bin.
    """

    lower: Matrix
    sizes: tuple[int, ...]

    @classmethod
    def from_cells(cls, *grids: Cells) -> Layout:
        """Return the layout of a grid, or of several that have equal numbers of cells."""
        lower = np.stack([np.concatenate([row.lower for row in cells.rows]) for cells in grids])
        return cls(lower=lower, sizes=grids[0].sizes)

    @cached_property
    def row(self) -> Ints:
        """Uncertainty bin of each cell."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def from_top(self) -> Ints:
        """Number of cells above each in its bin."""
        return np.concatenate([np.arange(size)[::-1] for size in self.sizes])

    @cached_property
    def tie(self) -> Ints:
        """Rank of each cell's lower edge among the distinct ones, in the shape of the edges."""
        return np.stack([np.unique(lower, return_inverse=True)[1] for lower in self.lower])

    @cached_property
    def cells_by_length(self) -> list[Ints]:
        """Cell indices of bins with equal numbers of cells; int64, shape (bins, length) for each length."""
        first = np.cumsum([0, *self.sizes])
        sizes = np.array(self.sizes)
        lengths = sorted(set(self.sizes) - {0})
        return [first[np.flatnonzero(sizes == length), None] + np.arange(length) for length in lengths]


def nested_boundaries(cells: Cells) -> NestedBoundaries:
    """Rank the cells of a grid by smoothed rates; ties by position from the top, then by bin."""
    (nested,) = nested_of_draws(Layout.from_cells(cells), *(column[None] for column in cells.flat))
    return nested


def nested_of_each(grids: Iterable[Cells]) -> Iterator[tuple[Cells, NestedBoundaries]]:
    """Rank the cells of each grid by itself, with some adjacent ones of equal numbers of cells at a time."""
    for _, alike in groupby(grids, key=lambda cells: cells.sizes):
        while together := list(islice(alike, _GRIDS_TOGETHER)):
            columns = map(np.stack, zip(*(cells.flat for cells in together), strict=True))
            yield from zip(together, nested_of_draws(Layout.from_cells(*together), *columns), strict=True)


def nested_of_draws(layout: Layout, count: Ints, positives: Ints) -> Iterator[NestedBoundaries]:
    """Rank the cells for each of several tables of counts, int64 of shape (draws, cells).

    Each has its own edges if the layout has those of as many tables.
    """
    rates = smoothed_rates(layout, count, positives)
    for rate, n, p in zip(rates, count, positives, strict=True):
        order = np.lexsort((layout.row, layout.from_top, -rate))
        yield NestedBoundaries(
            order=order,
            row=layout.row[order],
            from_top=layout.from_top[order],
            true_positives=np.cumsum(p[order]),
            selected=np.cumsum(n[order]),
            rate=rate[order],
        )


def smoothed_rates(layout: Layout, count: Ints, positives: Ints) -> Floats:
    """Compute the smoothed rates of cells, non-decreasing in the score within each uncertainty bin.

    The counts of several tables, shape (draws, cells), are each smoothed separately.
    """
    total = np.maximum(count.sum(axis=1, keepdims=True), 1)
    log_odds = _pooled_log_odds(layout, count, positives, total)
    mean = ((count * log_odds).sum(axis=1, keepdims=True) / total)[..., None]
    bins = len(layout.sizes)
    width = (0.2 * np.maximum(total / bins, 1.0) ** -0.2)[..., None]
    rates = np.empty_like(log_odds)
    for indices in layout.cells_by_length:
        n, p = np.take(count, indices, axis=1), np.take(positives, indices, axis=1)
        x = np.take(log_odds, indices, axis=1)
        rate = sigmoid(x) if bins == 1 else _isotonic(_by_bin(x, n, p, mean), n)
        rates[:, indices] = _isotonic(rate + _correction(p - n * rate, n, width), n)
    return rates


def _pooled_log_odds(layout: Layout, count: Ints, positives: Ints, total: Ints) -> Floats:
    """Compute the log-odds of each cell from its rank alone: isotonic local-linear rates of 200 pooled bins.

    The rank is by lower edge, with ties pooled: the share of rows before it plus half of its own. Tables with
    equal sums at each edge, as permutations of the uncertainty have, share one fit.
    """
    ties = int(layout.tie.max(initial=-1)) + 1
    tie = np.broadcast_to(layout.tie, count.shape)
    tied_rows, tied_hits = (_sums_by_index(tie, sums, ties).astype(np.int64) for sums in (count, positives))
    different, which = _distinct(
        [b"".join(parts) for parts in zip(*map(_as_bytes, (tied_rows, tied_hits, tie)), strict=True)]
    )
    if len(different) < len(count):
        own = layout if len(layout.lower) == 1 else replace(layout, lower=layout.lower[different])
        fitted = _pooled_log_odds(own, count[different], positives[different], total[different])
        shared: Floats = fitted[which]
        return shared
    twice_rank = np.take_along_axis(2 * (np.cumsum(tied_rows, axis=1) - tied_rows) + tied_rows, tie, axis=1)
    index = np.minimum(_POOLED_BINS * twice_rank // (2 * total), _POOLED_BINS - 1)
    rows, hits = _sums_by_index(index, count, _POOLED_BINS), _sums_by_index(index, positives, _POOLED_BINS)
    centre = (np.arange(_POOLED_BINS) + 0.5) / _POOLED_BINS
    width = np.maximum(0.2 * total**-0.2, 1 / _POOLED_BINS)
    rate = np.clip(_local_linear(rows, hits, width), 0.3 / total, 1 - 0.3 / total)
    fitted = _isotonic(rate, rows)
    log_odds = np.log(fitted) - np.log1p(-fitted)
    return np.stack(
        [np.interp(r, centre, x) for r, x in zip(twice_rank / (2 * total), log_odds, strict=True)]
    )


def _as_bytes(table: Ints | Floats) -> list[bytes]:
    """Return each row of a table as a key."""
    return [row.tobytes() for row in table]


def _distinct(keys: list[bytes]) -> tuple[list[int], Ints]:
    """Return the position of the first of each distinct key, and for each key which of these it equals."""
    first: dict[bytes, int] = {}
    position = [first.setdefault(key, index) for index, key in enumerate(keys)]
    different = list(first.values())
    return different, np.searchsorted(different, position)


def _sums_by_index(index: Ints, amount: Ints, size: int) -> Floats:
    """Compute the sums of integers by index for each draw; exact below 2**53, shape (draws, size)."""
    draws = len(index)
    shifted = (index + size * np.arange(draws)[:, None]).ravel()
    sums = np.bincount(shifted, weights=amount.ravel(), minlength=draws * size).astype(np.float64)
    return sums.reshape(draws, size)


def _local_linear(rows: Floats, hits: Floats, width: Floats) -> Floats:
    """Compute the local-linear regression with Gaussian weights; local means if it is degenerate."""
    distance = np.arange(1 - _POOLED_BINS, _POOLED_BINS) / _POOLED_BINS
    different, which = _distinct(_as_bytes(width))
    weight = np.exp(-0.5 * (distance / width[different]) ** 2)
    both = np.stack([rows, hits], axis=1)
    (s0, t0), (s1, t1) = (
        np.moveaxis(weighted_sums(weight * distance**power, which, both), 1, 0) for power in range(2)
    )
    s2 = weighted_sums(weight * distance**2, which, rows)
    determinant = s0 * s2 - s1**2
    flat = determinant <= 1e-9 * s0**2 * width**2
    with np.errstate(invalid="ignore", divide="ignore"):
        linear, mean = (s2 * t0 - s1 * t1) / determinant, t0 / s0
    rate: Floats = np.nan_to_num(np.where(flat, mean, linear))
    return rate


def _by_bin(log_odds: Floats, count: Ints, positives: Ints, mean: Floats) -> Floats:
    """Compute the rates with an intercept and a slope per uncertainty bin, both shrunk towards none.

    Log-odds and counts have shape (draws, bins, length). ``mean`` are the mean log-odds over all rows, shape
    (draws, 1, 1).
    """
    centred = log_odds - mean
    intercept = slope = np.zeros((*centred.shape[:2], 1))
    penalty = 1 / _PRIOR_DEVIATION**2

    def summed(values: Floats) -> Floats:
        total: Floats = values.sum(axis=-1, keepdims=True)
        return total

    for _ in range(_NEWTON_STEPS):
        rate = sigmoid(log_odds + intercept + slope * centred)
        excess, spread = positives - count * rate, count * rate * (1 - rate)
        by_level, by_slope = summed(excess) - penalty * intercept, summed(excess * centred) - penalty * slope
        spread_centred = spread * centred
        a, b = summed(spread) + penalty, summed(spread_centred)
        c = summed(spread_centred * centred) + penalty
        determinant = a * c - b**2
        intercept = intercept + (c * by_level - b * by_slope) / determinant
        slope = slope + (a * by_slope - b * by_level) / determinant
    return sigmoid(log_odds + intercept + slope * centred)


def _correction(excess: Floats, count: Ints, width: Floats) -> Floats:
    """Compute the local correction: residuals of nearby cells; shape (draws, bins, length).

    In very long rows neighbours are pooled, since the weights grow with the square of the cells. The width
    has shape (draws, 1, 1).
    """
    size = excess.shape[-1]
    groups = min(size, _MAX_SMOOTHED_CELLS)
    rows = count.astype(np.float64)
    if groups < size:
        starts = -(-np.arange(groups) * size // groups)
        excess, rows = (np.add.reduceat(values, starts, axis=-1) for values in (excess, rows))
    distance = np.arange(1 - groups, groups) / groups
    different, which = _distinct(_as_bytes(width))
    weight = np.exp(-0.5 * (distance / np.maximum(width[different, 0], 1 / size)) ** 2)
    excess, rows = (weighted_sums(weight, which, values) for values in (excess, rows))
    correction: Floats = excess / (rows + _PRIOR_ROWS)
    if groups == size:
        return correction
    centre, position = (np.arange(groups) + 0.5) / groups, (np.arange(size) + 0.5) / size
    return np.apply_along_axis(lambda values: np.interp(position, centre, values), -1, correction)


def _isotonic(rate: Floats, count: Ints | Floats) -> Floats:
    """Make rates non-decreasing along the last axis."""
    weight = np.maximum(count.astype(np.float64), _MIN_RATE)
    flat_shape = (-1, rate.shape[-1])
    value = np.clip(rate, _MIN_RATE, 1 - _MIN_RATE)
    return isotonic_means(value.reshape(flat_shape), weight.reshape(flat_shape)).reshape(rate.shape)

"""Smoothed rates of a grid's cells, and the nested boundaries that they rank.

The optimum on the hold-out rows follows their noise from cell to cell. Rates that borrow from their
neighbours rank the cells better on new rows: first over all scores together, then by uncertainty bin, then
near each cell. Sums of numbers are made in one order over integer counts, so they are the same bytes
wherever the counts come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uqcli.counts import Cells, Floats, Ints
from uqcli.kernels.linear import solved
from uqcli.kernels.logistic import sigmoid
from uqcli.kernels.pava import isotonic_means

_PLACES = 200
_STEPS = 8
_SPREAD = 0.5
"""Standard deviation of the penalty on a bin's intercept and slope."""

_PRIOR_ROWS = 100.0
"""Rows that the smoothed rate counts for against a cell's own."""

_NEAREST = 1e-9
_MOST_PLACES = 2048
"""Places in a row of cells up to which each is its own."""


@dataclass(frozen=True, kw_only=True)
class NestedBoundaries:
    """Cells in the order in which they are taken: each prefix is a boundary, one threshold in each bin.

    Attributes
    ----------
    order : int64, shape (cells,)
        Places of the cells, bin after bin and from the lowest up, in that order.
    row : int64, shape (cells,)
        Uncertainty bin of each cell.
    true_positives, selected : int64, shape (cells,)
        What the prefix that ends with a cell holds.
    rate : float64, shape (cells,)
        Smoothed rates, falling.
    """

    order: Ints
    row: Ints
    true_positives: Ints
    selected: Ints
    rate: Floats

    def counts_of(self, cells: Cells) -> tuple[Ints, Ints]:
        """True positives and selected rows of each prefix among other rows under the same edges."""
        return _cumulated(cells, self.order)

    def tops(self, last: int, bins: int) -> tuple[int, ...]:
        """Cells taken from the top of each uncertainty bin by the prefix that ends at a place."""
        return tuple(np.bincount(self.row[: last + 1], minlength=bins).tolist())


def nested_boundaries(cells: Cells) -> NestedBoundaries:
    """Rank the cells of a grid by their smoothed rates; ties by place from the top, then by bin."""
    rates = smoothed_rates(cells)
    row = np.concatenate([np.full(len(each), number) for number, each in enumerate(rates)])
    from_top = np.concatenate([np.arange(len(each))[::-1] for each in rates])
    rate = np.concatenate(rates)
    order = np.lexsort((row, from_top, -rate))
    true_positives, selected = _cumulated(cells, order)
    return NestedBoundaries(
        order=order, row=row[order], true_positives=true_positives, selected=selected, rate=rate[order]
    )


def _cumulated(cells: Cells, order: Ints) -> tuple[Ints, Ints]:
    positives = np.concatenate([each.positives for each in cells.rows])[order]
    count = np.concatenate([each.count for each in cells.rows])[order]
    return np.cumsum(positives), np.cumsum(count)


def smoothed_rates(cells: Cells) -> list[Floats]:
    """Rates of each uncertainty bin's cells, not falling with the score; float64 of shape (L,) each."""
    place = _places(cells)
    log_odds = _pooled_log_odds(cells, place)
    rates = [sigmoid(each) for each in log_odds]
    if len(cells.rows) > 1:
        size = np.concatenate([row.count for row in cells.rows])
        mean = float((size * np.concatenate(log_odds)).sum() / max(cells.total, 1))
        rates = [
            _isotonic(_by_bin(each, row.count, row.positives, mean), row.count)
            for each, row in zip(log_odds, cells.rows, strict=True)
        ]
    width = 0.2 * max(cells.total / len(cells.rows), 1.0) ** -0.2
    return [_near(rate, row.count, row.positives, width) for rate, row in zip(rates, cells.rows, strict=True)]


def _places(cells: Cells) -> list[Ints]:
    """Pooled place of each cell, 0 to 199: its rank by lower edge, in rows of data, ties together.

    It is the number of rows before the cell plus half its own, over all rows, in steps of a 200th.
    """
    lower = np.concatenate([row.lower for row in cells.rows])
    count = np.concatenate([row.count for row in cells.rows])
    _, tie = np.unique(lower, return_inverse=True)
    own = np.bincount(tie, weights=count).astype(np.int64)
    twice = 2 * (np.cumsum(own) - own) + own
    return list(np.split(twice[tie], np.cumsum([len(row.count) for row in cells.rows])[:-1]))


def _pooled_log_odds(cells: Cells, twice: Sequence[Ints]) -> list[Floats]:
    """Log-odds of a cell by its place alone: local-linear rates of 200 pooled bins, isotonic."""
    total = max(cells.total, 1)
    rows, hits = np.zeros(_PLACES), np.zeros(_PLACES)
    for row, each in zip(cells.rows, twice, strict=True):
        place = np.minimum(_PLACES * each // (2 * total), _PLACES - 1)
        rows += np.bincount(place, weights=row.count, minlength=_PLACES)
        hits += np.bincount(place, weights=row.positives, minlength=_PLACES)
    centre = (np.arange(_PLACES) + 0.5) / _PLACES
    width = max(0.2 * total**-0.2, 1 / _PLACES)
    rate = np.clip(_local_linear(centre, rows, hits, width), 0.3 / total, 1 - 0.3 / total)
    fitted = _isotonic(rate, rows)
    log_odds = np.log(fitted) - np.log1p(-fitted)
    return [np.interp(each / (2 * total), centre, log_odds) for each in twice]


def _local_linear(centre: Floats, rows: Floats, hits: Floats, width: float) -> Floats:
    """Rates at the centres by local-linear regression, Gaussian weights; local means where it is flat."""
    distance = centre[None, :] - centre[:, None]
    weight = np.exp(-0.5 * (distance / width) ** 2)
    s0, s1, s2 = ((weight * rows * distance**power).sum(axis=1) for power in range(3))
    t0, t1 = ((weight * hits * distance**power).sum(axis=1) for power in range(2))
    determinant = s0 * s2 - s1**2
    flat = determinant <= 1e-9 * s0**2 * width**2
    with np.errstate(invalid="ignore", divide="ignore"):
        linear, mean = (s2 * t0 - s1 * t1) / determinant, t0 / s0
    rate: Floats = np.nan_to_num(np.where(flat, mean, linear))
    return rate


def _by_bin(log_odds: Floats, count: Ints, positives: Ints, mean: float) -> Floats:
    """Rates of one uncertainty bin: an intercept and a slope of its own, drawn towards none."""
    centred = log_odds - mean
    design = np.stack([np.ones_like(centred), centred])
    coefficients = np.zeros(2)
    for _ in range(_STEPS):
        rate = sigmoid(log_odds + coefficients[0] + coefficients[1] * centred)
        spread = count * rate * (1 - rate)
        gradient = (design * (positives - count * rate)).sum(axis=1) - coefficients / _SPREAD**2
        curvature = (design[:, None, :] * design[None, :, :] * spread).sum(axis=2)
        coefficients = coefficients + solved(curvature + np.eye(2) / _SPREAD**2, gradient)
    return sigmoid(log_odds + coefficients[0] + coefficients[1] * centred)


def _near(rate: Floats, count: Ints, positives: Ints, width: float) -> Floats:
    """Rates corrected by what the cells nearby show beyond them, isotonic.

    Neighbours of a very long row are taken together: it would be as many weights as cells squared.
    """
    size = len(rate)
    if size == 0:  # an uncertainty bin that no row is in
        return rate
    groups = min(size, _MOST_PLACES)
    group = np.arange(size) * groups // size
    beyond = np.bincount(group, weights=positives - count * rate, minlength=groups)
    rows = np.bincount(group, weights=count, minlength=groups)
    centre = (np.arange(groups) + 0.5) / groups
    distance = centre[:, None] - centre[None, :]
    weight = np.exp(-0.5 * (distance / max(width, 1 / size)) ** 2)
    correction = (weight * beyond).sum(axis=1) / ((weight * rows).sum(axis=1) + _PRIOR_ROWS)
    if groups < size:
        correction = np.interp((np.arange(size) + 0.5) / size, centre, correction)
    return _isotonic(rate + correction, count)


def _isotonic(rate: Floats, count: Ints | Floats) -> Floats:
    weight = np.maximum(count.astype(np.float64), _NEAREST)
    return isotonic_means(np.clip(rate, _NEAREST, 1 - _NEAREST), weight)

"""Simultaneous band of the calibration curve: within what the probabilities are calibrated.

The rate of every block of neighbouring score cells has an exact interval, and all intervals hold together. A
lower limit above all scores of its block proves a deviation there. If the curve does not fall, a block bounds
it at all scores beyond the block too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from scipy.special import betainc, betaincinv, ndtri

from uqcli.base.blockwise import parts
from uqcli.base.counts import Bools, Floats, Ints, ValueCounts, distinct_numbers
from uqcli.base.records import dataclass
from uqcli.base.running.concurrency import parallel_map
from uqcli.estimates.proportion import POWER
from uqcli.kernels.sums import indices_of_ranks, sums_from
from uqcli.kernels.units import dense_ranks

_MAX_CELLS: Final = 200
"""Cells of the scores: their 20,100 blocks take a tenth of a second."""

_BLOCKS_PER_TASK: Final = 1 << 10
"""Blocks whose limits a thread computes at once."""

_MAX_KNOWN: Final = 1 << 18
"""Limits that are kept for other classes."""

_CELLS_PER_TASK: Final = 8
"""Cells whose rows a thread counts at once by their deviations."""

_DISTANCE_BINS: Final = 1 << 16
"""Bins of deviations, of which one is looked at in full."""

_CANDIDATES: Final = 64
"""Blocks for which the detectable deviation is computed exactly."""

_FEW_SCORES: Final = 1 << 17
"""Distinct scores up to which all cells are taken together, as of each of many classes."""


BAND_METRICS: Final = ("within", "within_low", "within_runs", "within_detectable")
"""Deviations that a band shows."""


@dataclass(frozen=True, kw_only=True)
class Band:
    """Band that contains the calibration curve at all scores with the given confidence.

    Attributes
    ----------
    first, last : float64, shape (C,)
        Lowest and highest score of each cell.
    low, high : float64, shape (C,)
        Lower limit of the curve from ``last`` on, and upper limit up to ``first``.
    within
        Deviation of score and rate that 95 % of rows do not exceed, if the curve does not fall; None if it is
        proved to fall.
    within_low
        Largest deviation that is proved; 0 if none is.
    within_runs
        Deviation of mean score and rate that no range of scores with a twentieth of the rows exceeds.
    detectable
        Smallest deviation, the same at all scores, that is proved with probability ``POWER``; None if
        none is.
    """

    first: Floats
    last: Floats
    low: Floats
    high: Floats
    within: float | None
    within_low: float
    within_runs: float
    detectable: float | None

    def metrics(self) -> dict[str, float | None]:
        """Return the deviations as metrics."""
        values = (self.within, self.within_low, self.within_runs, self.detectable)
        return dict(zip(BAND_METRICS, values, strict=True))


@dataclass(frozen=True, kw_only=True)
class _Blocks:
    """All runs of cells i to j, and the level of one side of each interval."""

    first_cell: Ints
    last_cell: Ints
    first: Floats
    last: Floats
    mean: Floats
    count: Ints
    positives: Ints
    tail: float


class BlockLimits:
    """Clopper-Pearson limits that are computed once for several bands, since classes share most of them."""

    def __init__(self) -> None:
        none = np.empty(0)
        self._known = (0.0, none.astype(np.int64), none, none)

    def find(self, positives: Ints, count: Ints, tail: float) -> tuple[Floats, Floats]:
        """Return the limits with the given probability on each side; float64, shape (blocks,) each.

        A rare class has the same few positives in many blocks of equal size.
        """
        if int(count.max()) >= 1 << 31:
            return _limits(positives, count, tail)
        pair, which = _distinct_pairs(positives, count)
        known_tail, known, lows, highs = self._known
        if tail != known_tail:
            known, lows, highs = known[:0], lows[:0], highs[:0]
        new = pair[~np.isin(pair, known, assume_unique=True)]
        if len(new):
            place = np.searchsorted(known, new)
            low, high = _limits(new >> 32, new & 0xFFFFFFFF, tail)
            known = np.insert(known, place, new)
            lows, highs = np.insert(lows, place, low), np.insert(highs, place, high)
            if len(known) <= _MAX_KNOWN:  # replaced as a whole: other threads go on with what they took
                self._known = (tail, known, lows, highs)
        place = np.searchsorted(known, pair)
        return lows[place][which], highs[place][which]


def _distinct_pairs(positives: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return the distinct pairs, ascending, each as one number, and the index of each block's pair."""
    width = int(count.max()) + 1
    pair, index = dense_ranks(positives * width + count)  # codes of few pairs are close to each other
    return pair // width << 32 | pair % width, index


def calibration_band(counts: ValueCounts, confidence: float, limits: BlockLimits | None = None) -> Band:
    """Compute the band from tie-pooled probabilities.

    The intervals are those of Clopper and Pearson. They hold for unequal probabilities too (Hoeffding 1956).

    Parameters
    ----------
    counts
        Scores in [0, 1], at least one.
    confidence
        Of the whole band, in (0, 1).
    limits
        What the bands of several classes share.
    """
    cells = _cells(counts)
    blocks = _blocks(counts, cells, confidence)
    low, high = (limits or BlockLimits()).find(blocks.positives, blocks.count, blocks.tail)
    lower, upper = np.zeros(len(cells)), np.ones(len(cells))
    np.maximum.at(lower, blocks.last_cell, low)
    np.minimum.at(upper, blocks.first_cell, high)
    lower = np.maximum.accumulate(lower)
    upper = np.minimum.accumulate(upper[::-1])[::-1]
    first, last = counts.value[cells], counts.value[np.append(cells[1:], len(counts.value)) - 1]
    long_enough = blocks.count * 20 >= counts.rows
    distance = np.maximum(high - blocks.mean, blocks.mean - low)[long_enough]
    falls = bool((lower[:-1] > upper[1:]).any())
    return Band(
        first=first,
        last=last,
        low=lower,
        high=upper,
        within=None if falls else _farthest(counts, cells, lower, upper),
        within_low=max(0.0, float((lower - last).max()), float((first - upper).max())),
        within_runs=float(distance.max()),
        detectable=_detectable(blocks),
    )


def _cells(counts: ValueCounts) -> Ints:
    """Return the first atom of each cell: at most ``_MAX_CELLS`` of whole atoms, equal in rows."""
    rows = counts.rows
    # a cell begins with the first atom that has so many rows before it
    least_before = np.array(sorted({-(-cell * rows // _MAX_CELLS) for cell in range(1, _MAX_CELLS)}))
    begins = indices_of_ranks(counts.count, least_before - 1) + 1
    return distinct_numbers(np.concatenate([[0], begins[begins < len(counts.value)]]))


def _blocks(counts: ValueCounts, cells: Ints, confidence: float) -> _Blocks:
    """Sum the rows, positives and scores of every run of cells."""

    def score_sum(cell: tuple[Floats, Ints]) -> float:
        value, count = cell
        return float(np.add.reduceat(value * count, [0])[0])

    if len(counts.value) <= _FEW_SCORES:
        sums = np.add.reduceat(counts.value * counts.count, cells)
    else:
        sums = np.array(list(parallel_map(score_sum, _by_cell(counts, cells))))
    totals = [
        np.concatenate([[0], np.cumsum(amount)])
        for amount in (sums_from(counts.count, cells), sums_from(counts.positives, cells), sums)
    ]
    first_cell, last_cell = _runs(len(cells))
    rows, positives, score = (total[last_cell + 1] - total[first_cell] for total in totals)
    ends = np.append(cells[1:], len(counts.value)) - 1
    return _Blocks(
        first_cell=first_cell,
        last_cell=last_cell,
        first=counts.value[cells[first_cell]],
        last=counts.value[ends[last_cell]],
        mean=score / rows,
        count=rows,
        positives=positives,
        tail=(1 - confidence) / (2 * len(rows)),
    )


@lru_cache(maxsize=1)  # classes mostly have equal numbers of cells
def _runs(cells: int) -> tuple[Ints, Ints]:
    """Return the first and the last cell of each run of cells."""
    return np.triu_indices(cells)


def _limits(positives: Ints, count: Ints, tail: float) -> tuple[Floats, Floats]:
    """Compute the Clopper-Pearson limits with the given probability on each side."""
    negatives = count - positives

    def limits(part: slice) -> tuple[Floats, Floats]:
        a, b = positives[part], negatives[part]
        low = np.where(a > 0, betaincinv(np.maximum(a, 1), b + 1, tail), 0.0)
        return low, np.where(b > 0, betaincinv(a + 1, np.maximum(b, 1), 1 - tail), 1.0)

    lows, highs = zip(*parallel_map(limits, parts(len(count), _BLOCKS_PER_TASK)), strict=True)
    return np.concatenate(lows), np.concatenate(highs)


def _by_cell(counts: ValueCounts, cells: Ints) -> Iterator[tuple[Floats, Ints]]:
    for start, stop in pairwise([*cells.tolist(), len(counts.value)]):
        yield counts.value[start:stop], counts.count[start:stop]


def _farthest(counts: ValueCounts, cells: Ints, lower: Floats, upper: Floats) -> float:
    """Return the smallest distance that 95 % of rows do not exceed: its bin first, then the exact value."""
    below, above = np.concatenate([[0.0], lower]), np.concatenate([upper, [1.0]])

    if len(counts.value) <= _FEW_SCORES:
        ends = np.append(cells[1:], len(counts.value))
        cell = np.repeat(np.arange(len(cells)), ends - cells)
        high, low = above[cell + 1], below[cell]
        high[cells], low[ends - 1] = above[:-1], below[1:]  # as inside and at the ends of a cell below
        return _quantile(np.maximum(high - counts.value, counts.value - low), counts.count, 0, counts.rows)

    def distances(item: tuple[int, tuple[Floats, Ints]]) -> tuple[Floats, Ints, Ints]:
        """Return how far the curve may be from each atom of a cell, with its bin, and the atoms' counts."""
        cell, (value, count) = item
        # inside a cell the cells around it count, at its ends the cell itself
        distance = np.maximum(above[cell + 1] - value, value - below[cell])
        last = len(value) - 1
        for atom in {0, last}:
            high = above[cell if atom == 0 else cell + 1]
            low = below[cell + 1 if atom == last else cell]
            distance[atom] = max(high - value[atom], value[atom] - low)
        return distance, (distance * _DISTANCE_BINS).astype(np.int64), count

    def rows_by_bin(items: Sequence[tuple[int, tuple[Floats, Ints]]]) -> Floats:
        rows = np.zeros(_DISTANCE_BINS + 1)
        for item in items:
            _, bins, count = distances(item)
            rows += np.bincount(bins, weights=count, minlength=_DISTANCE_BINS + 1)
        return rows

    def inside(item: tuple[int, tuple[Floats, Ints]]) -> tuple[Floats, Ints]:
        distance, bins, count = distances(item)
        return distance[bins == bin_index], count[bins == bin_index]

    numbered = list(enumerate(_by_cell(counts, cells)))
    tasks = [numbered[part] for part in parts(len(numbered), _CELLS_PER_TASK)]
    rows = np.sum(list(parallel_map(rows_by_bin, tasks)), axis=0)
    covered = np.cumsum(rows.astype(np.int64))
    bin_index = int(np.searchsorted(20 * covered, 19 * covered[-1]))
    inner = parallel_map(inside, numbered)
    distance, count = (np.concatenate(pieces) for pieces in zip(*inner, strict=True))
    return _quantile(distance, count, int(covered[bin_index]) - int(rows[bin_index]), int(covered[-1]))


def _quantile(distance: Floats, count: Ints, before: int, rows: int) -> float:
    """Return the distance that 95 % of rows do not exceed; ``before`` have smaller ones than all of these."""
    order = np.argsort(distance)
    reached = np.cumsum(count[order], dtype=np.int64) + before
    return float(distance[order[np.searchsorted(20 * reached, 19 * rows)]])


def _detectable(blocks: _Blocks) -> float | None:
    """Return the deviation to either side that some block proves with probability ``POWER``."""
    too_low = _least_shift(blocks.last, blocks.mean, blocks.count, blocks.tail)
    too_high = _least_shift(1 - blocks.first, 1 - blocks.mean, blocks.count, blocks.tail)
    detected = [shift for shift in (too_low, too_high) if shift is not None]
    return max(detected, default=None)


def _least_shift(score: Floats, mean: Floats, count: Ints, tail: float) -> float | None:
    """Return the least excess over the mean score that lifts a block's lower limit above its scores.

    A block counts only if all of its rates can be that much higher.
    """
    rows = count.astype(np.float64)
    estimate = score * (1 - score)  # in place: there are twenty thousand blocks for each class
    estimate /= rows
    np.sqrt(estimate, out=estimate)
    estimate *= -ndtri(tail) + ndtri(POWER)
    estimate += 1 / rows
    estimate += score - mean
    impossible = score + estimate > 1
    least = estimate[~impossible]
    most = np.partition(least, _CANDIDATES)[_CANDIDATES] if len(least) > _CANDIDATES else np.inf
    near = np.flatnonzero(estimate <= most)  # to sort all of them takes longer
    nearest = near[np.lexsort([estimate[near], impossible[near]])[:_CANDIDATES]]
    score, mean, count = score[nearest], mean[nearest], count[nearest]
    fewest = _fewest_positives(score, count, tail)
    shift = betaincinv(fewest, np.maximum(count - fewest + 1, 1), POWER) - mean
    possible = (fewest <= count) & (score + shift <= 1)
    return float(shift[possible].min()) if possible.any() else None


def _fewest_positives(score: Floats, count: Ints, tail: float) -> Ints:
    """Find the fewest positives whose lower limit is above the score; ``count + 1`` if none is."""
    reject, accept = count + 1, np.zeros_like(count)
    while (reject - accept > 1).any():
        middle = (reject + accept) // 2
        above: Bools = betainc(np.maximum(middle, 1), count - middle + 1, score) < tail
        above &= middle > accept  # not where the search has ended
        reject, accept = np.where(above, middle, reject), np.where(above, accept, middle)
    return reject

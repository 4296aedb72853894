"""Score cells within which rows are labelled alike, so that the labelled ones stand for all.

Which rows have a label depends on the score: a team may review all rows above a score, and a few below. A
regression tree finds the scores at which the labelled share jumps, and equal bins follow a share that
changes smoothly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from uqcli.base.counts import Floats, Ints
from uqcli.base.records import dataclass

_ATOMS: Final = 200
"""Equi-weight parts of the scores at whose ends the share may jump, before the exact score is found."""

_LEAF: Final = 3
"""Least labels on either side of a jump. With more, a jump near the rule's own cut stays inside a bin."""

_BIN: Final = (50, 10)
"""Least rows and labels of a bin of a leaf."""

_SPLIT_LEVEL: Final = 0.001
"""Level of the test of a split, for all splits of a node together."""

CHANGE_LEVEL: Final = 0.01
"""Level of the tests that the labelled share does not change inside a cell, for all cells together."""

_BINS: Final = 20
"""Most bins of a leaf; with 5, rates with a share that changes smoothly are covered as little as 57 %."""


@dataclass(frozen=True, kw_only=True)
class ScoreCell:
    """Rows with scores in an interval.

    Attributes
    ----------
    first
        Lowest score.
    rows, labelled
        All rows, and those with a label.
    change_p
        P-value of the hypothesis that the labelled share does not change with the score inside.
    halves_differ
        Whether the labelled shares of the lower and the upper half of the rows differ by more than a factor
        of two.
    """

    first: float
    rows: int
    labelled: int
    change_p: float
    halves_differ: bool


def score_cells(score: Floats, rows: Ints, labelled: Ints) -> list[ScoreCell]:
    """Divide rows into cells of the score.

    Parameters
    ----------
    score : float64, shape (n,)
        Distinct, ascending.
    rows, labelled : int64, shape (n,)
        Rows with each score, at least one, and those of them with a label.
    """
    totals = [np.concatenate([[0], np.cumsum(counts)]) for counts in (rows, labelled)]
    ranks = np.arange(1, _ATOMS) * int(totals[0][-1]) // _ATOMS
    ends = np.unique(np.searchsorted(totals[0], ranks, side="left"))
    bounds = [0, *ends[(ends > 0) & (ends < len(score))].tolist(), len(score)]
    leaves = [0, *_splits(bounds, *totals), len(score)]
    cells = []
    for start, stop in pairwise(leaves):
        for low, high in pairwise([start, *_bin_ends(start, stop, *totals), stop]):
            inside = slice(low, high)
            cells.append(
                ScoreCell(
                    first=float(score[low]),
                    rows=int(rows[inside].sum()),
                    labelled=int(labelled[inside].sum()),
                    change_p=_change_p(low, high, *totals),
                    halves_differ=_halves_differ(rows[inside], labelled[inside]),
                )
            )
    return cells


def _splits(bounds: Sequence[int], rows: Ints, labelled: Ints) -> Iterator[int]:
    """Yield the places, ascending, where a tree splits the scores.

    Parameters
    ----------
    bounds
        Ascending places at which the part may be split, with its ends.
    rows, labelled
        Numbers before each place.
    """
    start, stop = bounds[0], bounds[-1]
    inner = np.array(bounds[1:-1], dtype=np.int64)
    gains = _gains((start, stop), inner, rows, labelled, _LEAF)
    if _jump_p(gains) >= _SPLIT_LEVEL:
        return
    best = int(gains.argmax())
    near = np.arange(bounds[best] + 1, bounds[best + 2])
    place = int(near[_gains((start, stop), near, rows, labelled, _LEAF).argmax()])
    yield from _splits([bound for bound in bounds if bound < place] + [place], rows, labelled)
    yield place
    yield from _splits([place] + [bound for bound in bounds if bound > place], rows, labelled)


def _jump_p(gains: Floats) -> float:
    """Return the p-value of the largest fall of the deviance (Bonferroni)."""
    from scipy.special import chdtrc

    largest = gains.max(initial=0.0)
    return float(min(1.0, len(gains) * chdtrc(1, largest))) if largest > 0 else 1.0


def _gains(part: tuple[int, int], places: Ints, rows: Ints, labelled: Ints, least: int) -> Floats:
    """Return the fall of the binomial deviance by a split at each place, -1 with too few labels on a side."""
    sides = [
        [total[end] - total[start] for total in (rows, labelled)]
        for start, end in ((part[0], places), (places, part[1]))
    ]
    whole = _log_likelihood(rows[part[1]] - rows[part[0]], labelled[part[1]] - labelled[part[0]])
    gains: Floats = 2 * (_log_likelihood(*sides[0]) + _log_likelihood(*sides[1]) - whole)
    return np.where(np.minimum(sides[0][1], sides[1][1]) >= least, gains, -1.0)


def _log_likelihood(rows: Ints, labelled: Ints) -> Floats:
    """Return the largest log-likelihood of these numbers of labels."""
    from scipy.special import xlogy

    share = labelled / np.maximum(rows, 1)
    likelihood: Floats = xlogy(labelled, share) + xlogy(rows - labelled, 1 - share)
    return likelihood


def _bin_ends(start: int, stop: int, rows: Ints, labelled: Ints) -> list[int]:
    """Return the places that divide a leaf into bins of about equal weight with enough rows and labels."""
    size = int(rows[stop] - rows[start])
    ranks = int(rows[start]) + np.arange(1, _BINS) * size // _BINS
    ends, last = [], start
    for place in np.searchsorted(rows, ranks, side="left").tolist():
        sides = [(last, place), (place, stop)]
        if place < stop and all(
            rows[high] - rows[low] >= _BIN[0] and labelled[high] - labelled[low] >= _BIN[1]
            for low, high in sides
        ):
            ends.append(place)
            last = place
    return ends


def changes(rows: Ints, labelled: Ints) -> bool:
    """Whether the labelled share of rows changes with the score, at level .01.

    Parameters
    ----------
    rows, labelled : int64, shape (n,)
        As for ``score_cells``.
    """
    totals = [np.concatenate([[0], np.cumsum(counts)]) for counts in (rows, labelled)]
    return _change_p(0, len(rows), *totals) < CHANGE_LEVEL


def _change_p(start: int, stop: int, rows: Ints, labelled: Ints) -> float:
    """Return the p-value of a change of the labelled share, as a trend or as a jump, at half of it each.

    A trend is found by the score test over the ranks of rows. It misses a few labels at one end of many rows.
    """
    jump = _jump_p(_gains((start, stop), np.arange(start + 1, stop), rows, labelled, 0))
    trend = _trend_p(np.diff(rows[start : stop + 1]), np.diff(labelled[start : stop + 1]))
    return min(1.0, 2 * min(jump, trend))


def _trend_p(rows: Ints, labelled: Ints) -> float:
    """Return the p-value of the score test of a trend of the labelled share over the ranks of rows."""
    from scipy.special import ndtr

    size, labels = int(rows.sum()), int(labelled.sum())
    if labels in (0, size):
        return 1.0
    rank = np.cumsum(rows) - (rows - 1) / 2 - (size + 1) / 2
    spread = float((rows * rank * rank).sum())
    if spread == 0:
        return 1.0
    share = labels / size
    error = np.sqrt(share * (1 - share) * spread * size / (size - 1))
    return float(2 * ndtr(-abs(float((labelled * rank).sum())) / error))


def _halves_differ(rows: Ints, labelled: Ints) -> bool:
    if len(rows) < 2:
        return False
    middle = max(1, min(len(rows) - 1, int(np.searchsorted(np.cumsum(rows), rows.sum() / 2)) + 1))
    low, high = (
        (int(labelled[half].sum()), int(rows[half].sum())) for half in (slice(middle), slice(middle, None))
    )
    shares = low[0] * high[1], high[0] * low[1]
    return max(shares) > 2 * min(shares)

"""ST: one score threshold for all rows, the score-only boundary [UB sec. 5]."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Bools, Cells, RangeCounts
from uqcli.methods.boundary.goals import Goal, Tops
from uqcli.methods.boundary.registry import AlgorithmEntry, WorksOn


def single_threshold(cells: Cells, goal: Goal) -> Tops | None:
    """Find the best score threshold.

    Every distinct threshold is looked at: precision is not monotone in it, so the search cannot stop
    at the first that fails. Only those at a score that some positive row has can be best.

    Parameters
    ----------
    cells
        One uncertainty bin.
    """
    (row,) = cells.rows
    with_positives = np.flatnonzero(row.positives)[::-1]
    true_positives = np.cumsum(row.positives[with_positives])
    below = np.cumsum(row.count)[with_positives] - row.count[with_positives]
    best = goal.best_of(true_positives, row.count.sum() - below)
    return None if best is None else (len(row.count) - int(with_positives[best]),)


def unsettled_by_threshold(counts: RangeCounts, goal: Goal) -> Bools:
    """Which ranges of scores must be opened before the best single threshold is known.

    These are the ranges inside which a threshold could do as well as the best of those between ranges, if
    all its positive rows came first.

    Parameters
    ----------
    counts
        Of all rows.
    """
    true_positives = np.cumsum(counts.positives[::-1])[::-1]
    selected = np.cumsum(counts.count[::-1])[::-1]
    at = goal.best_of(true_positives[::-1], selected[::-1])
    best = None if at is None else (int(true_positives[::-1][at]), int(selected[::-1][at]))
    start = true_positives - counts.positives, selected - counts.count
    return goal.within_reach(start, true_positives, best) & (counts.positives > 0) & ~counts.exact


ALGORITHM = AlgorithmEntry(method=single_threshold, works_on=WorksOn.SCORES)

"""ST: a single score threshold for all rows [UB sec. 5]."""

from __future__ import annotations

import numpy as np

from uqcli.counts import Bools, Cells, RangeCounts
from uqcli.methods.boundary.goals import Goal, Tops
from uqcli.methods.boundary.registry import AlgorithmEntry, WorksOn


def single_threshold(cells: Cells, goal: Goal) -> Tops | None:
    """Find the best single threshold.

    Precision is not monotone in the threshold, so the search cannot stop at the first failure and tries every
    distinct threshold. Only those at the score of a positive row can be best.

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


def ranges_for_threshold(counts: RangeCounts, goal: Goal) -> Bools:
    """Mark the score ranges to open until the best single threshold is known.

    These are the ranges in which a threshold could equal the best one between ranges, if all positive rows of
    the range came first.

    Parameters
    ----------
    counts
        Counts of all rows.
    """
    true_positives = np.cumsum(counts.positives[::-1])[::-1]
    selected = np.cumsum(counts.count[::-1])[::-1]
    index = goal.best_of(true_positives[::-1], selected[::-1])
    best = None if index is None else (int(true_positives[::-1][index]), int(selected[::-1][index]))
    start = true_positives - counts.positives, selected - counts.count
    return goal.within_reach(start, true_positives, best) & (counts.positives > 0) & ~counts.exact


ALGORITHM = AlgorithmEntry(method=single_threshold, works_on=WorksOn.SCORES)

"""ST: a single score threshold for all rows [UB sec. 5]."""

from __future__ import annotations

import numpy as np

from uqcli.base.counts import Bools, Cells, RangeCounts, distinct_cells
from uqcli.boundary.search.goals import Goal, Tops
from uqcli.boundary.search.registry import AlgorithmEntry, WorksOn
from uqcli.boundary.search.score_runs import top_runs


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
    tops = len(row.count) - np.flatnonzero(row.positives)[::-1]
    best = goal.best_of(top_runs(row).at(tops))
    return None if best is None else (int(tops[best]),)


def ranges_for_threshold(counts: RangeCounts, goal: Goal) -> Bools:
    """Mark the score ranges to open until the best single threshold is known.

    These are the ranges in which a threshold could equal the best one between ranges, if all positive rows of
    the range came first.

    Parameters
    ----------
    counts
        Counts of all rows.
    """
    runs = top_runs(distinct_cells(counts.counts))
    before, after = runs.at(slice(None, -1)), runs.at(slice(1, None))
    index = goal.best_of(after)
    best = None if index is None else after.at(slice(index, index + 1))
    reachable: Bools = goal.within_reach(before, after, best)[::-1]
    return reachable & (counts.positives > 0) & ~counts.exact


ALGORITHM = AlgorithmEntry(method=single_threshold, works_on=WorksOn.SCORES)

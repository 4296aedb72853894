"""Gains of score x uncertainty over the score alone on rows held out, row by row."""

from fractions import Fraction

import numpy as np

from uqcli.choices import Binning
from uqcli.methods.bin.grid import GridSpec, cells_from, cells_under, pool_by
from uqcli.methods.boundary.ranking.smoothing import nested_boundaries
from uqcli.rows import Rows

FACTORS = ("0.5", "0.7", "0.85", "1", "1.2", "1.4")
SPEC = GridSpec(binning=Binning.EQUI_WEIGHT, uncertainty_bins=3, score_bins=100)


def held_out_ranks(score, level, positive, fold):
    """Of each row: share of the other folds' rows that are ranked no lower."""
    rows = Rows(numbers={"score": score, "uncertainty": level.astype(float)}, positive=positive)
    edges = np.arange(1, level.max() + 1) - 0.5
    every = cells_from(edges, pool_by(rows, edges), SPEC)
    ranks = np.ones(len(score), dtype=object)
    for each in set(fold.tolist()):
        train = cells_under(pool_by(rows.only(fold != each), edges), every)
        if train.total == 0:
            continue
        nested = nested_boundaries(train)
        starts = np.cumsum([0, *(len(row.count) for row in train.rows)])
        share = {
            int(at): Fraction(int(n), train.total)
            for at, n in zip(nested.order, nested.selected, strict=True)
        }
        for place in np.flatnonzero(fold == each):
            lower = every.rows[level[place]].lower
            cell = sum(bool(edge <= score[place]) for edge in lower[1:])
            ranks[place] = share[int(starts[level[place]]) + cell]
    return ranks


def hits(keys, positive, alerts):
    """True positives among so many alerts, the lowest keys first; a share of equal ones."""
    found = Fraction(0)
    left = Fraction(alerts)
    for key in sorted(set(keys)):
        same = [bool(y) for other, y in zip(keys, positive, strict=True) if other == key]
        taken = min(left, len(same))
        found += Fraction(sum(same)) * taken / len(same)
        left -= taken
    return found


def gain(ranks, score, positive, alerts):
    """In recall, averaged over numbers of alerts."""
    size = len(score)
    falling = [-each for each in score.tolist()]
    more = [
        hits(list(ranks), positive, min(size, Fraction(each) * alerts))
        - hits(falling, positive, min(size, Fraction(each) * alerts))
        for each in FACTORS
    ]
    return sum(more) / len(more) / int(positive.sum())

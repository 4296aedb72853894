"""Gains of score x uncertainty over the score alone on rows held out, row by row.

Slow and by hand: nothing here is the program's. Rows are lists, shares and gains are fractions, and rates are
those of the other oracles.
"""

from fractions import Fraction

from tests.oracles.binning import bin_of, equi_weight_edges
from tests.oracles.smoothing import smoothed

FACTORS = ("0.5", "0.7", "0.85", "1", "1.2", "1.4")
SCORE_CELLS = 100
NEAR = 1e-9
"""Rates of two bins that differ by less are told apart by the last digits of sums alone."""


def held_out_ranks(score, level, positive, fold):
    """Of each row: share of the other folds' rows that are ranked no lower, at least and at most."""
    edges = [
        equi_weight_edges([s for s, each in zip(score, level, strict=True) if each == number], SCORE_CELLS)
        for number in range(max(level) + 1)
    ]
    cell = [(each, SCORE_CELLS - 1 - bin_of(s, edges[each])) for s, each in zip(score, level, strict=True)]
    ranks = [(Fraction(1), Fraction(1))] * len(score)
    for held_out in set(fold):
        train = [(at, y) for at, y, each in zip(cell, positive, fold, strict=True) if each != held_out]
        if not train:
            continue
        rate = rates_of(train, edges)
        for row, own in enumerate(cell):
            if fold[row] == held_out:
                before = sum(precedes(at, own, rate) for at, _ in train)
                beside = sum(at[0] != own[0] and abs(rate[at] - rate[own]) <= NEAR for at, _ in train)
                ranks[row] = Fraction(before, len(train)), Fraction(before + beside, len(train))
    return ranks


def precedes(at, own, rate):
    """Whether a cell (bin, place from the top) surely stands no lower than another."""
    return at[1] <= own[1] if at[0] == own[0] else rate[at] > rate[own] + NEAR


def rates_of(train, edges):
    """Smoothed rate of each cell (bin, place from the top)."""
    rows = []
    for number, inner in enumerate(edges):
        lower = [float("-inf"), *inner][::-1]
        labels = [[y for at, y in train if at == (number, place)] for place in range(SCORE_CELLS)]
        rows.append([(edge, len(ys), sum(ys)) for edge, ys in zip(lower, labels, strict=True)])
    return {
        (number, place): rate
        for number, rates in enumerate(smoothed(rows))
        for place, rate in enumerate(rates)
    }


def hits(keys, positive, alerts):
    """True positives among so many alerts, the lowest keys first; a share of equal ones."""
    found = Fraction(0)
    left = Fraction(alerts)
    for key in sorted(set(keys)):
        same = [y for other, y in zip(keys, positive, strict=True) if other == key]
        taken = min(left, len(same))
        found += Fraction(sum(same)) * taken / len(same)
        left -= taken
    return found


def gain(ranks, score, positive, alerts):
    """In recall, averaged over numbers of alerts."""
    falling = [-each for each in score]
    more = [
        hits(ranks, positive, min(len(score), Fraction(each) * alerts))
        - hits(falling, positive, min(len(score), Fraction(each) * alerts))
        for each in FACTORS
    ]
    return sum(more) / len(more) / sum(positive)

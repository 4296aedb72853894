"""Gains of score x uncertainty over the score alone on folds held out, on lists of cells.

Slow and by hand: nothing here is the program's. Tables are folds of rows of (n, p) cells, shares and gains
are fractions, and rates are those of the other oracle.
"""

from fractions import Fraction

from tests.oracles.smoothing import smoothed

FACTORS = ("0.5", "0.7", "0.85", "1", "1.2", "1.4")
NEAR = 1e-9
"""Rates of two bins that differ by less are told apart by the last digits of sums alone."""


def added(tables):
    """The sum of tables of (n, p) cells."""
    return [
        [(sum(n for n, _ in cell), sum(p for _, p in cell)) for cell in zip(*rows, strict=True)]
        for rows in zip(*tables, strict=True)
    ]


def held_out_shares(folds, lower):
    """Of each fold's cells: share of the other folds' rows ranked no lower, at least and at most."""
    found = []
    for at in range(len(folds)):
        train = added([fold for number, fold in enumerate(folds) if number != at])
        total = sum(n for row in train for n, _ in row)
        if not total:
            found.append([[(Fraction(1), Fraction(1))] * len(row) for row in train])
            continue
        down = [[(edge, n, p) for edge, (n, p) in zip(lower, row, strict=True)][::-1] for row in train]
        rate = [line[::-1] for line in smoothed(down)]
        found.append(
            [
                [shares_of(train, rate, total, number, place) for place in range(len(row))]
                for number, row in enumerate(train)
            ]
        )
    return found


def shares_of(train, rate, total, number, place):
    """Rows in cells that surely stand no lower than one, and with those that may, over all."""
    sure = maybe = 0
    for other, row in enumerate(train):
        for at, (n, _) in enumerate(row):
            if other == number:
                sure += n * (at >= place)
            elif rate[other][at] > rate[number][place] + NEAR:
                sure += n
            elif rate[other][at] >= rate[number][place] - NEAR:
                maybe += n
    return Fraction(sure, total), Fraction(sure + maybe, total)


def hits(groups, alerts):
    """True positives among so many alerts of groups of (key, n, p), the lowest keys first; ties in shares."""
    found, left = Fraction(0), Fraction(alerts)
    for key in sorted({key for key, _, _ in groups}):
        n = sum(n for each, n, _ in groups if each == key)
        p = sum(p for each, _, p in groups if each == key)
        if n:
            taken = min(left, n)
            found += p * taken / n
            left -= taken
    return found


def gain(shares, folds, alerts):
    """In recall, averaged over numbers of alerts."""
    ours = [
        (share, n, p)
        for of_fold, fold in zip(shares, folds, strict=True)
        for line, row in zip(of_fold, fold, strict=True)
        for share, (n, p) in zip(line, row, strict=True)
    ]
    score = [(-place, n, p) for fold in folds for row in fold for place, (n, p) in enumerate(row)]
    rows, positives = sum(n for _, n, _ in ours), sum(p for _, _, p in ours)
    numbers = [min(rows, Fraction(each) * alerts) for each in FACTORS]
    more = [hits(ours, each) - hits(score, each) for each in numbers]
    return sum(more) / len(more) / positives

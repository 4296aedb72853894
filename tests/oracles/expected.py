"""Bins that pay and what to expect on new rows, from given draws, by trying everything on lists of cells."""

import math
from fractions import Fraction

from tests.oracles.boundary import brute_force
from tests.oracles.smoothing import smoothed


def joined(rows, bins):
    """Runs of neighbouring rows of (n, p) cells added up."""
    run = len(rows) // bins
    groups = [rows[first : first + run] for first in range(0, len(rows), run)]
    return [
        [(sum(n for n, _ in column), sum(p for _, p in column)) for column in zip(*group, strict=True)]
        for group in groups
    ]


def found(rows, tops):
    """True positives and selected rows of so many cells from the top of each row."""
    taken = [cell for row, top in zip(rows, tops, strict=True) for cell in row[len(row) - top :]]
    return sum(p for _, p in taken), sum(n for n, _ in taken)


def hits_of_score(rows, alerts):
    """True positives of as many alerts by score, linear inside cells."""
    hits = seen = 0
    for n, p in reversed(joined(rows, 1)[0]):
        if n and seen + n >= alerts:
            return hits + p * (alerts - seen) / n
        hits, seen = hits + p, seen + n
    return hits


def gain(train, held, bins, bounds):
    """Mean of recall on the fold held out less that of the score, over bounds on the precision."""
    more = []
    for bound in bounds:
        tops = brute_force(joined(train, bins), bound)
        hits, alerts = found(joined(held, bins), tops) if tops else (0, 0)
        more.append(hits - hits_of_score(held, alerts))
    return sum(more) / len(more) / sum(p for row in held for _, p in row)


def smooth_tops(rows, lower, bound):
    """The loosest prefix of the smoothed ranking that keeps a precision."""
    down = [[(edge, n, p) for edge, (n, p) in zip(lower, row, strict=True)][::-1] for row in rows]
    ranked = sorted(
        (
            (-rate, place, number)
            for number, line in enumerate(smoothed(down))
            for place, rate in enumerate(line)
        ),
    )
    best, tops = None, [0] * len(rows)
    for _, _, number in ranked:
        tops[number] += 1
        hits, selected = found(rows, tops)
        if hits and Fraction(hits, selected) >= bound and (best is None or hits > best[0]):
            best = hits, tuple(tops)
    return best and best[1]


def by_optimism(rows, tops, draws, chosen):
    """Precision and recall less what each draw's own boundary does better on the draw than on all rows."""
    positives = sum(p for row in rows for _, p in row)
    hits, selected = found(rows, tops)
    more = []
    for draw, own in zip(draws, chosen, strict=True):
        if own is None:
            continue
        mine, all_rows = found(draw, own), found(rows, own)
        drawn = sum(p for row in draw for _, p in row)
        more.append(
            (mine[0] / mine[1] - all_rows[0] / all_rows[1], mine[0] / drawn - all_rows[0] / positives)
        )
    mean = [sum(each) / len(more) for each in zip(*more, strict=True)]
    return [hits / selected - max(0, mean[0]), hits / positives - max(0, mean[1])]


def outside(rows, tops, left, chosen):
    """The .632 estimate, never above what is apparent."""
    hits, selected = found(rows, tops)
    apparent = [hits / selected, hits / sum(p for row in rows for _, p in row)]
    pairs = [(each, own) for each, own in zip(left, chosen, strict=True) if own is not None]
    sums = [found(each, own) for each, own in pairs]
    hits = sum(h for h, _ in sums)
    pooled = [
        hits / sum(n for _, n in sums),
        hits / sum(p for each, _ in pairs for row in each for _, p in row),
    ]
    return [min(a, 0.368 * a + 0.632 * o) for a, o in zip(apparent, pooled, strict=True)]


def wilson(share, trials):
    """The two shares whose distance from this one is 1.645 of their own standard errors."""
    z = 1.645
    root = math.sqrt(z * z + 4 * trials * share * (1 - share))
    return [(2 * trials * share + z * z + sign * z * root) / (2 * (trials + z * z)) for sign in (-1, 1)]

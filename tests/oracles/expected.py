"""Oracle of the number of bins and of metrics expected on new data, by brute force on lists of cells."""

import math
from fractions import Fraction
from statistics import NormalDist

from tests.oracles.boundary import brute_force
from tests.oracles.smoothing import smoothed


def joined(rows, bins):
    """Add up runs of neighbouring rows of (n, p) cells."""
    run = len(rows) // bins
    groups = [rows[first : first + run] for first in range(0, len(rows), run)]
    return [
        [(sum(n for n, _ in column), sum(p for _, p in column)) for column in zip(*group, strict=True)]
        for group in groups
    ]


def true_and_flagged(rows, tops):
    """Return the true positives and flagged rows of the top cells of each row."""
    taken = [cell for row, top in zip(rows, tops, strict=True) for cell in row[len(row) - top :]]
    return sum(p for _, p in taken), sum(n for n, _ in taken)


def hits_of_score(rows, alerts):
    """Return the true positives of as many alerts by score alone, linear inside cells."""
    true_positives = flagged = 0
    for n, p in reversed(joined(rows, 1)[0]):
        if n and flagged + n >= alerts:
            return true_positives + p * (alerts - flagged) / n
        true_positives, flagged = true_positives + p, flagged + n
    return true_positives


def gain(train, fold, bins, bounds):
    """Return the mean gain in recall over the score alone on the test fold, over precision bounds."""
    gains = []
    for bound in bounds:
        tops = brute_force(joined(train, bins), bound)
        true_positives, alerts = true_and_flagged(joined(fold, bins), tops) if tops else (0, 0)
        gains.append(true_positives - hits_of_score(fold, alerts))
    return sum(gains) / len(gains) / sum(p for row in fold for _, p in row)


def smooth_tops(rows, lower, bound):
    """Return the loosest prefix of the smoothed ranking that meets a precision bound."""
    descending = [[(edge, n, p) for edge, (n, p) in zip(lower, row, strict=True)][::-1] for row in rows]
    ranked = sorted(
        (
            (-rate, position, row_index)
            for row_index, row_rates in enumerate(smoothed(descending))
            for position, rate in enumerate(row_rates)
        )
    )
    best, tops = None, [0] * len(rows)
    for _, _, row_index in ranked:
        tops[row_index] += 1
        true_positives, selected = true_and_flagged(rows, tops)
        if (
            true_positives
            and Fraction(true_positives, selected) >= bound
            and (best is None or true_positives > best[0])
        ):
            best = true_positives, tuple(tops)
    return best and best[1]


def by_optimism(rows, tops, draws, chosen):
    """Return precision and recall minus their optimism: mean metric on the draws minus that on all rows.

    Also return the range of each: the lower ends allow for the choice among the draws' boundaries.
    """
    positives = sum(p for row in rows for _, p in row)
    true_positives, selected = true_and_flagged(rows, tops)
    optimism, selected_of_draws = [], []
    for draw, tops_of_draw in zip(draws, chosen, strict=True):
        if tops_of_draw is None:
            continue
        on_draw, on_all_rows = true_and_flagged(draw, tops_of_draw), true_and_flagged(rows, tops_of_draw)
        selected_of_draws.append(on_draw[1])
        positives_of_draw = sum(p for row in draw for _, p in row)
        optimism.append(
            (
                on_draw[0] / on_draw[1] - on_all_rows[0] / on_all_rows[1],
                on_draw[0] / positives_of_draw - on_all_rows[0] / positives,
            )
        )
    mean = [sum(column) / len(optimism) for column in zip(*optimism, strict=True)]
    precision, recall = (
        true_positives / selected - max(0, mean[0]),
        true_positives / positives - max(0, mean[1]),
    )
    share = (min(max(recall, 0), 1) * positives + 1) / (positives + 2)
    variance = sum((value - mean[1]) ** 2 for _, value in optimism) / (len(optimism) - 1)
    fixed = share * (1 - share) / positives
    varying = max(fixed, variance / 1.3) + max(0, mean[1]) ** 2
    z = z_of_choices(selected_of_draws)
    values = [min(max(value, 0), 1) for value in (precision, recall)]
    trials = [selected, positives * fixed / varying]
    low = [wilson(value, n, z)[0] for value, n in zip(values, trials, strict=True)]
    high = [wilson(value, n)[1] for value, n in zip(values, trials, strict=True)]
    high[1] = max(high[1], wilson(true_positives / positives, positives)[1])
    return values, list(zip(low, high, strict=True))


def z_of_choices(selected):
    """Return the quantile at 5 % divided by one more than twice the octaves of the middle draws' alerts."""
    fewest, most = quantiles([math.log2(count) for count in selected])
    return -NormalDist().inv_cdf(NormalDist().cdf(-1.645) / (1 + 2 * (most - fewest)))


def quantiles(values):
    """Return the linearly interpolated tenth and ninetieth percentile."""
    values, ends = sorted(values), []
    for share in (0.1, 0.9):
        position = share * (len(values) - 1)
        below = math.floor(position)
        above = min(below + 1, len(values) - 1)
        ends.append(values[below] + (position - below) * (values[above] - values[below]))
    return ends


def out_of_bag(rows, tops, left_out, chosen):
    """Return the .632 estimate of precision, and recall outside the draws, at most the apparent metric."""
    true_positives, selected = true_and_flagged(rows, tops)
    apparent = [true_positives / selected, true_positives / sum(p for row in rows for _, p in row)]
    evaluated = [
        (rows_left_out, tops_of_draw)
        for rows_left_out, tops_of_draw in zip(left_out, chosen, strict=True)
        if tops_of_draw is not None
    ]
    sums = [true_and_flagged(rows_left_out, tops_of_draw) for rows_left_out, tops_of_draw in evaluated]
    true_positives = sum(h for h, _ in sums)
    pooled = [
        true_positives / sum(n for _, n in sums),
        true_positives / sum(p for rows_left_out, _ in evaluated for row in rows_left_out for _, p in row),
    ]
    return [
        min(a, (1 - weight) * a + weight * o)
        for a, o, weight in zip(apparent, pooled, (0.632, 1), strict=True)
    ]


def wilson(share, trials, z=1.645):
    """Return Wilson's interval: the ends are z of their own standard errors from this share."""
    root = math.sqrt(z * z + 4 * trials * share * (1 - share))
    return [(2 * trials * share + z * z + sign * z * root) / (2 * (trials + z * z)) for sign in (-1, 1)]

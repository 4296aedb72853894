"""Oracle of the range of a value, unit by unit."""

import math

from scipy import stats


def gamma_limits(amounts, largest, confidence):
    """Return the limits of the sum of positive amounts, if one more unit may be larger than any seen."""
    tail, y, v = (1 - confidence) / 2, sum(amounts), sum(amount**2 for amount in amounts)
    low = v / (2 * y) * stats.chi2.ppf(tail, 2 * y**2 / v) if y else 0.0
    w = largest * (1 + 6 / math.sqrt(max(len(amounts), 1)))
    y, v = y + w, v + w**2
    return low, v / (2 * y) * stats.chi2.ppf(1 - tail, 2 * y**2 / v) if y else 0.0


def value_range(units, largest_gain, largest_loss, confidence):
    """Return the range of the value of units with net amounts; None with fewer than ten that contribute."""
    gains, losses = [x for x in units if x > 0], [-x for x in units if x < 0]
    if len(gains) + len(losses) < 10:
        return None
    (low_g, high_g), (low_c, high_c) = (
        gamma_limits(gains, largest_gain, confidence),
        gamma_limits(losses, largest_loss, confidence),
    )
    value = sum(gains) - sum(losses)
    return (
        value - math.sqrt((sum(gains) - low_g) ** 2 + (high_c - sum(losses)) ** 2),
        value + math.sqrt((high_g - sum(gains)) ** 2 + (sum(losses) - low_c) ** 2),
    )


def of_rows(rows, confidence, *, by_cluster):
    """Return the ranges of two rules' values and of their difference, second less first.

    Rows are (flagged by the first, by the second, amount, cluster); the amount is what flagging is worth.
    """
    if by_cluster and len({row[3] for row in rows}) < 20:
        return [None] * 3
    if not any(row[2] > 0 for row in rows):
        return [None] * 3
    units = {}
    for number, (first, second, amount, cluster) in enumerate(rows):
        unit = units.setdefault(cluster if by_cluster else number, [0, 0, 0, 0])
        for place, times in enumerate((first, second, int(second) - int(first), 1)):
            unit[place] += times * amount
    ranges = []
    for place in range(3):
        amounts = [unit[place] for unit in units.values()]
        everything = [unit[3] for unit in units.values()]
        gain, loss = max(0, *everything, 0), max(0, *(-x for x in everything), 0)
        if place == 2:
            gain = loss = max(gain, loss)
        # a unit may be worth more flagged in part than as a whole
        gain, loss = max(gain, *amounts), max(loss, *(-x for x in amounts))
        ranges.append(value_range(amounts, gain, loss, confidence))
    return ranges

"""Oracle of the test that the scores of parts are true probabilities: loops over rows, and plain draws."""

import math
import random
from statistics import NormalDist


def statistics(rows):
    """Return the range of the running sum, the score statistic, and the information about the intercept.

    Rows are (score, positive); equal scores are never cut apart.
    """
    rows = sorted(rows)
    running, sums = 0.0, [0.0]
    for index, (score, positive) in enumerate(rows):
        running += positive - score
        if index + 1 == len(rows) or rows[index + 1][0] != score:
            sums.append(running)
    weights = [score * (1 - score) for score, _ in rows]
    information = sum(weights)
    if information == 0:
        return max(sums) - min(sums), 0.0, 0.0
    odds = []
    for score, _ in rows:
        cut = min(max(score, 1e-9), 1 - 1e-9)
        odds.append(math.log(cut / (1 - cut)))
    mean = sum(w * x for w, x in zip(weights, odds, strict=True)) / information
    spread = sum(w * (x - mean) ** 2 for w, x in zip(weights, odds, strict=True))
    total = sum(positive - score for score, positive in rows)
    sloped = sum((positive - score) * (x - mean) for (score, positive), x in zip(rows, odds, strict=True))
    statistic = total**2 / information + (sloped**2 / spread if spread > 1e-9 else 0.0)
    return max(sums) - min(sums), statistic, information


def limit_p_values(rows):
    """Return the p-values of the range and of the score statistic of much information."""
    reach, statistic, information = statistics(rows)
    normal = NormalDist()
    tails = [(-1) ** (k - 1) * k * normal.cdf(-k * reach / math.sqrt(information)) for k in range(1, 400)]
    freedom = 1 if len({score for score, _ in rows}) == 1 else 2
    score_p = math.exp(-statistic / 2) if freedom == 2 else 2 * normal.cdf(-math.sqrt(statistic))
    return min(1.0, 8 * math.fsum(tails)), score_p


def drawn_tails(rows, draws, seed=0):
    """Return the shares of draws of the labels from the scores whose statistics reach those of the rows."""
    source, found = random.Random(seed), statistics(rows)
    reached = [0, 0]
    for _ in range(draws):
        drawn = statistics([(score, source.random() < score) for score, _ in rows])
        for index in (0, 1):
            reached[index] += drawn[index] >= found[index] * (1 - 1e-9) - 1e-9
    return [count / draws for count in reached]


def besag_clifford(reaches, most):
    """Return the p-value of a sequence of draws that do or do not reach the value."""
    for number in range(1, most + 1):
        if sum(reaches[:number]) == 10:
            return 10 / number
    return (1 + sum(reaches[:most])) / (most + 1)


def holm(p_values):
    """Return the adjusted p-values, step by step."""
    order, largest, adjusted = sorted(p_values, key=p_values.get), 0.0, {}
    for place, name in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[name]))
        adjusted[name] = largest
    return adjusted

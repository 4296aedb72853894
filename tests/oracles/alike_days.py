"""Oracle of evidence by day: one day, one mean, one overdispersion at a time (docs/explanation/watching.md).

Nothing here uses uqcli but for the rows of the other oracles.
"""

import math
from fractions import Fraction

from tests.oracles.dependence import dependence
from tests.oracles.watch import log_e_value

OVERDISPERSIONS = [0.0, *(2.0**e for e in range(-30, -8)), *(2.0 ** (e / 2) for e in range(-16, 13))]
WEIGHTS = [0.25] + [0.75 / 51] * 51
BELOW = [0.05, 0.1, 0.2, 0.35, 0.55, 0.8, 1.2, 1.7, 2.5, 4, 6]
BEFORE = [-6, -4, -2.5, -1.7, -1.2, -0.8, -0.55, -0.35, -0.2, -0.1, -0.05]
BEFORE += [0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.5, 4]


def log_likelihood(days, odds, overdispersion):
    """Return the log of the probability of days but for binomial coefficients, by the urn of Polya."""
    mean, rest = odds / (1 + odds), 1 / (1 + odds)
    if days and overdispersion * max(n for _, n in days) < 0.02:
        overdispersion = 0.0
    total = 0.0
    for k, n in days:
        total += sum(math.log(mean + i * overdispersion) for i in range(k))
        total += sum(math.log(rest + i * overdispersion) for i in range(n - k))
        total -= sum(math.log1p(i * overdispersion) for i in range(n))
    return total


def log_sum(logs):
    highest = max(logs)
    return highest + math.log(sum(math.exp(value - highest) for value in logs))


def log_factor(days, bound, weights=WEIGHTS):
    """Return the log of the Bayes factor of days of successes and trials."""
    odds = float(bound / (1 - bound))
    below, at = [], []
    for overdispersion, weight in zip(OVERDISPERSIONS, weights, strict=True):
        at.append(math.log(weight) + log_likelihood(days, odds, overdispersion))
        for distance in BELOW:
            likelihood = log_likelihood(days, odds * math.exp(-distance), overdispersion)
            below.append(math.log(weight / 11) + likelihood)
    return log_sum(below) - log_sum(at)


def learned_weights(days, bound):
    """Return the weights of overdispersions after the days before a change."""
    odds = float(bound / (1 - bound))
    logs = [
        math.log(weight)
        + log_sum([log_likelihood(days, odds * math.exp(shift), overdispersion) for shift in BEFORE])
        for overdispersion, weight in zip(OVERDISPERSIONS, WEIGHTS, strict=True)
    ]
    total = log_sum(logs)
    return [0.9 * math.exp(log - total) + 0.1 * v for log, v in zip(logs, WEIGHTS, strict=True)]


def log_evidence(days, bound, calibration=None):
    """Return the log of the evidence after the last of some days, of which each has a trial."""
    if not days:
        return -math.log(2)
    return min(log_effective(days, bound, calibration, 0), log_factor(days, bound) - math.log(2))


def log_effective(days, bound, calibration, start):
    """Return the log of the e-value of the effective counts of the days from a start on."""
    used = dependence(days, calibration, start)[1]
    if math.isinf(used):
        return 0.0
    k, n = (sum(day[i] for day in days[start:]) / used for i in (0, 1))
    return log_e_value(k, n, bound)


def log_change(days, bound, limit, calibration=None):
    """Return the log of the evidence of a change, of days that each have a trial."""
    logs = [log_effective(days, bound, calibration, start) for start in range(len(days))]
    if log_sum(logs) < math.log(limit):
        return log_sum(logs)
    for start, log_e in enumerate(logs):
        if log_e >= math.log(limit / (100 * len(days))):
            factor = log_factor(days[start:], bound, learned_weights(days[:start], bound))
            logs[start] = min(log_e, factor - math.log(2))
    return log_sum(logs)


def upper_end(days, confidence, rate_end):
    """Return the smallest rate of a fine grid, from an end outwards, that the Bayes factor rejects."""
    limit = math.log(2 / (1 - confidence)) + math.log(2)
    log_odds = math.log(rate_end / (1 - rate_end))
    while log_odds < 37:
        bound = Fraction(1 / (1 + math.exp(-log_odds)))
        if log_factor(days, bound) >= limit:
            return float(bound)
        log_odds += 0.01
    return 1.0

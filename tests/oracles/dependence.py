"""Design effect of days of dependent trials, one sum at a time (algorithm: docs/explanation/watching.md)."""

import itertools
import math
from fractions import Fraction

from scipy.stats import chi2


def sums(days):
    units, n = len(days), sum(trials for _, trials in days)
    rate = Fraction(sum(hits for hits, _ in days), n)
    square = sum((hits - rate * trials) ** 2 for hits, trials in days)
    least = min(Fraction(1, n), Fraction(1, 2))
    cut = min(max(rate, least), 1 - least)
    q = float(Fraction(units, units - 1) * square / (cut * (1 - cut))) if units > 1 else 0.0
    return units, [sum(trials**power for _, trials in days) for power in (1, 2, 3, 4)], q


def correlation(sources):
    excess = sum(q - powers[0] for _, powers, q in sources)
    room = sum(powers[1] - powers[0] for _, powers, _ in sources)
    return min(max(excess / room, 0.0), 1.0) if room > 0 else 0.0


def freedom(powers, rho):
    n, n2, n3, n4 = powers
    mean = (1 - rho) * n + rho * n2
    return mean**2 / ((1 - rho) ** 2 * n2 + 2 * rho * (1 - rho) * n3 + rho**2 * n4) - 1


def residuals(days):
    n = sum(trials for _, trials in days)
    rate = Fraction(sum(hits for hits, _ in days), n)
    return [float(hits - rate * trials) / math.sqrt(trials) for hits, trials in days]


def lag_correlation(*segments):
    of_segments = [residuals(days) for days in segments if days]
    total = sum(residual**2 for segment in of_segments for residual in segment)
    pairs = [pair for segment in of_segments for pair in itertools.pairwise(segment)]
    if len(pairs) < 10 or total <= 1e-9:
        return math.nan
    return min(max(sum(first * second for first, second in pairs) / total, -1.0), 0.999)


def dependence(days, calibration, change=0):
    """Return the design effect, the number by which counts are divided, and the correlation of days.

    The days before the change and those from it on have a rate of their own.
    """
    segments = [days[:change], days[change:]]
    _, powers, _ = sums(days)
    larger = powers[1] / powers[0] - 1
    sources = [sums(segment) for segment in segments if len(segment) > 1]
    alone = 1 + correlation(sources) * larger
    if calibration is not None and len(calibration) > 1:
        known = sums(calibration)
        limit = 3 * (1 + correlation([known]) * (known[1][1] / known[1][0] - 1))
        if not (len(days) >= 20 and alone > limit):
            sources.append(known)
    rho = correlation(sources)
    effect = 1 + rho * larger
    degrees = sum(freedom(powers, rho) for _, powers, _ in sources)
    used = math.inf
    if degrees >= 0.5:
        used = max(effect * degrees / chi2.ppf(min(0.05, degrees / 400), degrees), alone)
    lag = lag_correlation(*segments)
    spells = 0.0 if math.isnan(lag) else max(lag, 0.0)
    return effect, used * (1 + spells) / (1 - spells), lag

"""Evidence against a promised rate over time: e-values, Bayes factors, design effects, changes, ranges."""

import itertools
import math

import mpmath
import numpy as np
from scipy import optimize, special, stats


def log_e(successes, trials, bound):
    """Integrate (q / s)^k ((1 - q) / (1 - s))^(n - k) over q of Beta(20 s, 20 (1 - s)) cut to (0, s)."""
    s, k, misses = (mpmath.mpf(x) for x in (bound, successes, trials - successes))
    x, y = 20 * s, 20 * (1 - s)
    above = mpmath.betainc(k + x, misses + y, 0, s) * s**-k * (1 - s) ** -misses
    return float(mpmath.log(above / mpmath.betainc(x, y, 0, s)))


class Source:
    """Days with the sums that tell how alike their trials are.

    The rarer of successes and failures is counted: with p its share, N the trials and s_j the sums of n_d^j,
    Q = t / (t - 1) sum (k_d - p n_d)^2 / (c (1 - c)), where c is p cut to [m, 1 - m], m = min(1 / N, 1/2).
    """

    def __init__(self, successes, trials):
        days = [(k, n) for k, n in zip(successes, trials, strict=True) if n]
        if 2 * sum(k for k, _ in days) > sum(n for _, n in days):
            days = [(n - k, n) for k, n in days]
        self.days = days
        self.n, self.s2, self.s3, self.s4 = (sum(n**j for _, n in days) for j in (1, 2, 3, 4))
        self.p = sum(k for k, _ in days) / self.n if days else 0.0
        self.counts = len(days) >= 2
        least = min(1 / self.n, 0.5) if days else 0.5
        c = min(max(self.p, least), 1 - least)
        squares = sum((k - self.p * n) ** 2 for k, n in days)
        self.q = len(days) / (len(days) - 1) * squares / (c * (1 - c)) if self.counts else 0.0

    def freedom(self, rho):
        """Return a^2 / b - 1 of its weighted squares (Satterthwaite 1946)."""
        a = (1 - rho) * self.n + rho * self.s2
        b = (1 - rho) ** 2 * self.s2 + 2 * rho * (1 - rho) * self.s3 + rho**2 * self.s4
        return a * a / b - 1


def correlation(sources):
    """Return sum (Q - N) / sum (s_2 - N), cut to [0, 1]."""
    below = sum(s.s2 - s.n for s in sources)
    return min(1.0, max(0.0, sum(s.q - s.n for s in sources) / below)) if below else 0.0


def effect(sources, watched):
    """Return the design effect of the watched days, 1 + rho (s_2 / N - 1)."""
    return 1 + correlation([s for s in sources if s.counts]) * (watched.s2 / watched.n - 1)


def divisor(sources, watched, least=0.0):
    """Return an upper limit of the design effect: deff nu / chi^2_u(nu), u = min(.05, nu / 400)."""
    used = [s for s in sources if s.counts]
    rho = correlation(used)
    freedom = sum(s.freedom(rho) for s in used)
    if freedom < 0.5:
        return math.inf
    tail = min(0.05, freedom / 400)
    limit = effect(used, watched) * freedom / stats.chi2.ppf(tail, freedom)
    return max(limit, least)


def spells(segments):
    """Return max(1, (1 + r) / (1 - r)), r the correlation of consecutive days' residuals."""
    products, squares, pairs = 0.0, 0.0, 0
    for segment in segments:
        e = [(k - segment.p * n) / math.sqrt(n) for k, n in segment.days]
        products += sum(x * y for x, y in itertools.pairwise(e))
        squares += sum(x * x for x in e)
        pairs += max(0, len(e) - 1)
    if pairs < 10:
        return 1.0
    r = products / squares
    return max(1.0, (1 + r) / (1 - r))


OVERDISPERSIONS = [0.0, *(2.0**e for e in range(-30, -8)), *(2.0 ** (e / 2) for e in range(-16, 13))]
WEIGHTS = [0.25, *[0.75 / 51] * 51]
FALLS = [0.05, 0.1, 0.2, 0.35, 0.55, 0.8, 1.2, 1.7, 2.5, 4, 6]
SHIFTS = [-6, -4, -2.5, -1.7, -1.2, -0.8, -0.55, -0.35, -0.2, -0.1, -0.05]
SHIFTS += [0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.5, 4]


def log_likelihood(days, log_odds, o):
    """Return that of beta-binomial days of a mean and an overdispersion, without binomial coefficients."""
    p, rest = 1 / (1 + math.exp(-log_odds)), 1 / (1 + math.exp(log_odds))
    if o * max(n for _, n in days) < 0.02:
        return sum(k * math.log(p) + (n - k) * math.log(rest) for k, n in days)
    s, (k, n) = 1 / o, np.array(days, dtype=float).T
    rising = special.gammaln(k + p * s) - special.gammaln(p * s)
    rising += special.gammaln(n - k + rest * s) - special.gammaln(rest * s)
    rising -= special.gammaln(n + s) - special.gammaln(s)
    return float(rising.sum())


def log_bayes_factor(days, bound, weights=None):
    """Return log of [sum_o v_o sum_q e^L(q, o) / 11] / [sum_o v_o e^L(bound, o)], means q below the bound."""
    centre = math.log(bound / (1 - bound))
    v = np.log(weights or WEIGHTS)
    below = [
        [v[i] + log_likelihood(days, centre - d, o) - math.log(len(FALLS)) for d in FALLS]
        for i, o in enumerate(OVERDISPERSIONS)
    ]
    at = [v[i] + log_likelihood(days, centre, o) for i, o in enumerate(OVERDISPERSIONS)]
    return float(special.logsumexp(below) - special.logsumexp(at))


def weights_after(days, bound):
    """Return .9 of the weights of overdispersions after some days and .1 of those before."""
    if not days:
        return WEIGHTS
    centre = math.log(bound / (1 - bound))
    logs = [special.logsumexp([log_likelihood(days, centre + d, o) for d in SHIFTS]) for o in OVERDISPERSIONS]
    r = np.exp(np.array(logs) - max(logs))
    total = sum(v * x for v, x in zip(WEIGHTS, r, strict=True))
    return [0.9 * v * x / total + 0.1 * v for v, x in zip(WEIGHTS, r, strict=True)]


def log_evidence(days, bound, calibration=None):
    """Return log min(E of effective counts, half the Bayes factor) of days watched."""
    f = watched_divisor(days, calibration)
    k, n = (sum(x) / f for x in zip(*days, strict=True))
    factor = log_bayes_factor([d for d in days if d[1]], bound)
    return min(log_e(k, n, bound), factor - math.log(2))


def watched_divisor(days, calibration=None):
    """Return the number by which counts are divided: beside calibration days, at least by those watched.

    Calibration days are left out where 20 days watched have more than three times their design effect.
    """
    watched = Source(*zip(*days, strict=True))
    alone = effect([watched], watched)
    sources = [watched] + ([calibration] if calibration else [])
    if calibration and len(watched.days) >= 20 and alone > 3 * effect([calibration], watched):
        sources = [watched]
    return divisor(sources, watched, alone) * spells([watched])


def log_change(days, bound, limit, calibration=None):
    """Return log of the sum, over starts j, of the evidence of the days from j on."""
    look, logs = len(days), []
    watched = Source(*zip(*days, strict=True))
    alone = effect([watched], watched)
    for j in range(look):
        before, since = (Source(*(zip(*d, strict=True) if d else ((), ()))) for d in (days[:j], days[j:]))
        sources = [before, since] + ([calibration] if calibration else [])
        f = divisor(sources, watched) * spells([before, since])
        f = max(f, alone)
        k, n = (sum(x) / f for x in zip(*days[j:], strict=True))
        logs.append(log_e(k, n, bound))
    if special.logsumexp(logs) >= math.log(limit):
        for j in range(look):
            if logs[j] >= math.log(limit / (100 * look)):
                factor = log_bayes_factor(days[j:], bound, weights_after(days[:j], bound))
                logs[j] = min(logs[j], factor - math.log(2))
    return float(special.logsumexp(logs))


def upper_end(days, confidence, log_e_of):
    """Return the bound above the rate whose evidence reaches 2 / (1 - confidence)."""
    rate = sum(k for k, _ in days) / sum(n for _, n in days)
    limit = math.log(2 / (1 - confidence))
    return optimize.brentq(lambda s: log_e_of(days, s) - limit, rate + 1e-9, 1 - 1e-9, xtol=1e-13)


def coverage_bound(rank, rows, delta):
    """Return the delta / 2 quantile of Beta(k, n + 1 - k), the coverage that so many rows give."""
    return stats.beta.ppf(delta / 2, rank, rows + 1 - rank)


def stability(old, new):
    """Return the population stability index with half a row in each cell, and its mean without drift.

    The mean is over independent binomial counts of both samples with the cells' pooled shares.
    """
    cells = [(a, b) for a, b in zip(old, new, strict=True) if a + b]
    rows = [sum(c[i] for c in cells) for i in (0, 1)]

    def share(count, side):
        return (count + 0.5) / (rows[side] + 0.5 * len(cells))

    p, q = ([share(c[i], i) for c in cells] for i in (0, 1))
    index = sum((x - y) * math.log(x / y) for x, y in zip(p, q, strict=True))
    mean = 0.0
    for a, b in cells:
        pooled = (a + b) / sum(rows)
        means = []
        for side in (0, 1):
            counts = np.arange(rows[side] + 1)
            chance, shares = stats.binom.pmf(counts, rows[side], pooled), share(counts, side)
            means.append(
                [float((chance * f).sum()) for f in (shares, np.log(shares), shares * np.log(shares))]
            )
        (p1, l1, pl1), (p2, l2, pl2) = means
        mean += pl1 + pl2 - p1 * l2 - p2 * l1
    return index, mean


def homogeneity_p(old, new):
    """Return the p-value of Pearson's X^2 of two samples over the cells that have rows."""
    table = np.array([(a, b) for a, b in zip(old, new, strict=True) if a + b], dtype=float).T
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return float(stats.chi2.sf(((table - expected) ** 2 / expected).sum(), table.shape[1] - 1))

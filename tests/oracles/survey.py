"""Oracle of intervals over clusters: the formulas of Korn and Graubard, cluster by cluster."""

import math

from scipy import stats


def proportion_interval(clusters, confidence, rows=None, clustered=True, largest=(0, 0)):
    """Return the interval of the ratio of sums of (successes, trials) pairs."""
    clusters = [pair for pair in clusters if pair[1] > 0]
    c, total = len(clusters), sum(pair[1] for pair in clusters)
    n = rows or total
    p = sum(pair[0] for pair in clusters) / total
    variance = c / (c - 1) * sum((t - p * m) ** 2 for t, m in clusters) / total**2
    deff = variance / (p * (1 - p) / n) if 0 < p < 1 else 1
    deff = max(1, deff) if clustered else deff
    d_1 = n * sum(m * m for _, m in clusters) / total**2
    hits, misses = sum(t > 0 for t, _ in clusters), sum(t < m for t, m in clusters)
    h = min(hits, misses)
    if h < 20:
        one = max(d_1, n * (largest[0] if hits < misses else largest[1]) / total)
        deff = max(deff, h / 20 * deff + (1 - h / 20) * one)
    level = (1 + confidence) / 2
    n_star = n / deff * (stats.norm.ppf(level) / stats.t.ppf(level, n / d_1 - 1)) ** 2
    x, y = p * n_star, n_star - p * n_star
    low = stats.beta.ppf(1 - level, x, y + 1) if x else 0
    return low, stats.beta.ppf(level, x + 1, y) if p < 1 else 1


def ratio_difference(clusters, confidence, differing=None):
    """Return the interval of T2/N2 - T1/N1 over (T1, N1, T2, N2) of clusters."""
    t_1, n_1, t_2, n_2 = map(sum, zip(*clusters, strict=True))
    c = sum(m > 0 or k > 0 for _, m, _, k in clusters)
    g = sum((s, m) != (t, k) for s, m, t, k in clusters)
    g = differing or g
    residuals = [(t - t_2 / n_2 * k) / n_2 - (s - t_1 / n_1 * m) / n_1 for s, m, t, k in clusters]
    error = math.sqrt(c / (c - 1) * sum(residual**2 for residual in residuals))
    squares = [residual**2 for residual in residuals]
    freedom = min(g - 1, sum(squares) ** 2 / sum(square**2 for square in squares))
    if differing is not None:  # single rows with weights
        freedom = min(g - 1, sum(squares) / max(squares))
    half = stats.t.ppf((1 + confidence) / 2, freedom) * error
    value = t_2 / n_2 - t_1 / n_1
    return max(-1, value - half), min(1, value + half)

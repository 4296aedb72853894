"""Oracle of intervals over clusters and weighted rows: the formulas, unit by unit."""

import math

from scipy import stats


def proportion_interval(pairs, confidence, clustered=True, further=None):
    """Return the interval of the ratio of sums of (successes, trials) pairs.

    Parameters
    ----------
    further
        Weights of the rows that one more success could be like, and one more failure; None for the trials.
    """
    pairs = [pair for pair in pairs if pair[1] > 0]
    weights = [trials for _, trials in pairs]
    hits, misses = [hit for hit, _ in pairs], [trials - hit for hit, trials in pairs]
    apart = sum(hits) and sum(misses) and not any(h and m for h, m in zip(hits, misses, strict=True))
    of_one = [mean_weight(weights, 2 if apart else 1)] * 2
    if further:
        of_one = [mean_weight(rows or weights, 2) for rows in further]
    k = 1
    if clustered and sum(hits) and sum(misses):
        a, b = sum(hits), sum(misses)
        ratio = sum((t / a - f / b) ** 2 for t, f in zip(hits, misses, strict=True))
        alone = sum(t * t for t in hits) / a**2 + sum(f * f for f in misses) / b**2
        k = max(1, alone / max(ratio, 1 / a + 1 / b))
    tail = (1 - confidence) / 2
    low = lower(hits, misses, of_one[1], k, tail) if sum(hits) else 0
    return low, 1 - lower(misses, hits, of_one[0], k, tail) if sum(misses) else 1


def mean_weight(weights, power=1):
    return sum(w ** (power + 1) for w in weights) / sum(w**power for w in weights)


def lower(hits, misses, m, k, tail):
    """Return the lower limit of the share of the hits; both sums vary k times less than like rows do."""
    a, b = sum(hits), sum(misses)
    v_a, v_b = sum(t * t for t in hits) / k, sum(f * f for f in misses) / k
    x, y = a * a / v_a, 1
    if b:
        y = (b + m) ** 2 / (v_b + m * m)
    theta = stats.beta.ppf(tail, x, y)
    weight = v_a / a, (v_b + m * m) / (b + m)
    return weight[0] * theta / (weight[0] * theta + weight[1] * (1 - theta))


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

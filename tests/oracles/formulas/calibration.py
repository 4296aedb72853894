"""Tests of probabilities, of segments and of shifts, and of the coverage of prediction sets."""

import math
from fractions import Fraction

import numpy as np
from scipy import optimize, stats


def brownian_range_p(reach):
    """Return the tail of a Brownian motion's range: 8 sum (-1)^(k-1) k Phi(-k reach) (Feller 1951)."""
    return min(1.0, float(8 * sum((-1) ** (k - 1) * k * stats.norm.cdf(-k * reach) for k in range(1, 200))))


def part_p_values(score, label):
    """Return the p-values of the range of the running sum of label - score, and of intercept and slope.

    The range includes the empty cut, and equal scores are added together. The other is the score test
    (sum e)^2 / I_0 + (sum e l)^2 / I_1 with l the log-odds less their mean by s (1 - s).
    """
    running, reached = [0.0], 0.0
    for s in sorted(set(score)):
        reached += sum(y - s for x, y in zip(score, label, strict=True) if x == s)
        running.append(reached)
    weight = [s * (1 - s) for s in score]
    logit = [math.log(s / (1 - s)) for s in score]
    mean = sum(w * x for w, x in zip(weight, logit, strict=True)) / sum(weight)
    e = [y - s for s, y in zip(score, label, strict=True)]
    i_0 = sum(weight)
    i_1 = sum(w * (x - mean) ** 2 for w, x in zip(weight, logit, strict=True))
    sloped = sum(r * (x - mean) for r, x in zip(e, logit, strict=True))
    q = sum(e) ** 2 / i_0 + sloped**2 / i_1
    return brownian_range_p((max(running) - min(running)) / math.sqrt(i_0)), float(stats.chi2.sf(q, 2))


def binomial_p(k, n, q):
    """Return the total probability of outcomes at most as likely as k (relative tolerance 1 + 1e-7)."""
    law = stats.binom.pmf(np.arange(n + 1), n, q)
    return float(law[law <= law[k] * (1 + 1e-7)].sum())


def t_test_p(labels, mean):
    """Return the two-sided p-value of Student's test with the sample standard deviation."""
    n = len(labels)
    error = float(np.std(labels, ddof=1)) / math.sqrt(n)
    return float(2 * stats.t.sf(abs(float(np.mean(labels)) - mean) / error, n - 1))


def poisson_binomial_p(score, observed):
    """Return twice the smaller exact tail of the number of positives, at most 1."""
    law = np.array([1.0])
    for s in score:
        law = np.convolve(law, [1 - s, s])
    return min(1.0, 2 * float(min(law[: observed + 1].sum(), law[observed:].sum())))


def saddlepoint_p(score, observed):
    """Return twice the tail beyond the observed positives (Lugannani and Rice 1980, for lattices)."""
    s = np.array(score)
    if observed < s.sum():
        s, observed = 1 - s, len(s) - observed

    def slope(t):
        return float((s * math.exp(t) / (1 - s + s * math.exp(t))).sum()) - observed

    t = optimize.brentq(slope, -30, 30, xtol=1e-14)
    tilted = s * math.exp(t) / (1 - s + s * math.exp(t))
    cumulant = float(np.log(1 - s + s * math.exp(t)).sum())
    w = math.copysign(math.sqrt(2 * (t * observed - cumulant)), t)
    u = (1 - math.exp(-t)) * math.sqrt(float((tilted * (1 - tilted)).sum()))
    return min(1.0, 2 * float(stats.norm.sf(w) + stats.norm.pdf(w) * (1 / u - 1 / w)))


def detectable_gap(score, alpha, segments):
    """Return (z_{1 - alpha / 2m} + z_{.8}) sqrt(sum s (1 - s)) / n."""
    z = stats.norm.ppf(1 - alpha / (2 * segments)) + stats.norm.ppf(0.8)
    return float(z * math.sqrt(sum(s * (1 - s) for s in score)) / len(score))


def g_test_p(source, target):
    """Return the p-value of 2 sum O ln(O / E), divided by Williams' correction (1976)."""
    table = np.array([source, target], dtype=float)
    rows, columns, n = table.sum(1), table.sum(0), table.sum()
    expected = np.outer(rows, columns) / n
    g = 2 * float((table * np.log(table / expected)).sum())
    freedom = len(source) - 1
    q = 1 + (n * (1 / rows).sum() - 1) * (n * (1 / columns).sum() - 1) / (6 * n * freedom)
    return float(stats.chi2.sf(g / q, freedom))


def hotelling_p(statistic, dimension, freedom):
    """Return the upper tail of F(m, nu - m + 1) at X^2 (nu - m + 1) / (nu m)."""
    scaled = statistic * (freedom - dimension + 1) / (freedom * dimension)
    return float(stats.f.sf(scaled, dimension, freedom - dimension + 1))


def between_units(units):
    """Return the shares of cells of (units, cells) counts and t / (t - 1) sum g g' of their residuals."""
    counts = np.array(units, dtype=float)
    total, share = counts.sum(), counts.sum(0) / counts.sum()
    g = (counts - counts.sum(1, keepdims=True) * share) / total
    return share, len(counts) / (len(counts) - 1) * g.T @ g


def equal_sizes(units):
    """Return n^2 / sum n_d^2 of the units' rows."""
    sizes = np.array(units, dtype=float).sum(1)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def same_shares_p(old, new):
    """Compare the cell shares of two files of (units, cells) counts by the covariance between units."""
    (f, first), (t, second) = between_units(old), between_units(new)
    r, sigma = (t - f)[:-1], (first + second)[:-1, :-1]
    nu = min(equal_sizes(old), equal_sizes(new)) - 1
    return hotelling_p(float(r @ np.linalg.solve(sigma, r)), len(r), nu)


def _least(distance):
    """Return the least distance of the mixtures (1 - q, q) of two classes."""
    grid = np.linspace(0, 1, 201)
    start = grid[int(np.argmin([distance(q) for q in grid]))]
    bounds = max(0.0, start - 0.01), min(1.0, start + 0.01)
    found = optimize.minimize_scalar(distance, bounds=bounds, method="bounded", options={"xatol": 1e-12})
    return min(distance(start), float(found.fun))


def mixture_by_unit_p(classes, target):
    """Return the p-value of the nearest mixture of two classes, (units, cells) counts of the same units.

    The residuals of a mixture's unit are the sum of those of the classes, times their shares.
    """
    shares, residuals = [], []
    units = len(classes[0])
    for of_class in classes:
        counts = np.array(of_class, dtype=float)
        share = counts.sum(0) / counts.sum()
        shares.append(share)
        residuals.append((counts - counts.sum(1, keepdims=True) * share) / counts.sum())
    t, own = between_units(target)

    def distance(q):
        g = (1 - q) * residuals[0] + q * residuals[1]
        sigma = own + units / (units - 1) * g.T @ g
        r = (t - (1 - q) * shares[0] - q * shares[1])[:-1]
        return float(r @ np.linalg.solve(sigma[:-1, :-1], r))

    nu = min(equal_sizes(np.add(*map(np.array, classes))), equal_sizes(target)) - 1
    return hotelling_p(_least(distance), len(t) - 2, nu)


def mixture_distance(classes, target):
    """Return the distance of target cells from the nearest mixture of two classes of independent rows.

    The covariance is V(mix) / n_t + sum q_c^2 V(f_c) / n_c, V(p) = diag p - p p', half a row in each cell.
    """
    counts, new = np.array(classes, dtype=float), np.array(target, dtype=float)
    shares = counts / counts.sum(1, keepdims=True)
    smooth = (counts + 0.5) / (counts + 0.5).sum(1, keepdims=True)

    def v(p):
        return np.diag(p) - np.outer(p, p)

    def distance(q):
        weights = np.array([1 - q, q])
        sigma = v(weights @ smooth) / new.sum()
        for w, p, n in zip(weights, smooth, counts.sum(1), strict=True):
            sigma = sigma + w * w * v(p) / n
        r = (new / new.sum() - weights @ shares)[:-1]
        return float(r @ np.linalg.solve(sigma[:-1, :-1], r))

    return _least(distance)


def class_p(weight, low, high, confidence):
    """Return 2 Phi(-z), z the distance of a class weight from 1 in units of its range on that side."""
    z = stats.norm.ppf((1 + confidence) / 2)
    end = low if weight > 1 else high
    return float(2 * stats.norm.cdf(-z * abs(weight - 1) / abs(weight - end)))


def conformal_rank(rows, alpha):
    """Return the smallest whole k >= (1 - alpha)(n + 1)."""
    k = 0
    while k < (1 - Fraction(alpha)) * (rows + 1):
        k += 1
    return k


def coverage_p(covered, rows, calibration_rows, alpha):
    """Return P(at most so many are covered), the coverage being Beta(k, n + 1 - k): a sum of exact terms."""
    k = conformal_rank(calibration_rows, alpha)
    law = stats.betabinom(rows, k, calibration_rows + 1 - k)
    return float(sum(law.pmf(j) for j in range(covered + 1)))


def shifted_threshold(scores, labels, weights, y, alpha):
    """Return the smallest score t with sum of w over scores <= t at least (1 - alpha)(sum of w + w(y))."""
    exact = [Fraction(w) for w in weights]
    needed = (1 - Fraction(alpha)) * (sum(exact[c] for c in labels) + exact[y])
    for t in sorted(scores):
        if sum(exact[c] for s, c in zip(scores, labels, strict=True) if s <= t) >= needed:
            return t
    return None


def band(cells, confidence):
    """Return the deviation that 95 % of rows do not exceed, the one proved, and that of runs of cells.

    Cells are (score, rows, positives), ascending. All limits have alpha / runs. L(x) is the largest lower
    limit of runs whose last score is at most x, U(x) the smallest upper one of runs whose first is at least
    x. The last figure is the largest distance of limits and mean score over runs of a twentieth of the rows.
    """
    m, total = len(cells), sum(n for _, n, _ in cells)
    tail = (1 - confidence) / (m * (m + 1) / 2) / 2
    runs, apart = [], 0.0
    for i in range(m):
        for j in range(i, m):
            n, k = (sum(cell[c] for cell in cells[i : j + 1]) for c in (1, 2))
            low = stats.beta.ppf(tail, k, n - k + 1) if k else 0.0
            high = stats.beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0
            runs.append((cells[i][0], cells[j][0], low, high))
            mean = sum(s * c for s, c, _ in cells[i : j + 1]) / n
            if 20 * n >= total:
                apart = max(apart, high - mean, mean - low)
    proved, farthest = 0.0, []
    for x, n, _ in cells:
        lower = max([low for _, last, low, _ in runs if last <= x], default=0.0)
        upper = min([high for first, _, _, high in runs if first >= x], default=1.0)
        proved = max(proved, lower - x, x - upper)
        farthest.append((max(upper - x, x - lower), n))
    within = min(e for e, _ in farthest if sum(n for d, n in farthest if d <= e) >= 0.95 * total)
    return within, proved, apart


def coverage_chances(calibration_rows, alpha, number):
    """Return as many equally likely coverages of Beta(k, n + 1 - k): the middles of its quantiles."""
    k = conformal_rank(calibration_rows, alpha)
    return stats.beta.ppf((np.arange(number) + 0.5) / number, k, calibration_rows + 1 - k).tolist()


def fisher_p(rare, rows, other, others):
    """Return the total probability of tables no likelier than this one, given both margins (Fisher)."""
    law = stats.hypergeom(rows + others, rare + other, rows)
    observed = law.pmf(rare)
    return float(sum(p for p in (law.pmf(k) for k in range(rare + other + 1)) if p <= observed * (1 + 1e-7)))


def change_p(rows, labelled):
    """Return the p-value that the labelled share of rows by score changes: twice the smaller of two.

    A trend by the score test over mid-ranks, and a jump by the largest fall of the binomial deviance over all
    places, times their number.
    """
    n, k = sum(rows), sum(labelled)
    share, ranks, before = k / n, [], 0
    for size in rows:
        ranks.append(before + (size + 1) / 2 - (n + 1) / 2)
        before += size
    trend = sum(r * c for r, c in zip(ranks, labelled, strict=True))
    spread = sum(size * r * r for size, r in zip(rows, ranks, strict=True))
    p_trend = 2 * stats.norm.sf(abs(trend) / math.sqrt(share * (1 - share) * spread * n / (n - 1)))

    def deviance(c, m):
        return -2 * float(stats.binom.logpmf(c, m, c / m) - stats.binom.logpmf(c, m, share))

    falls = []
    for place in range(1, len(rows)):
        sides = [(sum(labelled[part]), sum(rows[part])) for part in (slice(place), slice(place, None))]
        falls.append(-sum(deviance(*side) for side in sides))
    p_jump = min(1.0, len(falls) * stats.chi2.sf(max(falls), 1)) if max(falls) > 1e-12 else 1.0
    return float(min(1.0, 2 * min(p_trend, p_jump)))

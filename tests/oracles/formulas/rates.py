"""Intervals, tests and differences of proportions, and ranges of values."""

import math
from fractions import Fraction

import numpy as np
from scipy import optimize, stats


def binomial_tail_at_most(k, n, p):
    """Return P(X <= k) of n trials with an exact sum."""
    p = Fraction(p)
    return float(sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1)))


def clopper_pearson(k, n, confidence):
    """Invert both exact tails (Clopper and Pearson 1934); numbers may be fractions, by the beta law."""
    tail = (1 - confidence) / 2
    low = stats.beta.ppf(tail, k, n - k + 1) if k > 0 else 0.0
    high = stats.beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0
    return low, high


class Unequal:
    """Interval of a proportion of units with weighted successes T and failures F.

    A sum with mean E and variance V counts as E^2 / V equal units of weight V / E. The successes have
    E = A = sum T and V = sum T^2 / k; the failures, one more of weight m among them, E = B + m and
    V = sum F^2 / k + m^2 (without a failure, the one that may come counts as a single unit). The lower limit
    is a t / (a t + b (1 - t)), where t is a quantile of Beta(x, y), x and y are these numbers of units, and a
    and b their weights. The upper limit exchanges successes and failures.
    """

    def __init__(self, successes, failures, further_success, further_failure, alike=1.0):
        self.successes = [float(s) for s in successes if s]
        self.failures = [float(f) for f in failures if f]
        self.further = further_success, further_failure
        self.alike = alike

    @staticmethod
    def _law(these, others, further, alike):
        total, variance = sum(these), sum(s * s for s in these) / alike
        rest, rest_variance = sum(others) + further, sum(s * s for s in others) / alike + further**2
        units = rest**2 / rest_variance if others else 1.0
        return total**2 / variance, units, variance / total, rest_variance / rest

    @classmethod
    def _limit(cls, these, others, further, alike, tail):
        if not these:
            return 0.0
        x, y, a, b = cls._law(these, others, further, alike)
        t = stats.beta.ppf(tail, x, y)
        return a * t / (a * t + b * (1 - t))

    def interval(self, confidence):
        tail = (1 - confidence) / 2
        further_success, further_failure = self.further
        low = self._limit(self.successes, self.failures, further_failure, self.alike, tail)
        high = 1 - self._limit(self.failures, self.successes, further_success, self.alike, tail)
        return low, high

    def tail_at(self, rate):
        """Return the tail probability whose lower limit is the rate."""
        x, y, a, b = self._law(self.successes, self.failures, self.further[1], self.alike)
        return stats.beta.cdf(b * rate / (a * (1 - rate) + b * rate), x, y)


def mean_weight(weights, power):
    """Return the mean weight, each by a power of its own."""
    return sum(w ** (power + 1) for w in weights) / sum(w**power for w in weights)


def clusters(successes, failures, *, row_squares=None, further=None):
    """Return the proportion of clusters with these sums.

    Of dependence is what the ratio of the sums varies by, no less than for single rows: k = max(1, (V_A / A^2
    + V_B / B^2) / D), D = max(sum (T/A - F/B)^2, v_A / A^2 + v_B / B^2) with v the sums of squared weights of
    single rows (their numbers, where rows count alike). A further outcome weighs as clusters do, on average
    by size.
    """
    a, b = sum(successes), sum(failures)
    v_a, v_b = row_squares or (a, b)
    independent = sum(t * t for t in successes) / a**2 + sum(f * f for f in failures) / b**2
    ratio = sum((t / a - f / b) ** 2 for t, f in zip(successes, failures, strict=True))
    alike = max(1.0, independent / max(ratio, v_a / a**2 + v_b / b**2))
    sizes = [t + f for t, f in zip(successes, failures, strict=True) if t + f]
    return Unequal(successes, failures, *(further or [mean_weight(sizes, 1)] * 2), alike)


def linearised_difference(residuals, freedom, confidence, value):
    """Return the interval and the p-value of a difference of ratios from the residuals of its units.

    They are Student's t with these degrees of freedom; the variance of the sum of n residuals is n / (n - 1)
    times the sum of their squares.
    """
    squares = sum(r * r for r in residuals)
    error = math.sqrt(squares * len(residuals) / (len(residuals) - 1))
    margin = stats.t.ppf((1 + confidence) / 2, freedom) * error
    return value - margin, value + margin, 2 * stats.t.sf(abs(value) / error, freedom)


def equal_units(squares):
    """Return how many units of equal size make up a sum as these do (Satterthwaite 1946)."""
    return sum(squares) ** 2 / sum(s * s for s in squares)


def negated_correlation(count, other, trials):
    """Return that of two disjoint shares: sqrt(p q / ((1 - p) (1 - q))), with one row added to each count."""
    return math.sqrt((count + 1) * (other + 1) / ((trials - count + 1) * (trials - other + 1)))


def difference_of_shares(gained, lost, trials, confidence):
    """Join exact limits of both shares (Newcombe 1998, method 10)."""
    p, q = gained / trials, lost / trials
    (p_low, p_high), (q_low, q_high) = (clopper_pearson(k, trials, confidence) for k in (gained, lost))
    phi = negated_correlation(gained, lost, trials)
    down = math.sqrt((p - p_low) ** 2 + (q_high - q) ** 2 + 2 * phi * (p - p_low) * (q_high - q))
    up = math.sqrt((p_high - p) ** 2 + (q - q_low) ** 2 + 2 * phi * (p_high - p) * (q - q_low))
    return p - q - down, p - q + up


def mcnemar(gained, lost):
    """Return twice the smaller tail of Binomial(gained + lost, 1/2), at most 1 (McNemar 1947)."""
    n = gained + lost
    return min(1.0, 2 * binomial_tail_at_most(min(gained, lost), n, Fraction(1, 2)))


def difference_of_precisions(lost, kept, gained, confidence):
    """Join the contributions of lost and gained rows to a difference of two precisions.

    With r the rate of the rows in both selections, it is the mean of (label - r) of the gained rows over the
    second selection, less that of the lost rows over the first. Both are weighted differences of shares
    (of positives by 1 - r, of negatives by r), correlated by the rows in both; r has an error of its own.
    """
    rate = kept[0] / sum(kept)
    r_low, r_high = clopper_pearson(kept[0], sum(kept), confidence)

    def contribution(rows, trials):
        shares = [count / trials for count in rows]
        limits = [clopper_pearson(count, trials, confidence) for count in rows]
        weights = 1 - rate, rate
        down = [weights[0] * (shares[0] - limits[0][0]), weights[1] * (limits[1][1] - shares[1])]
        up = [weights[0] * (limits[0][1] - shares[0]), weights[1] * (shares[1] - limits[1][0])]
        phi = negated_correlation(*rows, trials)
        value = weights[0] * shares[0] - weights[1] * shares[1]
        variance = (weights[0] ** 2 * shares[0] + weights[1] ** 2 * shares[1] - value**2) / trials
        return value, *(math.sqrt(d * d + e * e + 2 * phi * d * e) for d, e in (down, up)), variance

    first, second = sum(lost) + sum(kept), sum(kept) + sum(gained)
    a, a_down, a_up, a_variance = contribution(gained, second)
    b, b_down, b_up, b_variance = contribution(lost, first)
    correlation = a * b * sum(kept) / (first * second) / math.sqrt(a_variance * b_variance)
    slope = sum(lost) / first - sum(gained) / second
    r_down, r_up = rate - r_low, r_high - rate
    if slope < 0:
        r_down, r_up = r_up, r_down
    down = a_down**2 + b_up**2 - 2 * correlation * a_down * b_up + (slope * r_down) ** 2
    up = a_up**2 + b_down**2 - 2 * correlation * a_up * b_down + (slope * r_up) ** 2
    return a - b - math.sqrt(down), a - b + math.sqrt(up)


def net_benefit(counts, weights, trials, confidence):
    """Join the limits of the shares of disjoint sets of rows that are added with weights of both signs.

    Up to a confidence of 0.95 margins are squared and added, with the correlation of two parts whose weights
    differ in sign; above, the level is divided by the parts and their margins are added.
    """
    parts = len(counts)
    is_squared = confidence <= 0.95
    level = confidence if is_squared else 1 - (1 - confidence) / parts
    down, up = [], []
    for count, weight in zip(counts, weights, strict=True):
        low, high = clopper_pearson(count, trials, level)
        margins = count / trials - low, high - count / trials
        down.append(abs(weight) * margins[weight < 0])
        up.append(abs(weight) * margins[weight > 0])
    value = sum(w * c for w, c in zip(weights, counts, strict=True)) / trials

    def joined(margins):
        if not is_squared:
            return sum(margins)
        squares = sum(m * m for m in margins)
        for i in range(parts):
            for j in range(i):
                if weights[i] * weights[j] < 0:
                    phi = negated_correlation(counts[i], counts[j], trials)
                    squares += 2 * phi * margins[i] * margins[j]
        return math.sqrt(squares)

    return value - joined(down), value + joined(up)


def wilson(share, trials, z):
    """Return the roots p of (share - p)^2 = z^2 p (1 - p) / trials (Wilson 1927)."""
    low, high = sorted(
        np.roots([1 + z * z / trials, -(2 * share + z * z / trials), share * share]).real.tolist()
    )
    return low, high


def holm(p_values):
    """Return adjusted p-values: the largest of (m - i) p over the i smaller ones, at most 1 (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(order)
    for place, i in enumerate(order):
        steps = [(len(order) - j) * p_values[order[j]] for j in range(place + 1)]
        adjusted[i] = min(1.0, max(steps))
    return adjusted


def flagged_interval(fit_selected, fit_rows, new_rows, level):
    """Return the fewest and most new flagged rows m that neither tail rejects (Thatcher 1964).

    Given m + fit_selected flagged among all rows, those among the new ones are hypergeometric.
    """
    tail = (1 - level) / 2
    total = fit_rows + new_rows
    kept = []
    for m in range(new_rows + 1):
        law = stats.hypergeom(total, m + fit_selected, new_rows)
        if law.cdf(m) > tail and law.sf(m - 1) > tail:
            kept.append(m)
    return min(kept), max(kept)


def value_range(gains, losses, largest_gain, largest_loss, confidence):
    """Return the range of a net value by gamma limits of both sums (Fay and Feuer 1997), joined.

    With y the sum and v the sum of squares, low = v/(2y) chi2_{a/2}(2 y^2 / v); high = the same quantile at
    1 - a/2 with one more amount w = L (1 + 6 / sqrt(max(r, 1))), for r amounts.
    """
    tail = (1 - confidence) / 2

    def limits(amounts, largest):
        y, v = float(sum(amounts)), float(sum(a * a for a in amounts))
        low = v / (2 * y) * stats.chi2.ppf(tail, 2 * y * y / v) if amounts else 0.0
        w = largest * (1 + 6 / math.sqrt(max(len(amounts), 1)))
        y, v = y + w, v + w * w
        return low, (v / (2 * y) * stats.chi2.ppf(1 - tail, 2 * y * y / v) if y else 0.0)

    g, c = sum(gains), sum(losses)
    (g_low, g_high), (c_low, c_high) = limits(gains, largest_gain), limits(losses, largest_loss)
    down, up = math.hypot(g - g_low, c_high - c), math.hypot(g_high - g, c - c_low)
    return g - c - down, g - c + up


def model_assisted_share(rows, labelled, confidence):
    """Return a share of the positives that is estimated with probabilities of all rows, with its interval.

    ``rows`` are (chosen, p) of all rows, ``labelled`` (chosen, p, label, pi). Totals are sums of z p over all
    rows, plus z (y - p) / pi over the labelled ones; the variance by linearisation, for new rows like these,
    on the logit scale with (sum u^2)^2 / sum u^4 - 1 degrees of freedom.
    """
    above = sum(z * p for z, p in rows) + sum(z * (y - p) / pi for z, p, y, pi in labelled)
    total = sum(p for _, p in rows) + sum((y - p) / pi for _, p, y, pi in labelled)
    rate = above / total
    u = [(z - rate) * (y - p) / pi for z, p, y, pi in labelled]
    further = sum((z - rate) ** 2 * p for z, p in rows)
    further += sum((z - rate) ** 2 * (y - p) / pi for z, p, y, pi in labelled)
    n = len(labelled)
    sampled = sum((1 - row[3]) * v * v for row, v in zip(labelled, u, strict=True)) * n / (n - 1)
    return _on_logits(rate, (sampled + max(0.0, further)) / total**2, u, confidence)


def model_assisted_prevalence(rows, labelled, confidence):
    """Return the share of positive rows, as ``model_assisted_share`` does of chosen ones among them."""
    number, n = len(rows), len(labelled)
    u = [(y - p) / pi for _, p, y, pi in labelled]
    rate = (sum(p for _, p in rows) + sum(u)) / number
    sampled = sum((1 - row[3]) * v * v for row, v in zip(labelled, u, strict=True)) * n / (n - 1)
    return _on_logits(rate, sampled / number**2 + rate * (1 - rate) / number, u, confidence)


def model_assisted_share_of_clusters(rows, labelled, confidence):
    """Return the same where rows, each with its cluster last, depend on each other within clusters.

    A cluster's contribution is the sum of (z - R) p over all its rows, and of (z - R) (y - p) / pi over the
    labelled ones; the variance over C clusters is C / (C - 1) sum s^2 / B^2.
    """
    above = sum(z * p for z, p, _ in rows) + sum(z * (y - p) / pi for z, p, y, pi, _ in labelled)
    total = sum(p for _, p, _ in rows) + sum((y - p) / pi for _, p, y, pi, _ in labelled)
    rate = above / total
    sums = {cluster: 0.0 for *_, cluster in rows}
    for z, p, cluster in rows:
        sums[cluster] += (z - rate) * p
    for z, p, y, pi, cluster in labelled:
        sums[cluster] += (z - rate) * (y - p) / pi
    squares = sum(s * s for s in sums.values())
    return _on_logits(rate, len(sums) / (len(sums) - 1) * squares / total**2, sums.values(), confidence)


def _on_logits(rate, variance, contributions, confidence):
    freedom = sum(u * u for u in contributions) ** 2 / sum(u**4 for u in contributions) - 1
    margin = stats.t.ppf((1 + confidence) / 2, freedom) * math.sqrt(variance) / (rate * (1 - rate))
    centre = math.log(rate / (1 - rate))
    return rate, *(1 / (1 + math.exp(-(centre + sign * margin))) for sign in (-1, 1))


def delong(before, after, positive):
    """Return the two-sided p-value of equal areas from placements (DeLong et al. 1988), ties counted half.

    Student's t with the degrees of freedom of Satterthwaite (1946) for the two classes' parts.
    """
    pairs = [(s, t) for s, t, y in zip(before, after, positive, strict=True) if y]
    others = [(s, t) for s, t, y in zip(before, after, positive, strict=True) if not y]

    def psi(x, y):
        return (x > y) + 0.5 * (x == y)

    def placements(of, against, sign):
        return [
            [sum(psi(sign * row[side], sign * other[side]) for other in against) / len(against) for row in of]
            for side in (0, 1)
        ]

    above, below = placements(pairs, others, 1), placements(others, pairs, -1)
    change = [b - a for a, b in zip(*above, strict=True)], [b - a for a, b in zip(*below, strict=True)]
    parts = [np.var(c, ddof=1) / len(c) for c in change]
    variance = sum(parts)
    freedom = variance**2 / sum(p * p / (len(c) - 1) for p, c in zip(parts, change, strict=True))
    return 2 * stats.t.sf(abs(np.mean(change[0])) / math.sqrt(variance), freedom)


def net_benefit_of_clusters(counts, weights, rows, confidence):
    """Join the limits of the shares over clusters; ``counts`` are lists by cluster, ``rows`` their rows.

    The correlation of two shares' residuals over clusters counts where it makes the sum vary more.
    """
    total, shares, margins, residuals = sum(rows), [], [], []
    for part in counts:
        share = sum(part) / total
        others = [n - k for k, n in zip(part, rows, strict=True)]
        low, high = clusters(part, others).interval(confidence)
        shares.append(share)
        margins.append((share - low, high - share))
        residuals.append(np.array([k - share * n for k, n in zip(part, rows, strict=True)]))
    value = sum(w * s for w, s in zip(weights, shares, strict=True))
    ends = []
    for side, sign in ((0, -1), (1, 1)):
        m = [abs(w) * both[side if w > 0 else 1 - side] for w, both in zip(weights, margins, strict=True)]
        squares = sum(x * x for x in m)
        for i in range(len(m)):
            for j in range(i):
                e, f = residuals[i], residuals[j]
                shown = float(e @ f) / math.sqrt(float(e @ e) * float(f @ f))
                together = max(0.0, shown)
                if weights[i] * weights[j] < 0:
                    phi = negated_correlation(sum(counts[i]), sum(counts[j]), total)
                    together = max(phi, -shown)
                squares += 2 * together * m[i] * m[j]
        ends.append(value + sign * math.sqrt(squares))
    return tuple(ends)


def share_of_total(part, others, confidence):
    """Return the margin of a share of a total, with one more amount as large as the largest: z sd / total."""
    total = sum(part) + sum(others)
    share = sum(part) / total
    squares = sum(((1 - share) * x) ** 2 for x in part) + sum((share * x) ** 2 for x in others)
    largest = max([*part, *others]) * max(share, 1 - share)
    return float(stats.norm.ppf((1 + confidence) / 2)) * math.sqrt(squares + largest**2) / total


def mean_over_clusters(loss, cluster):
    """Return the mean loss, its linearised standard error and its degrees of freedom (Satterthwaite 1946)."""
    mean, names = sum(loss) / len(loss), sorted(set(cluster))
    residuals = [
        sum(x - mean for x, c in zip(loss, cluster, strict=True) if c == name) / len(loss) for name in names
    ]
    squares = [r * r for r in residuals]
    error = math.sqrt(len(names) / (len(names) - 1) * sum(squares))
    return mean, error, equal_units(squares) - 1


def detectable_rate(trials, bound, level):
    """Return the rate below a bound that the exact test detects with probability 0.8."""
    most = max(k for k in range(trials) if stats.binom.cdf(k, trials, bound) <= level)
    return float(optimize.brentq(lambda r: stats.binom.cdf(most, trials, r) - 0.8, 1e-9, bound, xtol=1e-15))

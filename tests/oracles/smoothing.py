"""Oracle of smoothed rates of cells, step by step with plain numbers; cells are in descending order of score.

Sums skip cells without rows.
"""

import math

TINY = 1e-9


def isotonic(values, weights):
    """Clip the values, and fit a non-increasing sequence by least squares, pooling violators."""
    blocks = [
        [min(max(value, TINY), 1 - TINY), max(weight, TINY), 1]
        for value, weight in zip(values, weights, strict=True)
    ]
    index = 0
    while index + 1 < len(blocks):
        (a, n, k), (b, m, j) = blocks[index], blocks[index + 1]
        if a < b:
            blocks[index : index + 2] = [[(a * n + b * m) / (n + m), n + m, k + j]]
            index = max(index - 1, 0)
        else:
            index += 1
    return [value for value, _, k in blocks for _ in range(k)]


def gauss(distance, width):
    return math.exp(-0.5 * (distance / width) ** 2)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def smoothed(rows):
    """Smooth the rates of rows of (lower edge, n, p), each row from its top cell down."""
    cells = [(edge, n) for row in rows for edge, n, _ in row if n]
    total = sum(n for _, n in cells)
    rank = [
        [
            (
                sum(n for other_edge, n in cells if other_edge < edge)
                + sum(n for other_edge, n in cells if other_edge == edge) / 2
            )
            / total
            for edge, _, _ in row
        ]
        for row in rows
    ]
    x = pooled_log_odds(rows, rank, total)
    if len(rows) == 1:
        eta = [[sigmoid(log_odds) for log_odds in x[0]]]
    else:
        mean = sum(
            n * log_odds
            for row, row_log_odds in zip(rows, x, strict=True)
            for (_, n, _), log_odds in zip(row, row_log_odds, strict=True)
        )
        mean /= total
        eta = []
        for row, row_log_odds in zip(rows, x, strict=True):
            a, b = intercept_and_slope(row, row_log_odds, mean)
            rates = [sigmoid(log_odds + a + b * (log_odds - mean)) for log_odds in row_log_odds]
            eta.append(isotonic(rates, [n for _, n, _ in row]))
    return [
        locally_corrected(row, row_rates, total / len(rows)) for row, row_rates in zip(rows, eta, strict=True)
    ]


def pooled_log_odds(rows, rank, total):
    size, hits = [0] * 200, [0] * 200
    for row, row_ranks in zip(rows, rank, strict=True):
        for (_, n, p), r in zip(row, row_ranks, strict=True):
            g = min(int(200 * r + 1e-12), 199)
            size[g] += n
            hits[g] += p
    centre = [(g + 0.5) / 200 for g in range(200)]
    width = max(0.2 * total**-0.2, 1 / 200)
    rate = []
    filled = [(d, n, p) for d, n, p in zip(centre, size, hits, strict=True) if n]
    for c in centre:
        w = [(d - c, gauss(d - c, width) * n) for d, n, _ in filled]
        t = [(d - c, gauss(d - c, width) * p) for d, _, p in filled]
        s0, s1, s2 = (sum(mass * distance**k for distance, mass in w) for k in range(3))
        t0, t1 = (sum(mass * distance**k for distance, mass in t) for k in range(2))
        det = s0 * s2 - s1**2
        value = (s2 * t0 - s1 * t1) / det if det > 1e-9 * s0**2 * width**2 else t0 / s0 if s0 else 0.0
        rate.append(min(max(value, 0.3 / total), 1 - 0.3 / total))
    fitted = isotonic(rate[::-1], size[::-1])[::-1]
    logit = [math.log(fitted_rate / (1 - fitted_rate)) for fitted_rate in fitted]
    return [[interpolated(r, centre, logit) for r in row_ranks] for row_ranks in rank]


def interpolated(r, xs, ys):
    if r <= xs[0]:
        return ys[0]
    for x0, x1, y0, y1 in zip(xs[:-1], xs[1:], ys[:-1], ys[1:], strict=True):
        if r <= x1:
            return y0 + (y1 - y0) * (r - x0) / (x1 - x0)
    return ys[-1]


def intercept_and_slope(row, log_odds_of_row, mean):
    a = b = 0.0
    for _ in range(8):
        ga, gb, haa, hab, hbb = -a / 0.25, -b / 0.25, 4.0, 0.0, 4.0
        for (_, n, p), x in zip(row, log_odds_of_row, strict=True):
            if not n:
                continue
            z = x - mean
            rate = sigmoid(x + a + b * z)
            ga += p - n * rate
            gb += (p - n * rate) * z
            spread = n * rate * (1 - rate)
            haa, hab, hbb = haa + spread, hab + spread * z, hbb + spread * z * z
        det = haa * hbb - hab * hab
        a, b = a + (hbb * ga - hab * gb) / det, b + (haa * gb - hab * ga) / det
    return a, b


def locally_corrected(row, eta, rows_per_bin):
    size = len(row)
    width = max(0.2 * max(rows_per_bin, 1) ** -0.2, 1 / size)
    filled = [i for i in range(size) if row[i][1]]
    result = []
    for j in range(size):
        w = {i: gauss((i - j) / size, width) for i in filled}
        excess = sum(w[i] * (row[i][2] - row[i][1] * eta[i]) for i in filled)
        rows = sum(w[i] * row[i][1] for i in filled)
        result.append(eta[j] + excess / (rows + 100))
    return isotonic(result, [n for _, n, _ in row])

"""Oracle of calibration errors: row by row, with scipy's tests."""

import math

import numpy as np
from scipy import stats


def is_rejected(score, labels, alpha, test):
    if test == "binomial":
        return stats.binomtest(sum(labels), len(labels), score).pvalue <= alpha
    if len(labels) == 1:
        return False
    if len(set(labels)) == 1:
        return score != labels[0]
    return stats.ttest_1samp(labels, score).pvalue <= alpha


def measure(data, edges, alpha, test):
    """Measure the TCE, expected and maximum error and label variances of (score, label) rows."""
    bins = {}
    for score, label in data:
        bins.setdefault(sum(edge <= score for edge in edges), []).append((score, label))
    total = len(data)
    rejected, gaps, variances = 0, [], []
    for rows in bins.values():
        labels = [label for _, label in rows]
        rate = sum(labels) / len(labels)
        rejected += sum(is_rejected(score, labels, alpha, test) for score, _ in rows)
        gaps.append((len(rows), abs(rate - sum(score for score, _ in rows) / len(rows))))
        variances.append((len(rows), np.mean([(label - rate) ** 2 for label in labels])))
    return {
        "tce": 100 * rejected / total,
        "expected": sum(n * gap for n, gap in gaps) / total,
        "maximum": max(gap for _, gap in gaps),
        "estimation": sum(n * v for n, v in variances) / total,
        "within": np.mean([v for _, v in variances]),
    }


def brier(data):
    return np.mean([(score - label) ** 2 for score, label in data])


def log_loss(data):
    clipped = [(min(max(score, 1e-15), 1 - 1e-15), label) for score, label in data]
    return -np.mean([math.log(score if label else 1 - score) for score, label in clipped])


def isotonic(data):
    """Return the labels of each block of the isotonic fit; ties are pooled first."""
    by_score = {}
    for score, label in data:
        by_score.setdefault(score, []).append(label)
    blocks = [[score, list(labels)] for score, labels in sorted(by_score.items())]
    changed = True
    while changed:
        changed = False
        for index in range(len(blocks) - 1):
            lower, upper = blocks[index][1], blocks[index + 1][1]
            if sum(lower) * len(upper) >= sum(upper) * len(lower):
                blocks[index : index + 2] = [[blocks[index][0], lower + upper]]
                changed = True
                break
    return [labels for _, labels in blocks]


def brier_parts(data):
    """Return the miscalibration, discrimination and uncertainty of the Brier score."""
    labels = [label for _, label in data]
    rate = sum(labels) / len(labels)
    fitted = sum((y - sum(block) / len(block)) ** 2 for block in isotonic(data) for y in block) / len(data)
    uncertainty = sum((y - rate) ** 2 for y in labels) / len(labels)
    return brier(data) - fitted, uncertainty - fitted, uncertainty


def cumulative_error(data):
    """Return the range of the cumulative sums of label - score, divided by the number of rows."""
    cuts = sorted({score for score, _ in data})
    sums = [0.0] + [sum(y - s for s, y in data if s <= cut) / len(data) for cut in cuts]
    return max(sums) - min(sums)


def calibration_line(data):
    """Return the intercept and slope of the logistic line by scipy's general optimiser."""
    from scipy.optimize import minimize

    clipped = np.clip([s for s, _ in data], 1e-12, 1 - 1e-12)
    x, y = np.log(clipped) - np.log1p(-clipped), np.array([label for _, label in data])

    def loss(beta):
        eta = beta[0] + beta[1] * x
        return float(np.sum(np.logaddexp(0, eta) - y * eta))

    return minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x

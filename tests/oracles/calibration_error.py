"""Calibration errors sample by sample, with scipy's tests."""

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
    """tce, expected error, maximum error and label variances; data are (score, label)."""
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
